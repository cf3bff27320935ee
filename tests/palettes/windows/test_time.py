"""Windows in event time and sessions, against cutting them out of the sorted trace."""

from datetime import datetime, timedelta
from operator import add

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from millstream.palettes.windows import AfterCount, AfterTime, Pane, SessionWindow, TimeWindow
from millstream.processors import Apply, Cumulate, E, Filter, KeepLast, ParameterError, StreamError, X
from millstream.processors.testing import check_processor

from .twin import Alone, accepted, aligned_time, early_sessions, early_time, sessions, sliding_time

EVENTS = st.tuples(st.integers(0, 30), st.integers(-3, 3))
TRACES = st.lists(EVENTS, max_size=25)
SPANS = st.integers(1, 9)
TRIGGERS = st.integers(1, 4).map(AfterCount) | SPANS.map(AfterTime)
INNER = {
    "sum": Apply(X[1]) | Cumulate(add),
    "text": Apply(str) | Cumulate(add, start=">"),
    "filter": Filter(X[1] > 0),
    "at end": KeepLast(),
    "function": len,
}


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(TRACES, SPANS, st.integers(0, 9), st.booleans())
def test_time_window_slides_with_each_event(inner, trace, span, bound, exact):
    good, _ = accepted(trace, bound)
    query = TimeWindow(inner, span, time=X[0], bound=bound, late="drop", exact=exact)
    assert list(query(trace)) == sliding_time(inner, good, span)


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(TRACES, SPANS, SPANS, st.integers(0, 9), st.booleans())
def test_time_window_aligned_tumbles_or_hops(inner, trace, span, every, bound, partial):
    good, _ = accepted(trace, bound)
    query = TimeWindow(inner, span, every, time=X[0], bound=bound, late="drop", partial=partial)
    assert list(query(trace)) == aligned_time(inner, good, span, every, partial)


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(TRACES, SPANS, st.integers(0, 9), st.booleans())
def test_session_window_ends_after_a_pause(inner, trace, gap, bound, partial):
    good, _ = accepted(trace, bound)
    alone = Alone(inner)
    query = SessionWindow(inner, gap, time=X[0], bound=bound, late="drop", partial=partial)
    assert list(query(trace)) == [y for session in sessions(good, gap, partial) for y in alone(session)]


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(TRACES, SPANS, SPANS, st.integers(0, 9), st.booleans(), TRIGGERS)
def test_time_window_aligned_speaks_early(inner, trace, span, every, bound, partial, early):
    good, _ = accepted(trace, bound)
    shared = {"time": X[0], "bound": bound, "late": "drop", "partial": partial}
    query = TimeWindow(inner, span, every, labels=True, early=early, **shared)
    assert list(query(trace)) == early_time(inner, good, span, every, partial, early)


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(
    TRACES, st.none() | SPANS, st.none() | SPANS, st.none() | SPANS,
    st.integers(0, 9), st.booleans(), st.none() | TRIGGERS,
)  # fmt: skip
def test_session_window_is_closed_by_any_limit(inner, trace, gap, count, span, bound, partial, early):
    assume(gap or count or span)
    good, _ = accepted(trace, bound)
    shared = {"time": X[0], "bound": bound, "late": "drop", "partial": partial, "early": early}
    query = SessionWindow(inner, gap, count, span, labels=True, **shared)
    assert list(query(trace)) == early_sessions(inner, good, gap, count, span, partial, early)


@given(TRACES, st.integers(0, 9))
def test_time_window_sends_late_events_to_the_side(trace, bound):
    good, late = accepted(trace, bound)
    query = TimeWindow(list, 5, 5, time=X[0], bound=bound, late="side", partial=True)
    out, side = [], []
    with query.into(out, side) as run:
        run.push_all(trace)
    assert out == aligned_time(list, good, 5, 5, partial=True)
    assert side == late


@given(TRACES, st.integers(0, 9))
def test_time_window_counts_what_it_drops(trace, bound):
    run = TimeWindow(list, 5, time=X[0], bound=bound, late="drop").into()
    run.push_all(trace)
    assert run.processors[0].dropped == len(accepted(trace, bound)[1])


def test_time_window_refuses_late_events():
    out = []
    run = TimeWindow(list, 2, time=abs, bound=1).into(out)
    with pytest.raises(StreamError, match=r"time 3 came after one of time 5.*by more than bound=1"):
        run.push_all([1, 2, 5, 4, 3])
    assert out == [[1], [1, 2], [4]]


