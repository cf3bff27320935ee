"""The part of `monitor_stream` without Spark: what a key's outputs are, however its events come."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from millstream.palettes.ltl import Monitor as MonitorLtl
from millstream.palettes.ltl import Verdict, Verdicts
from millstream.palettes.spark.durations import TimeColumn, as_duration
from millstream.palettes.spark.keyed import Monitor
from millstream.palettes.spark.packets import Pack
from millstream.palettes.spark.passing import timed_nodes
from millstream.palettes.windows import SessionWindow, TimeWindow
from millstream.processors import Apply, Count, Cumulate, E, Filter, Fork, MillstreamError, QueryError

UNKNOWN, FALSE = Verdict.UNKNOWN, Verdict.FALSE
SECONDS = TimeColumn("t", T.LongType())
NAMES = ("t", "n")
QUERIES = {
    "count": Count(),
    "sum of odd ones": Filter(E.n % 2 == 1) | Apply(E.n) | Cumulate(lambda a, b: a + b),
    "tumbling": TimeWindow(Count(), 7, every=7, time=E.t),
    "hopping, filtered": Filter(E.n > 2) | TimeWindow(Count(), 9, every=3, time=E.t),
    "sliding": TimeWindow(Count(), 5, time=E.t),
    "session": SessionWindow(lambda w: [e["n"] for e in w], gap=3, time=E.t),
    "session, short": SessionWindow(len, gap=4, max_span=6, max_count=3, time=E.t),
    "bounded response": Verdicts("odd -> F[0,4] big", atoms={"odd": E.n % 2, "big": E.n > 3}, time=E.t),
    "nested bounds": Verdicts("F[1,5] G[0,2) big", atoms={"big": E.n > 2}, time=E.t),
    "ends": Verdicts(
        "G (odd -> F[0,4] big)", atoms={"odd": E.n % 2, "big": E.n > 3}, time=E.t, at_end="finite"
    ),
}
#: micro-batches of (time, n), to be delivered in this order
BATCHES = st.lists(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 5)), max_size=6), max_size=6)


def delivered(monitor, batches, delay):
    """Run micro-batches as Spark does: each with the watermark of what came before, then far beyond."""
    keyed, record, newest = monitor.start(), None, 0
    times, outputs, accepted = [], [], []
    for batch in [*batches, [], None]:
        watermark = 10**9 if batch is None else max(0, newest - delay) * 1000
        arrived = batch or []
        accepted += [row for row in arrived if not watermark or row[0] > watermark / 1000]
        after, outcome = keyed.step(record, arrived, watermark)
        assert after is None or after.wake is None or after.wake > watermark
        assert sorted(outcome.late) == sorted(r for r in arrived if watermark and r[0] <= watermark / 1000)
        record = None if after is None else keyed.load(keyed.dump(after))
        times, outputs = times + outcome.times, outputs + outcome.outputs
        newest = max([newest, *(row[0] for row in arrived)])
    return times, outputs, accepted


def expected(query, accepted, life=None, ends=True):
    """The specification: each trace sorted and run locally, traces split where a key is silent for long."""
    traces, last = [[]], None
    for t, n in sorted(accepted, key=lambda row: row[0]):
        if last is not None and life is not None and t > last + life:
            traces.append([])
        traces[-1].append({"t": t, "n": n})
        last = t
    outputs = []
    for trace in traces:
        run = query.into(outputs)
        run.push_all(trace)
        if life is not None and ends:
            run.end()
    return outputs


@pytest.mark.parametrize("name", QUERIES)
@given(batches=BATCHES, delay=st.integers(0, 20))
def test_keyed_gives_what_the_sorted_trace_gives_however_it_is_split(name, batches, delay):
    query = QUERIES[name]
    times, outputs, accepted = delivered(Monitor(query, NAMES, SECONDS), batches, delay)
    whole = expected(query, accepted)
    assert outputs[: len(whole)] == whole  # what only time closes comes after it
    assert len(times) == len(outputs)
    assert times == sorted(times)
    again = delivered(Monitor(query, NAMES, SECONDS), [sorted(accepted, key=lambda row: row[0])], 0)
    assert (times, outputs) == again[:2]
    later = expected(query, [*accepted, (900_000, 5), (990_000, 5)])
    assert later[: len(outputs)] == outputs  # nothing that later events would not have given


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("ends", [True, False])
@settings(max_examples=30)
@given(batches=BATCHES, delay=st.integers(0, 20), life=st.integers(1, 12))
def test_keyed_ends_or_forgets_a_trace_after_a_silence(name, ends, batches, delay, life):
    query = QUERIES[name]
    monitor = Monitor(query, NAMES, SECONDS, life=life, ends=ends)
    times, outputs, accepted = delivered(monitor, batches, delay)
    again = delivered(monitor, [sorted(accepted, key=lambda row: row[0])], 0)
    assert (times, outputs) == again[:2]
    if name in ("count", "sum of odd ones", "sliding") or (ends and name == "ends"):
        assert outputs == expected(query, accepted, life, ends)
    record, _ = monitor.start().step(None, accepted, 0)
    if record is not None:
        assert monitor.start().step(record, [], 10**9)[0] is None  # nothing is kept of a trace that is over


def test_keyed_gives_windows_the_time_at_which_they_close():
    monitor = Monitor(QUERIES["tumbling"], NAMES, SECONDS)
    times, outputs, _ = delivered(monitor, [[(1, 0), (3, 0)], [(30, 0)]], 0)
    assert (times, outputs) == ([7, 35], [2, 1])


@given(batches=BATCHES, delay=st.integers(0, 20))
def test_keyed_monitor_tells_that_a_bound_has_passed_without_another_event(batches, delay):
    rule = MonitorLtl("G (odd -> F[0,4] big)", atoms={"odd": E.n % 2, "big": E.n > 3}, time=E.t)
    times, outputs, accepted = delivered(Monitor(rule, NAMES, SECONDS), batches, delay)
    trace = sorted(accepted, key=lambda row: row[0])
    answered = [any(n > 3 and t <= start + 4 for t, n in trace[k:]) for k, (start, _) in enumerate(trace)]
    broken = [t + 4 for (t, n), ok in zip(trace, answered, strict=True) if n % 2 and not ok]
    assert len(outputs) == len(trace) + bool(broken)
    assert {v for t, v in zip(times, outputs, strict=True) if not broken or t < min(broken)} <= {UNKNOWN}
    assert [t for t, v in zip(times, outputs, strict=True) if v == FALSE][:1] == sorted(broken)[:1]


def test_keyed_monitor_beside_another_stream_waits_for_the_next_event():
    rule = MonitorLtl("G F[0,4] big", atoms={"big": E.n > 3}, time=E.t)
    both = Fork() | (rule & Apply(E.n)) | Apply(lambda verdict, n: (verdict, n))
    assert timed_nodes(rule | Apply(str)) == ([0], [])
    assert timed_nodes(both)[0] == []


def test_keyed_orders_events_of_the_same_time_by_other_columns():
    query = Apply(E.n)
    rows = [(1, 3), (1, 1), (2, 0), (1, 2)]
    assert delivered(Monitor(query, NAMES, SECONDS, ties=(1,)), [rows], 0)[1] == [1, 2, 3, 0]
    assert delivered(Monitor(query, NAMES, SECONDS), [rows], 0)[1] == [3, 1, 2, 0]


@pytest.mark.parametrize(
    "query",
    [
        TimeWindow(Count(), timedelta(seconds=10), every=timedelta(seconds=10), time=E.t),
        Verdicts("F[0,10] n", time=lambda e: e["t"].timestamp()),
        Verdicts("F[0,10] n", time=lambda e: (e["t"] - datetime(2020, 1, 1, tzinfo=UTC)).total_seconds()),
        Verdicts("F[0,10000] n", time=lambda e: e["t"].timestamp() * 1000),
    ],
)
def test_keyed_reads_the_clocks_of_processors_over_timestamps(query):
    begin = int(datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp())
    keyed = Monitor(query, NAMES, TimeColumn("t", T.TimestampType())).start()
    record, _ = keyed.step(None, [(begin * 10**6, 0)], 0)
    record, outcome = keyed.step(record, [], (begin + 1) * 1000)
    assert record.wake == (begin + 10) * 1000
    assert not outcome
    _, outcome = keyed.step(record, [], (begin + 10) * 1000)
    assert outcome.outputs in ([1], [False])
    assert abs(outcome.times[0] - (begin + 10) * 10**6) <= 1


def test_keyed_refuses_the_state_of_another_query():
    made_by = Monitor(Count(), NAMES, SECONDS).start().made_by
    other = Monitor(Apply(E.n), NAMES, SECONDS).start()
    with pytest.raises(QueryError, match=r"states of another query than Apply\(E.n\), or of another version"):
        other.check(made_by)
    with pytest.raises(QueryError, match="states in format 0, this millstream reads format 2"):
        other.check("0:0:0")
    with pytest.raises(
        QueryError, match=r"had other columns than now \(struct<t:bigint>\); select the columns"
    ):
        Monitor(Count(), NAMES, SECONDS, columns="struct<t:bigint>").start().check(made_by)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"user": [None], "t": [1.0]}, "a row has no key: the column 'user' is null"),
        ({"user": ["ann"], "t": [None]}, "a row has no time: the column 't' is null"),
        ({"user": ["ann"], "t": [float("nan")]}, "time in the column 't' is not a number"),
    ],
)
def test_packing_says_what_is_missing(rows, message):
    pack = Pack(("user", "t"), ("user",), TimeColumn("t", T.DoubleType()), 1)
    batch = pa.RecordBatch.from_pydict(rows, pa.schema({"user": pa.string(), "t": pa.float64()}))
    with pytest.raises(MillstreamError, match=message):
        list(pack([batch]))


@pytest.mark.parametrize("wrong", ["10", "ten seconds", "10 parsecs", "", None, True])
def test_durations_say_what_they_take(wrong):
    with pytest.raises(QueryError, match="watermark must be a length of time such as '10 seconds'"):
        as_duration("watermark", wrong)


def test_durations_are_not_negative():
    with pytest.raises(QueryError, match="ttl must not be negative, got -1"):
        as_duration("ttl", -1)
