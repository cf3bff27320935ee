"""Spark: batch per key and one global trace, as ratios within one run. Prints; asserts results, never times.

The bare pass is what Spark itself needs: the same columns, shuffled and sorted alike, through `mapInArrow` to
Python and back untouched. EVENTS, HEAVY and LONG in the environment change the numbers of events.
"""

import os
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F

from millstream.lab.measure import rate, table
from millstream.palettes.ltl import Monitor, Verdict
from millstream.palettes.spark import batch_events, local_session, monitor, monitor_trace
from millstream.processors import Apply, Count, E, Filter

pytestmark = [pytest.mark.bench, pytest.mark.spark]
EVENTS = int(os.environ.get("EVENTS", 2_000_000))
HEAVY = int(os.environ.get("HEAVY", 120_000))
LONG = int(os.environ.get("LONG", 20_000_000))
ATOMS = {"a": E.kind == "req", "b": E.kind == "ok"}
ANSWERED = Monitor("G (a -> F b)", atoms=ATOMS, semantics="rv-ltl")


@pytest.fixture(scope="module")
def spark():
    session = local_session(2)
    yield session
    session.stop()


def write(path, events, keys, group=250_000):
    random = np.random.default_rng(keys)
    kinds = np.array(["req", "ok", "x"])
    with pq.ParquetWriter(
        path, pa.schema({"user": pa.string(), "t": pa.int64(), "kind": pa.string()})
    ) as target:
        for start in range(0, events, 1_000_000):
            count = min(1_000_000, events - start)
            columns = {
                "user": pa.array([f"u{k}" for k in random.integers(0, keys, count).tolist()]),
                "t": np.arange(start, start + count),
                "kind": kinds[random.integers(0, 3, count)],
            }
            target.write_table(pa.table(columns), row_group_size=group)
    return str(path)


def timed(action, times=3):
    """Return the shortest time of some runs, and the result."""
    best, result = float("inf"), None
    for _ in range(times):
        begun = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - begun)
    return best, result


def done(df):
    """Compute all rows and throw them away."""
    df.write.format("noop").mode("overwrite").save()


def bare(df, *columns):
    chosen = df.select("user", "t", *columns)
    shuffled = chosen.repartition(2, "user").sortWithinPartitions("t")
    return shuffled.mapInArrow(lambda batches: batches, chosen.schema)


@pytest.mark.parametrize("keys", [100, 10_000])
def test_batch_per_key_against_the_bare_pass(spark, tmp_path, capsys, keys):
    df = spark.read.parquet(write(tmp_path / "log.parquet", EVENTS, keys))
    queries = {"monitor": ANSWERED, "count": Count(), "python": Apply(lambda e: e["kind"]) | Count()}
    floor, _ = timed(lambda: done(bare(df, "kind")))
    rows = [("query, goal 70%", "events/s", "of the bare pass"), ("bare pass", rate(EVENTS / floor), "100%")]
    for name, query in queries.items():
        seconds, _ = timed(lambda q=query: done(monitor(df, q, key="user", order_by="t", returns=returns(q))))
        rows.append((name, rate(EVENTS / seconds), f"{floor / seconds:.0%}"))
    assert monitor(df, Count(), key="user", order_by="t").count() == EVENTS
    with capsys.disabled():
        print(f"\n{keys} keys, {EVENTS} events\n" + table(rows))


def returns(query):
    return None if isinstance(query, Monitor) else int


def heavy(microseconds):
    """Return a function of events that works about so long."""

    def work(loops):  # in here, so that it travels with the query
        total = 0
        for k in range(loops):
            total += k * k % 7
        return total

    million, _ = timed(lambda: work(1_000_000), 5)
    loops = int(microseconds / million)
    return lambda event: work(loops) >= 0 and event["kind"] == "req"


def half(path, query, part):
    """Run a query on every second user's events, in a process of its own."""
    events = [e for e in pq.read_table(path).to_pylist() if int(e["user"][1:]) % 2 == part]
    begun = time.perf_counter()
    deque(cloudpickle.loads(query)(events), maxlen=0)
    return time.perf_counter() - begun


