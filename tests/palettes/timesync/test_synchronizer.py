"""Synchronizer as a processor: ports, tags, controls, clocks, late events, snapshots."""

import pickle
from random import Random
from typing import Any

import pytest

from millstream.palettes.timesync import AddStream, RemoveStream, Synchronizer, Tick
from millstream.palettes.timesync.core import Method
from millstream.processors import ParameterError, StreamError, VirtualClock, X

METHODS: tuple[Method, ...] = ("heads", "method 1", "method 2")


def tagged(**options):
    return Synchronizer(time=X[1], streams=["a", "b"], key=X[0], **options)


def test_synchronizer_has_an_input_for_each_stream():
    out: list[Any] = []
    run = Synchronizer(time=X, streams=["a", "b", "c"]).into(out)
    for port, time in [(0, 1), (0, 4), (1, 2), (2, 3), (1, 5), (2, 6)]:
        run.push(time, port)
    assert out == [1, 2, 3, 4]
    run.end()
    assert out == [1, 2, 3, 4, 5, 6]


def test_synchronizer_pulls_several_inputs():
    assert list(Synchronizer(time=X, streams="ab")([1, 4, 6], [2, 3, 5])) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("method", METHODS)
def test_synchronizer_equals_sorting_for_a_thousand_delayed_events(method):
    random = Random(7)
    sent = [(random.randrange(20), t) for t in range(1000)]
    arrived = sorted(sent, key=lambda e: e[1] + e[0] * 3)  # a fixed delay for each stream keeps its order
    merged = Synchronizer(time=X[1], streams=range(20), key=X[0], method=method)
    assert list(merged(arrived)) == sent


def test_late_events_go_to_the_side_output():
    clock = VirtualClock()
    query = tagged(max_delay=5.0, max_failures=3, late="side", clock=clock.now)
    out: list[Any] = []
    late: list[Any] = []
    run = query.into(out, late)
    run.push(("a", 7))
    clock.sleep(6)
    run.push(Tick())
    run.push(("b", 3))
    run.push(("b", 8))
    run.end()
    assert out == [("a", 7), ("b", 8)]
    assert late == [("b", 3)]


def test_late_events_are_dropped_or_raise():
    events = [("a", 7), Tick(10.0), ("b", 3), ("b", 8)]
    query = tagged(max_delay=5.0, clock=lambda: 0.0)
    assert list(query(events)) == [("a", 7), ("b", 8)]
    with pytest.raises(StreamError, match="event of stream 'b' is late: 3, and 7 was already sent"):
        list(tagged(max_delay=5.0, clock=lambda: 0.0, late="raise")(events))


def test_arrival_times_can_come_from_the_events():
    query = Synchronizer(time=X[1], streams=["a", "b"], key=X[0], max_delay=5, arrival=X[2])
    out: list[Any] = []
    run = query.into(out)
    run.push(("a", 1, 100))
    run.push(("a", 2, 104))
    run.push(("a", 3, 106))
    assert out == [("a", 1, 100)]


def test_streams_are_added_and_removed_while_running():
    events = [("a", 1), AddStream("c"), ("b", 2), ("a", 3), RemoveStream("c"), ("b", 4), RemoveStream("a")]
    out: list[Any] = []
    run = tagged().into(out)
    seen = []
    for event in events:
        run.push(event)
        seen.append(len(out))
    assert seen == [0, 0, 1, 1, 2, 3, 4]
    assert out == [("a", 1), ("b", 2), ("a", 3), ("b", 4)]


def test_streams_can_be_added_by_their_first_event():
    grown = Synchronizer(time=X[1], key=X[0], grow=True)
    assert list(grown([("x", 1), ("y", 2), ("x", 3), ("y", 4)])) == [("x", 1), ("y", 2), ("x", 3), ("y", 4)]


def test_added_stream_without_an_input_port_is_refused():
    run = Synchronizer(time=X, streams=["a"]).into([])
    with pytest.raises(StreamError, match="stream 'b' has no input port"):
        run.push(AddStream("b"))


def test_snapshot_is_loaded_after_the_clock_has_moved():
    clock, out = VirtualClock(), list[Any]()
    run = tagged(max_delay=5.0, clock=clock.now).into(out)
    run.push(("a", 7))
    saved = run.save()
    clock.sleep(9)
    run.load(saved)
    run.push(Tick())
    assert out == [("a", 7)]


def test_unknown_stream_is_refused_with_place_and_position():
    with pytest.raises(StreamError, match=r"input event 1 .*unknown stream 'z' \(streams: 'a', 'b'\)"):
        list(tagged()([("a", 1), ("z", 2)]))


@pytest.mark.parametrize("method", METHODS)
def test_snapshot_in_the_middle_continues_identically(method):
    events = [("a", 1), ("a", 4), ("b", 2), ("a", 6), ("b", 3), ("b", 9)]
    out: list[Any] = []
    run = tagged(method=method, max_delay=3, clock=lambda: 0.0).into(out)
    run.push_all(events[:3])
    saved = pickle.loads(pickle.dumps(run.save()))
    before = list(out)
    run.push_all(events[3:])
    run.end()
    whole = list(out)
    rest: list[Any] = []
    again = tagged(method=method, max_delay=3, clock=lambda: 0.0).into(rest)
    again.load(saved)
    again.push_all(events[3:])
    again.end()
    assert before + rest == whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "tree"}, "method must be 'heads' or 'method 1' or 'method 2', got 'tree'"),
        ({"max_delay": -1}, "max_delay must be at least 0, got -1"),
        ({"max_failures": 0}, "max_failures must be an integer of at least 1, got 0"),
        ({"max_failures": 3}, "max_failures must come with a max_delay, got 3 alone"),
        ({"late": "keep"}, "late must be 'drop' or 'side' or 'raise', got 'keep'"),
        ({"blame": "me"}, "blame must be 'silent' or 'producer', got 'me'"),
        ({"streams": ["a", "a"]}, r"streams must differ, got \['a', 'a'\]"),
        ({"streams": []}, "streams must name the inputs"),
    ],
)
def test_wrong_parameters_are_refused_where_they_are_written(options, message):
    with pytest.raises(ParameterError, match=f"Synchronizer: {message}"):
        Synchronizer(**{"time": X, "streams": ["a"], **options})
