"""What can grow without bound, and how to bound it."""

from operator import add

import pytest

from millstream.palettes.cep import Detector, Mode, before
from millstream.palettes.fol import Verdicts as FirstOrder
from millstream.palettes.ltl import Always, Monitor, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Reorder
from millstream.palettes.windows import SessionWindow, Window
from millstream.processors import Apply, Count, Cumulate, E, Filter, Pack, Passthrough, Splice, X, connect


def uneven():
    """A join of streams that do not go at the same pace."""
    start, some, join = Passthrough(), Filter(X > 1), Apply(add)
    return connect(
        start.outputs[0] >> join.inputs[0],
        start.outputs[0] >> some.inputs[0],
        some.outputs[0] >> join.inputs[1],
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Pack(X), "0:Pack: the events of the list under way; bound it with a condition"),
        (Splice(2), "0:Splice: events of later inputs that wait"),
        (Slice(X, Count()), "0:Slice/0:PlainSlices: a state for each key; bound it with ttl=, until= or max"),
        (Slice(X, Pack(X), ttl=3), "0:Slice/0:Slices > 0:Pack: the events of the list"),
        (
            uneven(),
            "2:Apply: events of one input that wait for the others; bound it with into(..., capacity=",
        ),
        (Monitor("G a", explain=True), "0:Monitor: all events, to explain the verdict"),
        (Verdicts("a -> F b", explain=True), "0:Verdicts: all events, to explain verdicts"),
        (Always(Monitor("F a")), "0:Always: a copy of the inner query for each position that is open"),
        (FirstOrder("a(x) -> O b(x)"), "0:Verdicts: an entry for each combination of values"),
        (Reorder(3), "0:Reorder: the events that arrive within the bound; bound it with capacity="),
        (Detector(before("A", "B")), "0:Detector: occurrences that wait for a partner; bound it with within"),
        (SessionWindow(len, gap=3), "0:SessionWindow: the events of a session that goes on"),
    ],
    ids=repr,
)
def test_memory_names_what_grows(query, expected):
    (only,) = query.memory().growing
    assert str(only).startswith(expected)


@pytest.mark.parametrize(
    "query",
    [
        Filter(E.ok) | Window(Cumulate(add), 100),
        Slice(X, Count(), max_slices=10),
        Slice(X, Count(), until=X == 3),
        Verdicts("a -> F b"),
        Detector(before("A", "B").within(5)),
        Detector(before("A", "B"), mode=Mode.RECENT),
        Reorder(3, capacity=10),
        SessionWindow(len, gap=3, max_count=5),
    ],
    ids=repr,
)
def test_memory_of_bounded_queries_is_empty(query):
    assert not query.memory()
    assert str(query.memory()) == "nothing grows without bound"