def medians(ways, rounds=3):
    """Run the ways in turn, some rounds after one to get warm; return the median time of each."""
    times = [[timed(way, 1)[0] for way in ways.values()] for _ in range(rounds + 1)][1:]
    return dict(zip(ways, map(median, zip(*times, strict=True)), strict=True))


def greater_task(df):
    """Return the share of the rows that the greater of two tasks has: keys do not split evenly."""
    sizes = df.repartition(2, "user").groupBy(F.spark_partition_id()).count().collect()
    return max(r["count"] for r in sizes) / df.count()


def test_heavy_monitor_on_two_workers(spark, tmp_path, capsys):
    """What a job takes that computes nothing is told beside it: it weighs more the shorter the run is."""
    count, work = HEAVY, heavy(100)
    path = write(tmp_path / "log.parquet", count, 200)
    events = pq.read_table(path).to_pylist()
    query = Filter(work) | Count()
    nothing = Filter(lambda e: e["kind"] == "req") | Count()
    atom = Monitor("G (a -> F b)", atoms={"a": work, "b": E.kind == "ok"}, semantics="rv-ltl")
    df = spark.read.parquet(path)
    ranged = df.repartitionByRange(2, "t").sortWithinPartitions("t").persist()
    ranged.count()
    *_, expected = atom(events)
    assert monitor_trace(ranged, atom, order_by="t") == expected
    packed = cloudpickle.dumps(query)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        ways = {
            "one": lambda: deque(query(events), maxlen=0),
            "apart": lambda: list(pool.map(half, [path] * 2, [packed] * 2, range(2))),
            "keyed": lambda: done(monitor(df, query, key="user", order_by="t")),
            "nothing": lambda: done(monitor(df, nothing, key="user", order_by="t")),
            "trace alone": lambda: deque(atom(events), maxlen=0),
            "trace": lambda: monitor_trace(ranged, atom, order_by="t"),
        }
        took = medians(ways)
    one, alone = took["one"], took["trace alone"]
    rows = [
        (f"{count} events, {one / count * 1e6:.0f} us each", "seconds", "to one process", "goal"),
        ("one process", f"{one:.2f}", "1.00", ""),
        ("two processes, nothing shared", f"{took['apart']:.2f}", f"{one / took['apart']:.2f}", ""),
        ("for each key", f"{took['keyed']:.2f}", f"{one / took['keyed']:.2f}", "1.7"),
        ("for each key, a query that costs nothing", f"{took['nothing']:.2f}", "", ""),
        ("rows in the greater of two tasks", f"{greater_task(df):.1%}", "", ""),
        ("one process, a monitor", f"{alone:.2f}", "1.00", ""),
        ("one trace", f"{took['trace']:.2f}", f"{alone / took['trace']:.2f}", "1.6"),
    ]
    with capsys.disabled():
        print("\n" + table(rows))


def local_trace(path, query):
    """Run a query over a file, batch by batch, in one process."""

    def events():
        for batch in pq.ParquetFile(path).iter_batches(65_536, columns=["kind"]):
            yield from batch_events(batch, ["kind"])

    return deque(query(events()), maxlen=1)[0]


def test_cheap_global_trace_with_reading_the_file(spark, tmp_path, capsys):
    path = write(tmp_path / "log.parquet", LONG, 1000, group=1_000_000)
    query = Monitor("G !(a & X c)", atoms={"a": E.kind == "req", "c": E.kind == "never"})
    alone, expected = timed(lambda: local_trace(path, query), 2)
    df = spark.read.parquet(path)
    spread, verdict = timed(lambda: monitor_trace(df, query, order_by="t"), 2)
    assert verdict == expected == Verdict.UNKNOWN
    mixed = df.repartition(4)
    sorting, verdict = timed(lambda: monitor_trace(mixed, query, order_by="t"), 1)
    assert verdict == expected
    rows = [
        ("cheap trace, goal 1.0", "one process", "in order", "times", "in no order", "times"),
        (str(LONG), rate(LONG / alone), rate(LONG / spread), f"{alone / spread:.2f}", rate(LONG / sorting),
         f"{alone / sorting:.2f}"),
    ]  # fmt: skip
    with capsys.disabled():
        print("\n" + table(rows))
