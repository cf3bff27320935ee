"""Quantifiers over a domain computed from the event, against direct definitions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor, Verdict, Verdicts
from millstream.processors import ParameterError, StreamError

events = st.fixed_dictionaries({"items": st.lists(st.integers(0, 3), max_size=3), "x": st.integers(0, 3)})

DIRECT = {
    "forall i in items: F (x == i)": lambda w, k: all(any(e["x"] == i for e in w[k:]) for i in w[k]["items"]),
    "exists i in items: G (x != i)": lambda w, k: any(all(e["x"] != i for e in w[k:]) for i in w[k]["items"]),
    "G (exists i in items: x == i)": lambda w, k: all(e["x"] in e["items"] for e in w[k:]),
    "forall i in items: forall j in items: i == j | F (x == i & O (x > 2))": lambda w, k: all(
        i == j or any(w[n]["x"] == i and any(e["x"] > 2 for e in w[: n + 1]) for n in range(k, len(w)))
        for i in w[k]["items"]
        for j in w[k]["items"]
    ),
    "forall i in items: F[0,2] (exists j in items: i + j == 3)": lambda w, k: all(
        any(i + j == 3 for e in w[k : k + 3] for j in e["items"]) for i in w[k]["items"]
    ),
}


@pytest.mark.parametrize("text", DIRECT)
@settings(deadline=None)
@given(trace=st.lists(events, max_size=8))
def test_quantifiers_over_domains(text, trace):
    expected = [DIRECT[text](trace, k) for k in range(len(trace))]
    assert list(Verdicts(text, at_end="finite")(trace)) == expected
    assert sorted(Verdicts(text, at_end="finite", earliest=True)(trace)) == list(enumerate(expected))
    last = list(Monitor(text, semantics="ltlf")(trace))[-1:]
    assert last == [Verdict.of(v) for v in expected[:1]]


def test_quantifiers_nested_fields():
    trace = [{"characters": [("ann",), ("bob",)], "t": 1}]
    assert list(Monitor("forall c in characters: t == 1")(trace)) == [Verdict.TRUE]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exists x. p(x)", "ranges over the values seen in the trace; give it a domain"),
        ("forall x in items: O (y == x)", "asks about the past of x"),
        ("p(u)", "variable 'u' is not bound by a quantifier"),
        ("forall x in items: p(x, u)", "variable u is not bound by a quantifier"),
    ],
)
@pytest.mark.parametrize("cls", [Verdicts, Monitor])
def test_quantifiers_refuse(cls, text, message):
    with pytest.raises(ParameterError, match=message):
        cls(text)


@pytest.mark.parametrize("cls", [Verdicts, Monitor])
def test_quantifiers_domain_must_be_iterable(cls):
    with pytest.raises(StreamError, match="forall i in items: the domain must be iterable, got 3"):
        list(cls("forall i in items: F (x == i)")([{"items": 3, "x": 0}]))
    with pytest.raises(StreamError, match="the values must be hashable"):
        list(cls("forall i in items: F (x == i)")([{"items": [[]], "x": 0}]))
