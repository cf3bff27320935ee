"""Mistakes are told where they are made."""

import pytest

from millstream.palettes.fol import Facts, Verdicts
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.terms import Var
from millstream.processors.errors import ParameterError, StreamError

P = fm.Predicate("p", Var("x"))


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("p(x) -> F q(x)", r"F q\(x\) looks into the future"),
        ("p(x) & p(x, y)", "p is used with 1 and with 2 arguments"),
        (fm.Exists("x", None, fm.And(P, fm.ForAll("x", None, P))), "variable 'x' is bound again inside"),
        (fm.And(P, fm.Exists("x", None, P)), "variable 'x' is both free and bound"),
        (
            "forall x: forall y: O (x < y)",
            r"cannot monitor \$x < \$y where no event gives its variables their values",
        ),
    ],
)
def test_formula_is_refused(formula, problem):
    with pytest.raises(ParameterError, match=problem):
        Verdicts(formula)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"predicates": {"q": ["a"]}, "kind": "k"}, "unknown predicate 'p'; the predicates given are: q"),
        ({"predicates": {"p": ["a", "b"]}, "kind": "k"}, "p has 2 arguments, the formula uses it with 1"),
        ({"predicates": {"p": "a"}, "kind": "k"}, "the arguments of p must be a list of fields, got 'a'"),
        ({"predicates": ["p"], "kind": "k"}, "predicates must map names"),
        ({"predicates": {"p": ["a"]}}, "kind must say which predicate an event is"),
        ({"kind": "k"}, "give predicates="),
        ({"over": "some"}, "over must be 'seen' or 'all', got 'some'"),
    ],
)
def test_parameters_are_refused(options, problem):
    with pytest.raises(ParameterError, match=problem):
        Verdicts("p(x) -> O p(x)", **options)


@pytest.mark.parametrize("formula", ["p(x) -> O p(x)", "H p(x)"])
@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (("p", 1, 2), "p has 2 arguments here, the formula uses it with 1"),
        (("p",), "p has 0 arguments here"),
        (("p", []), "unhashable"),
    ],
)
def test_event_is_refused(formula, event, problem):
    with pytest.raises(StreamError, match=problem):
        list(Verdicts(formula)([event]))


@pytest.mark.parametrize("event", [7, (), None])
def test_event_must_be_a_sequence(event):
    with pytest.raises(
        StreamError, match=r"must be a sequence \(name, arg, ...\)|subscriptable|out of range"
    ):
        list(Verdicts("p(x) -> O p(x)")([event]))


def test_event_without_field():
    query = Verdicts("p(x) -> O p(x)", kind="k", predicates={"p": ["a"]})
    with pytest.raises(StreamError, match="there is no field 'a' in"):
        list(query([{"k": "p"}]))


def test_domain_must_be_a_collection():
    query = Verdicts("forall i in ids: p(i)", kind="k", args=lambda e: (1,))
    with pytest.raises(StreamError, match="the domain of i is not a collection: 5"):
        list(query([{"k": "p", "ids": 5}]))


def test_time_must_not_run_backwards():
    query = Verdicts("p(x) -> O[0,3] p(x)", kind="k", predicates={"p": ["x"]}, time="t")
    with pytest.raises(StreamError, match="in order of time: 4 after 5"):
        list(query([{"k": "p", "x": 1, "t": 5}, {"k": "p", "x": 1, "t": 4}]))


def test_deep_formulas_are_no_problem():
    formula = fm.Predicate("p", Var("x"))
    for _ in range(3000):
        formula = fm.O(fm.Y(formula))
    assert list(Verdicts(fm.Implies(P, fm.Not(formula)))([("p", 1), ("p", 1)])) == [True, True]
    assert list(Verdicts("(" * 10_000 + "p(x) -> Y p(x)" + ")" * 10_000)([("p", 1), ("p", 1)])) == [
        False,
        True,
    ]


def test_facts_refuse_temporal_operators():
    with pytest.raises(ParameterError, match=r"O p\(x\) is temporal; facts are not, use Verdicts"):
        Facts("O p(x)")


def test_facts_can_be_retracted():
    log = [("has", "a"), ("drop", "a"), ("has", "a")]
    assert list(Facts("!has(x)", retract={"has": "drop"})(log)) == [False, True, False]
