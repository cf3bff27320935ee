"""Every processor of the palette obeys the laws of processors."""

import pytest
from hypothesis import strategies as st

from millstream.palettes import ltl
from millstream.palettes.ltl import Monitor, Verdicts
from millstream.processors import E
from millstream.processors.testing import check_processor

events = st.fixed_dictionaries({"a": st.booleans(), "b": st.booleans()})
items = st.fixed_dictionaries({"items": st.lists(st.integers(0, 2), max_size=2), "x": st.integers(0, 2)})

VERDICTS = [
    Verdicts("G (a -> F b)"),
    Verdicts("a -> F b", at_end="finite"),
    Verdicts("a U b | O a", atoms={"a": E.a, "b": E.b}, at_end="weak"),
    Verdicts("G (a -> F[0,20] b)", at_end="finite"),
    Verdicts("a -> F[2,20] b", at_end="strong"),
    Verdicts("a -> F[2,20] b", at_end="both"),
    Verdicts("G (a U[3,10] b)", at_end="finite"),
    Verdicts("a S[2,40] b | H a", at_end="finite"),
    Verdicts("O F[0,20] (a & X b)", at_end="finite"),
    Verdicts("a -> F b", earliest=True, at_end="finite"),
    Verdicts("G[0,20] (a -> F b)", earliest=True, at_end="finite"),
    Verdicts("a -> X b", explain=True),
]
MONITORS = [
    Monitor("G (a -> X b)"),
    Monitor("a U (b & Y a)", semantics="rv-ltl", atoms={"a": E.a, "b": E.b}),
    Monitor("F (a & b)", semantics="ltlf"),
    Monitor("F[0,2000] (a & b)", semantics="rv-ltl"),
    Monitor("G (a -> X b)", budget=0),
    Monitor("G (a -> X b)", explain=True),
]


@pytest.mark.parametrize("query", VERDICTS + MONITORS, ids=repr)
def test_laws(query):
    check_processor(query, events, max_examples=10)


def test_laws_with_quantifiers():
    check_processor(Verdicts("forall i in items: F (x == i)", at_end="finite"), items, max_examples=10)
    check_processor(Monitor("forall i in items: F (x == i)", semantics="rv-ltl"), items, max_examples=10)


ONE = [ltl.Eventually, ltl.Globally, ltl.Next]
TWO = [ltl.Until, ltl.WeakUntil, ltl.Release]
PAST = [ltl.Previous, ltl.Once, ltl.Historically]


@pytest.mark.parametrize("cls", ONE + TWO)
@pytest.mark.parametrize("at_end", [None, "finite"])
def test_laws_of_operators(cls, at_end):
    check_processor(cls(at_end=at_end), *[st.booleans()] * cls.ins, max_examples=10)


@pytest.mark.parametrize("cls", [*PAST, ltl.Since])
def test_laws_of_past_operators(cls):
    check_processor(cls(), *[st.booleans()] * cls.ins, max_examples=10)


def first(pair):
    return pair[1]["x"] >= pair[0]


INNER = [
    ltl.Always(Monitor("a -> X b")),
    ltl.Sometime(Monitor("a & X b")),
    ltl.After(Monitor("F a")),
    ltl.UpTo(Monitor("a"), Monitor("X b")),
    ltl.Always(ltl.Sometime(Monitor("a & X b"))),
]


@pytest.mark.parametrize("query", INNER, ids=repr)
def test_laws_of_operators_over_queries(query):
    check_processor(query, events, max_examples=10)


@pytest.mark.parametrize("cls", [ltl.ForAll, ltl.Exists])
@pytest.mark.parametrize("grows", [False, True])
def test_laws_of_quantifiers(cls, grows):
    check_processor(cls(E["items"], first, grows=grows), items, max_examples=10)
