"""monitor_stream beside the plain transformWithState example, a counter for each key; one run, one session.

Both read the same files in the same micro-batches, from the same state store, and write nothing. What is
timed is the steady state: neither the first micro-batch (processes start) nor the last ones, which bring
almost no events. monitor_stream does more: it puts events in order, holds them until the watermark, keeps
timers, and gives the count at each event. Nothing here asserts a time; the counts are checked.
"""

import tempfile
from pathlib import Path

import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from millstream.lab.measure import rate, table
from millstream.palettes.spark import local_session, monitor_stream
from millstream.processors import Count

pytestmark = [pytest.mark.bench, pytest.mark.spark]
EVENTS, BATCHES = 300_000, 6
SCHEMA = "user string, t timestamp, n bigint"


class Counter(StatefulProcessor):
    """The example of Spark's documentation, with rows."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n bigint")

    def handleInputRows(self, key, rows, timerValues):
        n = self.count.get()[0] if self.count.exists() else 0
        for _ in rows:
            n += 1
        self.count.update((n,))
        yield Row(user=key[0], n=n)

    def close(self):
        pass


def plain(stream):
    return stream.groupBy("user").transformWithState(Counter(), "user string, n bigint", "Append", "None")


def ours(stream):
    return monitor_stream(stream, Count(), key="user", time="t", watermark="1 second", returns=int)


@pytest.fixture(scope="module")
def spark():
    session = local_session(2)
    yield session
    session.stop()


def write(spark, folder, keys):
    """Write the micro-batches, each two files; a last one brings the watermark beyond all events."""
    size = EVENTS // BATCHES
    for k in range(BATCHES + 1):
        begin, count = (k * size, size) if k < BATCHES else (2 * EVENTS, 2)
        rows = spark.range(begin, begin + count, 1, 2)
        columns = [
            F.concat(F.lit("user "), F.pmod(F.hash("id"), F.lit(keys))).alias("user"),
            F.timestamp_millis(F.lit(1_700_000_000_000) + F.col("id") * 10).alias("t"),
            F.col("id").alias("n"),
        ]
        rows.select(*columns).write.mode("append").parquet(str(folder))


def run(spark, folder, build, sink="noop"):
    """Run all micro-batches; return the rows a second of those in the middle."""
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 2).parquet(str(folder))
    with tempfile.TemporaryDirectory() as place:
        writer = build(stream).writeStream.format(sink).queryName(f"counts_{build.__name__}")
        started = (
            writer.option("checkpointLocation", place).outputMode("append").trigger(availableNow=True).start()
        )
        started.awaitTermination()
    middle = started.recentProgress[1:BATCHES]
    return sum(p.numInputRows for p in middle) / sum(p.batchDuration for p in middle) * 1000


def counted(spark, folder, build):
    """Return the sum of all users' greatest counts."""
    run(spark, folder, build, "memory")
    made = spark.table(f"counts_{build.__name__}")
    return made.groupBy("user").agg(F.max(made.columns[-1]).alias("n")).agg(F.sum("n")).first()[0]


@pytest.mark.parametrize("keys", [100, 1000, 5000])
def test_streaming_rate_beside_the_plain_counter(spark, tmp_path, capsys, keys):
    folder: Path = tmp_path / "in"
    write(spark, folder, keys)
    ways = {"transformWithState by hand": plain, "monitor_stream": ours}
    best = dict.fromkeys(ways, 0.0)
    for _ in range(2):
        for name, build in ways.items():
            best[name] = max(best[name], run(spark, folder, build))
    first = next(iter(best.values()))
    rows = [(f"{keys} keys, goal 1", "events/s", "to the first")]
    rows += [(name, rate(r), f"{r / first:.2f}") for name, r in best.items()]
    with capsys.disabled():
        print("\n" + table(rows))
    behind = counted(spark, folder, plain) - counted(spark, folder, ours)
    assert 0 <= behind <= 2, "all but the events after the watermark are counted"
