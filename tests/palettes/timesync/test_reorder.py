"""Reorder: bounded disorder inside one stream."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.ltl import Verdicts
from millstream.palettes.timesync import Reorder, ReorderBuffer
from millstream.palettes.windows import TimeWindow
from millstream.processors import Apply, E, Filter, Pack, ParameterError, StreamError, X


@given(st.lists(st.integers(0, 50)), st.integers(0, 10))
def test_reorder_sorts_what_is_within_the_bound(times, bound):
    shaken = sorted(times, key=lambda t: t + (t * 7919 % (bound + 1)))
    assert list(Reorder(bound, time=X)(shaken)) == sorted(times)


@given(st.lists(st.integers(0, 50)), st.integers(0, 10))
def test_reorder_sends_or_rejects_every_event_and_stays_sorted(times, bound):
    out: list[Any] = []
    late: list[Any] = []
    run = Reorder(bound, time=X, late="side").into(out, late)
    run.push_all(times)
    run.end()
    assert out == sorted(out)
    assert sorted(out + late) == sorted(times)


def test_reorder_releases_as_soon_as_the_bound_allows():
    buffer = ReorderBuffer(bound=3)
    assert [buffer.add(t, t) for t in (5, 7, 6, 8, 10)] == [[], [], [], [5], [6, 7]]


def test_reorder_with_capacity_lets_the_oldest_leave_early():
    buffer = ReorderBuffer(bound=100, capacity=2)
    assert [buffer.add(t, t) for t in (3, 1, 2, 4)] == [[], [], [1], [2]]


def test_reorder_keeps_the_order_of_equal_times():
    assert list(Reorder(1, time=X[0])([(2, "a"), (1, "b"), (2, "c"), (1, "d")])) == [
        (1, "b"),
        (1, "d"),
        (2, "a"),
        (2, "c"),
    ]


def test_reorder_refuses_wrong_parameters_and_late_events():
    with pytest.raises(ParameterError, match="Reorder: bound must be at least 0, got -1"):
        Reorder(-1)
    with pytest.raises(ParameterError, match="Reorder: capacity must be an integer of at least 1, got 0"):
        Reorder(1, capacity=0)
    with pytest.raises(StreamError, match=r"event is late: 1, and 5 was already sent \(bound 0: raise it"):
        list(Reorder(0, time=X, late="raise")([5, 1]))
    with pytest.raises(ValueError, match="must be a number, got nan"):
        ReorderBuffer(1).add(float("nan"), None)


def test_reorder_takes_datetimes():
    day = datetime(2024, 5, 1)
    moments = [day + timedelta(hours=h) for h in (3, 1, 2, 9, 5)]
    assert list(Reorder(timedelta(hours=2), time=X)(moments)) == [*sorted(moments[:3]), *sorted(moments[3:])]
    with pytest.raises(ParameterError, match="Reorder: bound must be at least 0, got datetime"):
        Reorder(timedelta(hours=-1))


EVENTS = [{"time": t, "a": t % 3 == 0, "b": t % 4 == 0} for t in range(0, 40, 2)]
SHAKEN = [EVENTS[i ^ 2] for i in range(20)]


@pytest.mark.parametrize(
    "query",
    [
        TimeWindow(list, 6),
        Verdicts("G (a -> F b)"),
        Verdicts("O (a & Y b)"),
        Filter(E.a) | Apply(E.time) | Pack(X % 4 == 0),
    ],
)
def test_reorder_stands_in_front_of_any_query(query):
    assert SHAKEN != EVENTS
    assert list((Reorder(time=E.time, bound=5) | query)(SHAKEN)) == list(query(EVENTS))
