"""monitor_stream on real streams: few of them, with many keys, because each micro-batch takes its time."""

import re
import sys
from functools import partial
from itertools import accumulate
from operator import add
from random import Random

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import types as T

from millstream.concurrency import PullGroup, ThreadManager
from millstream.palettes.columns import columnar
from millstream.palettes.slicer import Slice
from millstream.palettes.spark import monitor_stream, read_state, saved_state
from millstream.palettes.spark.durations import TimeColumn
from millstream.palettes.spark.keyed import Monitor
from millstream.palettes.windows import TimeWindow
from millstream.processors import Apply, Count, Cumulate, E, Filter, QueryError, StateError, decode, encode
from millstream.processors.elsewhere import load_at_home, save_at_home

from .streams import deliver, results, run, stream

#: each host, and what becomes of a key that is silent: its trace ends, or is forgotten
HOSTS = {"transformWithState": "timeout", "applyInPandasWithState": "ttl"}
USERS = [f"user {k}" for k in range(40)]


def windows():
    return TimeWindow(Count(), 10, every=10, time=E.t)


def options(host):
    return {
        "key": "user",
        "time": "t",
        "watermark": "15 seconds",
        "returns": int,
        "late": "side",
        HOSTS[host]: 100,
        "host": host,
    }


def batches(chance=7, count=3, size=120):
    """Micro-batches of events that are up to 10 seconds out of order; the last is far in the future."""
    random = Random(chance)
    rows = [(random.choice(USERS), 1 + k * 0.5 + random.uniform(0, 10), k) for k in range(count * size)]
    parts = [rows[k * size : (k + 1) * size] for k in range(count)]
    parts[2] = [*parts[2], ("user 1", 1.25, -1), ("unknown", 1.5, -2)]  # too late
    return [*parts, [("the end", 5000.0, 0)]]


def expected(query, rows, life, ends=True):
    """What each user's sorted events give when time passes and traces end, by the part without Spark."""
    outputs = {}
    for user in {row[0] for row in rows}:
        names = ("user", "t", "n")
        keyed = Monitor(query, names, TimeColumn("t", T.DoubleType()), life=life, ends=ends).start()
        record, _ = keyed.step(None, [row for row in rows if row[0] == user], 0)
        _, outcome = keyed.step(record, [], 4_985_000)
        if outcome.outputs:
            outputs[user] = sorted(zip(outcome.times, outcome.outputs, strict=True))
    return outputs


@pytest.fixture
def one_task(spark):
    """Streams of one task, for tests that do not depend on how many there are."""
    name = "spark.sql.shuffle.partitions"
    before = spark.conf.get(name)
    spark.conf.set(name, 1)
    yield
    spark.conf.set(name, before)


def failure(frame, folder):
    with pytest.raises(StreamingQueryException) as caught:
        run(frame, folder)
    return str(caught.value)


def test_checkpoint_is_for_one_query_but_its_states_go_on_plainly_on_columns_and_with_workers(
    spark, tmp_path, one_task
):
    query = Filter(E.n % 3 != 0) | Apply(E.n) | Cumulate(add)
    rows, source = [("ann", float(k), k) for k in range(1, 41)], tmp_path / "in"
    deliver(source, 0, rows[:25])
    asked = {"key": "user", "time": "t", "watermark": "3 seconds", "returns": int}
    run(monitor_stream(stream(spark, source), query, **asked), tmp_path)
    (row,) = read_state(spark, tmp_path / "checkpoint").collect()
    assert_states_go_on(row, query, [dict(zip(("user", "t", "n"), r, strict=True)) for r in rows])

    deliver(source, 1, rows[25:])
    text = failure(monitor_stream(stream(spark, source), Count(), **asked), tmp_path)
    assert "the checkpoint holds states of another query than Count()" in text
    wider = stream(spark, source, "user string, t double, n bigint, colour string")
    text = failure(monitor_stream(wider, query, **asked), tmp_path)
    assert "had other columns than now (struct<user:string,t:double,n:bigint,colour:string>)" in text
    run(monitor_stream(stream(spark, source), query, **asked), tmp_path)  # the right one goes on
    times, taken = zip(*((t, n) for _, t, n in rows if n % 3 and t <= 37), strict=True)
    assert results(spark, tmp_path)[0] == {"ann": list(zip(times, accumulate(taken), strict=True))}