def test_time_window_without_bound_refuses_any_disorder():
    with pytest.raises(StreamError, match="may not be out of order at all"):
        list(TimeWindow(list, 2, time=abs)([1, 2, 1]))


def test_time_window_closes_as_soon_as_time_has_passed_for_certain():
    out = []
    run = TimeWindow(list, 10, 10, time=abs, bound=2).into(out)
    run.push_all([1, 11])
    assert out == []
    run.push(12)
    assert out == [[1]]


def test_time_window_takes_datetimes():
    day = datetime(2024, 5, 1)
    events = [{"time": day + timedelta(minutes=m), "n": m} for m in (1, 2, 61, 130)]
    query = TimeWindow(Apply(E.n) | Cumulate(add), timedelta(hours=1), timedelta(hours=1), labels=True)
    hour = timedelta(hours=1)
    assert list(query(events)) == [Pane(day, day + hour, 3), Pane(day + hour, day + 2 * hour, 61)]


def test_time_window_counts_from_an_origin():
    query = TimeWindow(list, 10, 10, time=abs, origin=5, labels=True, partial=True)
    assert list(query([4, 5, 14, 15])) == [Pane(-5, 5, [4]), Pane(5, 15, [5, 14]), Pane(15, 25, [15])]


def test_time_window_with_fractions_of_seconds_has_no_gaps():
    times = [k / 10 for k in range(50)]
    windows = list(TimeWindow(list, 0.1, 0.1, time=abs, partial=True)(times))
    assert [t for w in windows for t in w] == times


def test_time_window_speaks_early_by_count():
    query = TimeWindow(sum, 10, 10, time=abs, early=AfterCount(2), labels=True)
    assert list(query([1, 2, 3, 12])) == [Pane(0, 10, 3, True), Pane(0, 10, 6)]


def test_time_window_speaks_early_by_time():
    query = TimeWindow(Cumulate(add), 10, 10, time=abs, early=AfterTime(3))
    assert list(query([1, 2, 3, 4, 6, 11])) == [6, 16, 16]


def test_session_window_speaks_early():
    query = SessionWindow(list, 5, time=abs, early=AfterCount(2))
    assert list(query([1, 2, 3, 20])) == [[1, 2], [1, 2, 3]]


def test_session_window_is_closed_by_count_or_length():
    query = SessionWindow(list, max_count=3, max_span=4, time=abs, partial=True)
    assert list(query([0, 1, 2, 3, 6, 7, 8])) == [[0, 1, 2], [3, 6], [7, 8]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TimeWindow(len, 0), "TimeWindow: span must be a positive number or timedelta, got 0"),
        (lambda: TimeWindow(len, 1, -1), "TimeWindow: every must be a positive number"),
        (lambda: TimeWindow(len, 1, bound=-1), "TimeWindow: bound must be zero or a positive number"),
        (lambda: TimeWindow(len, 1, late="no"), "TimeWindow: late must be 'error', 'drop' or 'side'"),
        (lambda: TimeWindow(len, 1, early=AfterCount(1)), "TimeWindow: early must be given only with every"),
        (lambda: SessionWindow(len), "SessionWindow: gap must be given, or max_count, or max_span, got None"),
        (lambda: SessionWindow(len, "a"), "SessionWindow: gap must be a positive number or timedelta"),
        (lambda: SessionWindow(len, 1, max_count=0), "SessionWindow: max_count must be an integer of at"),
        (lambda: SessionWindow(3, 1), "SessionWindow: inner must be a query, a Monoid or a function"),
    ],
)
def test_time_window_rejects_bad_parameters(make, message):
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@pytest.mark.parametrize("partial", [False, True])
def test_time_window_obeys_the_laws(inner, partial):
    shared = {"time": X[0], "bound": 3, "late": "drop", "partial": partial}
    check_processor(TimeWindow(inner, 5, **shared), EVENTS, max_examples=5)
    check_processor(TimeWindow(inner, 5, 2, early=AfterCount(2), **shared), EVENTS, max_examples=5)
    check_processor(TimeWindow(inner, 5, 5, early=AfterTime(2), **shared), EVENTS, max_examples=5)
    check_processor(SessionWindow(inner, 2, **shared), EVENTS, max_examples=5)


def test_time_window_with_a_side_output_obeys_the_laws():
    for query in (TimeWindow(len, 5, time=X[0], late="side"), SessionWindow(len, 2, time=X[0], late="side")):
        check_processor(query, EVENTS, max_examples=10)
