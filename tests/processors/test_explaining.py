"""Where outputs come from: the causes named, and that they are enough."""

import gc
import xml.etree.ElementTree as ET
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.cep import Detector, Occurrence, before
from millstream.palettes.fol import Verdicts as FirstOrder
from millstream.palettes.fsm import MooreMachine, On
from millstream.palettes.lattice import Lattices, LatticeWindow, LocalState, Possibly
from millstream.palettes.ltl import ForAll, Globally, Monitor, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Reorder, Synchronizer
from millstream.palettes.windows import SessionWindow, TimeWindow, Tumbling, Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    Decimate,
    E,
    Filter,
    KeepLast,
    Multiplex,
    Pack,
    Passthrough,
    Prefix,
    QueryError,
    StreamError,
    Trim,
    X,
    Y,
    connect,
)


def causes(query, events, **options):
    """For each output, the positions of its causes."""
    run = query.into(out := [], explain=True, **options)
    run.push_all(events)
    run.end()
    return [run.explain(k).positions for k in range(len(out))]


def fork_and_join():
    start, double, join = Passthrough(), Apply(X * 2), Apply(add)
    return connect(
        start.outputs[0] >> join.inputs[0],
        start.outputs[0] >> double.inputs[0],
        double.outputs[0] >> join.inputs[1],
    )


TIMED = [{"t": t, "n": n} for n, t in enumerate([0, 1, 5, 6, 7])]
STREAMS = [{"s": "p", "t": 1}, {"s": "p", "t": 3}, {"s": "q", "t": 2}, {"s": "q", "t": 4}]
FLOWS = [{"cs": [1], "done": 0}, {"cs": [], "done": 1}, {"cs": [1], "done": 1}]
LOCAL = [LocalState(p, c, v) for p, c, v in [
    ("p", (0, 0), 1), ("q", (0, 0), 2), ("p", (1, 0), 2), ("p", (2, 0), 3), ("q", (1, 1), 3)
]]  # fmt: skip
CALLS = [("open", "a"), ("open", "b"), ("write", "a"), ("close", "b"), ("close", "a")]


@pytest.mark.parametrize(
    ("query", "events", "expected"),
    [
        (Apply(X + 1), [5, 6], [[0], [1]]),
        (Filter(X > 1), [1, 2, 3], [[1], [2]]),
        (Filter(X > 1) | Cumulate(add), [1, 2, 0, 3], [[1], [1, 3]]),
        (Count(), "ab", [[0], [0, 1]]),
        (fork_and_join(), [1, 2], [[0], [1]]),
        (Trim(1) | Prefix(1), "abc", [[1]]),
        (Decimate(2), "abc", [[0], [2]]),
        (KeepLast(), "abc", [[2]]),
        (Pack(X == "a"), "abcad", [[0, 1, 2], [3, 4]]),
        (Window(Cumulate(add), 2), [1, 2, 3], [[0, 1], [1, 2]]),
        (Window(sorted, 2), [1, 2, 3], [[0, 1], [1, 2]]),
        (Window(Filter(X > 1) | Count(), 3), [2, 1, 3, 1], [[0, 2], [2]]),
        (Tumbling(Cumulate(add), 2), [1, 2, 3, 4], [[0, 1], [2, 3]]),
        (Slice(X, Count()), "abab", [[0], [1], [0, 2], [1, 3]]),
        (Slice(X, Count(), snapshot=True), "aba", [[0], [0, 1], [0, 1, 2]]),
        (Slice(X, Count(), collect=max), "ab", [[0], [0, 1]]),
        (Slice(X, Window(Cumulate(add), 2)), "abaa", [[0, 2], [2, 3]]),
        (TimeWindow(Apply(E.n) | Cumulate(add), 4, time=E.t), TIMED, [[0], [0, 1], [2], [2, 3], [2, 3, 4]]),
        (SessionWindow(len, gap=3, time=E.t, partial=True), TIMED, [[0, 1], [2, 3, 4]]),
        (Globally(), [True, True, False], [[0, 1, 2], [1, 2], [2]]),
        (Verdicts("a -> F b", atoms={"a": X == "a", "b": X == "b"}), "acba", [[0, 1, 2], [1, 2], [2]]),
        (Verdicts("b -> O a", atoms={"a": X == "a", "b": X == "b"}), "acb", [[0], [0, 1], [0, 1, 2]]),
        (Monitor("G (a -> F b)", atoms={"a": X == "a", "b": X == "b"}), "xab", [[0], [0, 1], [0, 1, 2]]),
        (FirstOrder("write(f) -> [open(f), close(f))"), CALLS, [[0], [1], [0, 2], [1, 3], [0, 2, 4]]),
        (
            Detector(before("A", "B")),
            [Occurrence("A", 1), Occurrence("C", 2), Occurrence("B", 3)],
            [[0, 2]],
        ),
        (ForAll(lambda e: (1, 2), lambda p: p[1] < p[0]), [0, 9], [[0], [0, 1]]),
        (Verdicts("forall c in cs: c == 1 -> F done == 1"), FLOWS, [[0, 1], [1], [2]]),
        (Synchronizer(E.t, "pq", E.s), STREAMS, [[0], [2], [1], [3]]),
        (LatticeWindow("pq", 2) | Lattices(), LOCAL, [[0], [0, 1], [0, 1, 2], [1, 2, 3], [1, 2, 3, 4]]),
        (LatticeWindow("pq", 1) | Possibly(X == Y), LOCAL, [[0], [0, 1], [1, 2], [1, 3], [3, 4]]),
        (Reorder(3, time=E.t), [TIMED[1], TIMED[0], TIMED[4]], [[1], [0], [2]]),
        (MooreMachine("off", [On("off", "x", "on"), On("on", "x", "off")]), "xxx", [[0], [0, 1], [2]]),
    ],
    ids=repr,
)  # fmt: skip
def test_explain_names_the_causes(query, events, expected):
    assert causes(query, events) == expected


