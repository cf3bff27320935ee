"""Every processor of the palette obeys the laws of processors."""

import pytest
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor, Verdicts
from millstream.processors import E
from millstream.processors.testing import check_processor

events = st.fixed_dictionaries({"a": st.booleans(), "b": st.booleans()})
timed = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), max_size=10)
items = st.fixed_dictionaries({"items": st.lists(st.integers(0, 2), max_size=2), "x": st.integers(0, 2)})

VERDICTS = [
    Verdicts("G (a -> F b)"),
    Verdicts("a -> F b", at_end="finite"),
    Verdicts("a U b | O a", atoms={"a": E.a, "b": E.b}, at_end="weak"),
    Verdicts("G (a -> F[0,20] b)", at_end="finite"),
    Verdicts("a -> F[2,20] b", at_end="strong"),
    Verdicts("G (a U[3,10] b)", at_end="finite"),
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
    Monitor("G (a -> X b)", explain=True),
]


@pytest.mark.parametrize("query", VERDICTS + MONITORS, ids=repr)
def test_laws(query):
    check_processor(query, events, max_examples=15)


def test_laws_with_quantifiers():
    check_processor(Verdicts("forall i in items: F (x == i)", at_end="finite"), items, max_examples=15)
    check_processor(Monitor("forall i in items: F (x == i)", semantics="rv-ltl"), items, max_examples=15)
