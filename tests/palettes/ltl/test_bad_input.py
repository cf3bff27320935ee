"""Mistakes are named where they are made."""

import pytest

from millstream.palettes.ltl import Monitor, Verdicts, parse
from millstream.palettes.ltl.formula import Not
from millstream.processors import E, ParameterError, StreamError

both = pytest.mark.parametrize("cls", [Verdicts, Monitor])


@both
def test_unknown_atom(cls):
    with pytest.raises(ParameterError, match=f"{cls.__name__}: unknown atom 'b'; the atoms given are: a"):
        cls("a U b", atoms={"a": E.a})


@both
def test_atom_that_is_no_function(cls):
    with pytest.raises(ParameterError, match="atom 'a' must be a function or an expression, got 3"):
        cls("a", atoms={"a": 3})


@both
def test_formula_that_is_no_text(cls):
    with pytest.raises(ParameterError, match="expected text or a formula, got 3"):
        cls(3)


@both
@pytest.mark.parametrize(
    "text", ["F (status == 1)", "G status", "O[0,9] status", "G forall i in status: F (x == i)"]
)
def test_event_lacking_a_field(cls, text):
    fine = {"status": (), "x": 0}
    with pytest.raises(StreamError, match=r"at input event 1 .*KeyError: 'status'") as caught:
        list(cls(text)([fine, {"other": 1}]))
    assert str(caught.value).startswith(cls.__name__)
    with pytest.raises(StreamError, match=r"at input event 1 .*'object' object has no attribute 'status'"):
        list(cls(text)([fine, object()]))


@both
def test_value_lacking_a_field(cls):
    with pytest.raises(StreamError, match="'tuple' object has no attribute 'status'"):
        list(cls("forall c in characters: c.status == 'WALKER'")([{"characters": [(1,)]}]))


def test_unknown_semantics_and_end():
    with pytest.raises(ParameterError, match="semantics must be one of ltl3, rv-ltl, ltlf, got 'x'"):
        Monitor("a", semantics="x")
    with pytest.raises(ParameterError, match="at_end must be one of"):
        Verdicts("a", at_end="x")


@both
def test_events_out_of_order(cls):
    trace = [{"a": False, "t": 5}, {"a": False, "t": 4}]
    with pytest.raises(StreamError, match="in order of time: 4 after 5"):
        list(cls("F[0,9] a", time=E.t)(trace))


def test_no_automaton_of_an_infinite_formula():
    with pytest.raises(ParameterError, match="has no small automaton"):
        Monitor("forall x in items: F (y == x)").automaton()


@both
def test_deep_nesting(cls):
    n = 10_000
    trace = [{"a": True}]
    assert list(cls("(" * n + "a" + ")" * n, **({"at_end": "finite"} if cls is Verdicts else {}))(trace))
    deep = parse("a")
    for _ in range(n):
        deep = Not(deep)
    assert list(cls(deep)(trace)) == list(cls("a")(trace))


def test_deep_temporal_nesting():
    text = "X " * 3000 + "a"
    assert [v.name for v in Monitor(text)([{"a": True}] * 3)] == ["UNKNOWN"] * 3
    assert list(Verdicts("F " * 10_000 + "a")([{"a": False}, {"a": True}])) == [True, True]
    with pytest.raises(ParameterError, match="nest at most"):
        Verdicts("F[0,100] " * 5000 + "a")
    with pytest.raises(ParameterError, match="nest at most"):
        Monitor("F[0,100] " * 5000 + "a")