ENOUGH = [
    Filter(X > 1) | Cumulate(add),
    Window(Cumulate(add), 3),
    Tumbling(Cumulate(add), 3) | Apply(X * 2),
    Slice(X % 2, Cumulate(max)),
    Slice(X % 2, Window(Cumulate(add), 2)),
]


@pytest.mark.parametrize("query", ENOUGH, ids=repr)
@given(events=st.lists(st.integers(0, 4), max_size=12))
@settings(max_examples=30)
def test_explain_causes_alone_give_the_output(query, events):
    run = query.into(out := [], explain=True)
    run.push_all(events)
    for k, output in enumerate(out):
        assert list(query(run.explain(k).events))[-1] == output


AB = {"a": X % 2 == 0, "b": X % 3 == 0}
ALONE = [
    *(query for query in ENOUGH if "Tumbling" not in repr(query)),  # which counts events
    Verdicts("a -> F b", atoms=AB),
    Verdicts("b -> O a", atoms=AB),
    Apply(X % 2 == 0) | Globally(),
    ForAll(lambda e: range(e), lambda p: p[1] < 3),
    Apply(lambda x: ("open" if x % 2 else "write", x // 2)) | FirstOrder("write(f) -> O open(f)"),
    Apply(lambda x: Occurrence("AB"[x % 2], x)) | Detector(before("A", "B")),
]


@pytest.mark.parametrize("query", ALONE, ids=repr)
@given(events=st.lists(st.integers(0, 6), max_size=9), data=st.data())
def test_explain_an_event_that_is_not_a_cause_can_be_left_out(query, events, data):
    consumes = query is ALONE[-1]  # a detector: events in the order of time, and each is used once
    waits = query in (ALONE[-6], ALONE[-4])  # an output waits for those of earlier events
    events = sorted(events) if consumes else events
    run = query.into(out := [], explain=True)
    run.push_all(events)
    run.end()
    for k, output in enumerate(out):
        causes = run.explain(k).positions
        others = [n for n in range(len(events)) if n not in causes]
        dropped = (
            data.draw(st.sets(st.sampled_from(others))) if others and not (consumes or waits) else set(others)
        )
        again = query.into(left := [], explain=True)
        again.push_all(e for n, e in enumerate(events) if n not in dropped)
        again.end()
        kept = [n for n in range(len(events)) if n not in dropped]
        found = [[kept[p] for p in again.explain(j).positions] for j in range(len(left))]
        assert output in [y for y, named in zip(left, found, strict=True) if set(named) <= set(causes)]


def test_explain_several_inputs():
    run = Multiplex(2).into(out := [], explain=True)
    run.push("a", 0)
    run.push("b", 1)
    assert out == ["a", "b"]
    assert [(c.port, c.position, c.event) for c in run.explain(1).lineage.causes] == [(1, 0, "b")]
    assert "from event 0 of input 1: 'b'" in str(run.explain(1))


def test_explain_prints():
    run = (Filter(X % 2) | Cumulate(add)).into(explain=True)
    run.push_all([1, 2, 3])
    assert str(run.explain()) == (
        "output 1: 4\n  from event 0: 1\n  from event 2: 3\n  by 'Filter(X % 2) | Cumulate(add)'"
    )


def test_explain_draws():
    run = Cumulate(add).into(explain=True)
    run.push_all(["<a>", "&"])
    picture = ET.fromstring(run.explain().svg)
    texts = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["event 0: '<a>'", "event 1: '&'", "output 1: '<a>&'"]


def test_explain_remembers_a_bounded_number():
    run = Cumulate(add).into(explain=3)
    run.push_all(range(10))
    assert run.explain().positions == [7, 8, 9]
    assert run.explain().lineage.omitted == 7
    assert "from 7 older events" in str(run.explain())
    with pytest.raises(QueryError, match=r"output 2 is forgotten, the last 3 .* into\(\.\.\., explain=6\)"):
        run.explain(2)
    with pytest.raises(QueryError, match="there is no output 10: there have been 10"):
        run.explain(10)


class Watched:
    """An event that can be counted."""


def test_explain_memory_is_bounded():
    run = Slice(lambda x: 0, Window(tuple, 5)).into(explain=4)
    for _ in range(100):
        run.push(Watched())
    gc.collect()
    assert sum(isinstance(o, Watched) for o in gc.get_objects()) <= 5 + 4 * 4


def test_explain_is_asked_of_a_run_that_explains():
    with pytest.raises(QueryError, match=r"use into\(\.\.\., explain=True\)"):
        Count().into().explain()


def test_explain_failures_name_the_processor_and_the_event():
    run = Apply(lambda x: 1 / x).into(explain=True)
    with pytest.raises(StreamError, match=r"^Apply.*failed on 0 at input event 1 .*0:Apply.*ZeroDivision"):
        run.push_all([1, 0])


def test_explain_tolerant_runs_stay_aligned():
    run = fork_and_join().into(out := [], explain=True, on_error="skip")
    run.push_all([1, None, 3])
    assert out == [3, 9]
    assert run.explain(1).positions == [2]


def test_explain_state_can_be_saved():
    query = Filter(X > 1) | Cumulate(add)
    run = query.into(explain=True)
    run.push_all([1, 2, 3])
    other = query.into(out := [], explain=True)
    other.load(run.save())
    other.push(4)
    assert out == [9]
    assert other.explain().positions == [1, 2, 3]
