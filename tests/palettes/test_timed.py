"""Time that passes without events: what it gives is what later events would have given, only sooner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.ltl import Verdicts
from millstream.palettes.windows import SessionWindow, TimeWindow
from millstream.processors import Count, E, Timed

BIG = {"big": E.n > 2, "odd": E.n % 2}
QUERIES = [
    TimeWindow(Count(), 7, every=7, time=E.t),
    TimeWindow(lambda w: [e["n"] for e in w], 9, every=4, time=E.t),
    TimeWindow(Count(), 6, every=3, time=E.t, bound=5, late="drop"),
    TimeWindow(Count(), 5, time=E.t, bound=3, late="drop"),
    SessionWindow(len, gap=3, time=E.t),
    SessionWindow(len, gap=4, max_span=6, max_count=3, time=E.t, bound=2, late="drop"),
    Verdicts("odd -> F[0,4] big", atoms=BIG, time=E.t),
    Verdicts("G (odd -> F(0,4) big)", atoms=BIG, time=E.t),
    Verdicts("big U[1,6] odd", atoms=BIG, time=E.t),
    Verdicts("F[1,5] G[0,2) big", atoms=BIG, time=E.t),
]
TRACES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=15)


@pytest.mark.parametrize("query", QUERIES, ids=repr)
@given(steps=TRACES)
def test_passing_time_gives_what_later_events_give(query, steps):
    now, events, sooner, later = 0, [], [], []
    run = query.into(sooner)
    (timed,) = run.processors
    assert isinstance(timed, Timed)
    for step, n, waits in steps:
        now += step + 1
        events.append({"t": now, "n": n})
        run.push(events[-1])
        if waits and (due := timed.due()) is not None:
            before = len(sooner)
            timed.pass_time(due)
            assert timed.due() != due, "it did nothing of what was due"
            assert before <= len(sooner)
            now = max(now, due)
    while (due := timed.due()) is not None:
        timed.pass_time(due)
        now = max(now, due)
    far = [{"t": now + 10**6 * k, "n": 5} for k in (1, 2, 3)]
    query.into(later).push_all([*events, *far])
    assert later[: len(sooner)] == sooner
    run.push_all(far)
    assert sooner == later


def test_nothing_is_due_without_time_or_events():
    for query in (Verdicts("F[0,2] a"), Verdicts("F[0,2] a", time=E.t), TimeWindow(Count(), 2, every=2)):
        (timed,) = query.into([]).processors
        assert timed.due() is None