def assert_states_go_on(row, query, events):
    """A state from Spark goes on in each way to run a query here."""
    assert 0 < row.events < 25
    state, out, at = saved_state(row, query), [], row.events
    with ThreadManager(1) as manager:
        for way in (query, columnar(query), PullGroup(query, manager), query):
            here = getattr(way, "into_rows", way.into)(out)
            load_at_home(here, way, decode(state, query))
            assert here.positions == (at,)
            part, at = events[at : at + 4], at + 4
            here.push_all([pa.RecordBatch.from_pylist(part)] if hasattr(here, "after") else part)
            state = encode(save_at_home(here, way), query)
    before = len(list(query(events[: row.events])))
    assert out == list(query(events[:at]))[before:]
    with pytest.raises(StateError, match="made by another query"):
        saved_state(row, Count())


@pytest.mark.parametrize("host", HOSTS)
def test_stream_equals_the_local_run_after_a_restart(spark, tmp_path, host):
    parts, source = batches(), tmp_path / "in"
    deliver(source, 0, parts[0])
    run(monitor_stream(stream(spark, source), windows(), **options(host)), tmp_path)
    state = read_state(spark, tmp_path / "checkpoint")
    assert state.columns == ["user", "events", "late", "waiting", "wake", "state", "made_by"]
    assert state.count() == len({row[0] for row in parts[0]})
    taken, waiting = state.selectExpr("sum(events)", "sum(waiting)").first()
    assert taken + waiting == 120
    assert taken > 0 < waiting
    for number, rows in enumerate(parts[1:], 1):
        deliver(source, number, rows)
    query = run(monitor_stream(stream(spark, source), windows(), **options(host)), tmp_path)
    outputs, late = results(spark, tmp_path)
    accepted = [row for part in parts for row in part if row[2] >= 0]
    assert outputs == expected(windows(), accepted, 100, HOSTS[host] == "timeout")
    assert late == {"user 1": [(1.25, -1)], "unknown": [(1.5, -2)]}
    assert sum(p.observedMetrics["monitor_stream"].late for p in query.recentProgress) == 2
    assert [row.user for row in read_state(spark, tmp_path / "checkpoint").collect()] == ["the end"]


def test_stream_failures_name_key_processor_and_event(spark, tmp_path, one_task):
    deliver(tmp_path / "in", 0, [("ann", 1.0, 1), ("bob", 2.0, 0), ("end", 99.0, 1)])
    query = Apply(lambda e: 1 // e["n"])
    frame = monitor_stream(
        stream(spark, tmp_path / "in"), query, key="user", time="t", watermark=1, returns=int
    )
    text = failure(frame, tmp_path)
    named = r"key 'bob': Apply\(.*\) failed on \{'user': 'bob', 't': 2.0, 'n': 0\} at input event 0"
    assert re.search(named, text)
    assert "ZeroDivisionError" in text


def test_stream_says_what_is_wrong_before_it_starts(spark, tmp_path):
    (tmp_path / "in").mkdir()
    frame = stream(
        spark, tmp_path / "in", "user string, t double, n bigint, at date, inside struct<a: int>, output int"
    )
    good = {"query": Count(), "key": "user", "time": "t", "watermark": 1, "returns": int}
    wrong = {
        "there is no column 'usr', only user, t, n": {"key": "usr"},
        "time: the column 'at' is date; expected timestamps": {"time": "at"},
        "key: the column inside is of type struct<a:int>; keys are strings": {"key": "inside"},
        "watermark must be a length of time": {"watermark": "soon"},
        "say with returns= what type the outputs of Apply(len) have": {"query": Apply(len), "returns": None},
        "cannot be sent to Spark's workers": {"query": Apply(partial(print, file=sys.stderr))},
        "late must be 'drop' or 'side', got 'error'": {"late": "error"},
        "give timeout (the trace ends) or ttl (it is forgotten)": {"timeout": 1, "ttl": 1},
        "host must be 'transformWithState' or": {"host": "flatMapGroupsWithState"},
        "the result has a column 'output' of its own; rename yours": {"key": "output"},
        "expected a query with one input and one output": {"query": Count() & Count()},
        "there is no column 'seq'": {"order_by": "seq"},
    }
    for message, change in wrong.items():
        with pytest.raises(QueryError, match=re.escape(message)):
            monitor_stream(frame, **{**good, **change})
    with pytest.raises(QueryError, match="is not a stream; use monitor"):
        monitor_stream(spark.range(1), **good)
    marked = frame.withColumn("at", frame["at"].cast("timestamp")).withWatermark("at", "1 second")
    with pytest.raises(QueryError, match="has a watermark already; give it here"):
        monitor_stream(marked, **good)
    with pytest.warns(UserWarning, match="AlignedTime.* does not take the rows of the stream themselves"):
        monitor_stream(frame, **{**good, "query": (lambda e: e) | windows()})
    with pytest.warns(
        UserWarning, match="passing of time is not known inside .*Slice.* part of key= instead"
    ):
        monitor_stream(frame, **{**good, "query": Slice(E.n, windows()) | Apply(len)})
