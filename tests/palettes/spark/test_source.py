"""DataFrames and streams as sources of local queries, and outputs as DataFrames."""

from itertools import islice
from operator import add
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from millstream.palettes.spark import dataframe, source
from millstream.palettes.timesync import Reorder
from millstream.processors import Apply, Cumulate, E, QueryError

from .streams import deliver, stream


@pytest.fixture(scope="module")
def frame(spark):
    return spark.range(0, 5000, 1, 4).select(((F.col("id") * 37) % 5000).alias("t"), F.col("id").alias("n"))


def test_source_gives_rows_in_order_as_often_as_it_is_asked(frame):
    ordered = source(frame, order_by="t")
    events = list(ordered)
    assert [e["t"] for e in events] == list(range(5000))
    assert all(e["n"] * 37 % 5000 == e["t"] for e in events)
    *_, total = ordered | Apply(E.n) | Cumulate(add)
    assert total == 5000 * 4999 // 2


def test_source_gives_batches_and_stops_when_its_reader_does(frame):
    batches = list(islice(source(frame, batches=True), 2))
    assert all(isinstance(b, pa.RecordBatch) and b.schema.names == ["t", "n"] for b in batches)
    assert list(islice(source(frame, order_by=["t"]), 3))[-1]["t"] == 2


def test_source_reads_a_stream_through_a_bounded_queue(spark, tmp_path):
    for number in range(3):
        deliver(tmp_path / "in", number, [("ann", 10.0 * number + (k * 7) % 12, k) for k in range(12)])
    events = source(stream(spark, tmp_path / "in"), "t", trigger={"availableNow": True})
    times = [e["t"] for e in events | Reorder(5, time=E.t)]
    assert times == sorted(10.0 * number + k for number in range(3) for k in range(12))
    endless = iter(source(stream(spark, tmp_path / "in"), batches=True))
    assert next(endless).num_rows == 12
    endless.close()
    assert not spark.streams.active


def test_source_of_a_stream_that_fails_raises_after_what_came_before(spark, tmp_path):
    deliver(tmp_path / "in", 0, [("ann", 1.0, 1)])
    deliver(tmp_path / "in", 1, [("ann", 2.0, 0)])
    failing = stream(spark, tmp_path / "in").select("t", F.assert_true(F.col("n") > 0, "none left"))
    events = iter(source(failing, trigger={"availableNow": True}))
    assert next(events)["t"] == 1.0
    with pytest.raises(Exception, match="none left"):
        next(events)


def test_source_says_what_is_wrong(frame):
    with pytest.raises(QueryError, match="source, order_by: there is no column 'x', only t, n"):
        source(frame, "x")
    with pytest.raises(QueryError, match="trigger and checkpoint are for streams"):
        source(frame, trigger={"once": True})


class Total(NamedTuple):
    user: str
    sum: float


def test_dataframe_takes_outputs_of_any_type(spark):
    assert dataframe(spark, iter([1, 2, None])).collect() == [(1,), (2,), (None,)]
    made = dataframe(spark, [Total("ann", 1.5), Total("bob", 2.0)])
    assert made.schema.simpleString() == "struct<user:string,sum:double>"
    assert made.collect() == [("ann", 1.5), ("bob", 2.0)]
    rows = dataframe(spark, ({"a": k, "b": [k]} for k in range(25_000)), "a bigint, b array<bigint>")
    assert rows.where("a = b[0]").count() == 25_000
    assert dataframe(spark, [], "boolean").count() == 0
