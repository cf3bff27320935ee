"""What a checkpoint of `monitor_stream` knows of each key, and the state of one, to go on with elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

import pyarrow as pa
from attrs import frozen
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.processors import Query, Saved, encode
from millstream.processors.codec import StateError
from millstream.processors.errors import shorten

from .codec import load_state, maker
from .envoy import SLOTS
from .events import as_column
from .keyed import COLUMNS


def read_state(
    spark: SparkSession, checkpoint: str | PathLike[str], *, batch: int | None = None, operator: int = 0
) -> DataFrame:
    """Return the state of each key in a checkpoint, read by Spark's state data source.

    Columns: the key, the events its query has taken, the late ones, how many wait for the watermark, the
    watermark at which there is something to do, the state itself as bytes, and which query made it.

    Parameters
    ----------
    spark
        The session.
    checkpoint
        The checkpointLocation of the stream.
    batch
        Number of the micro-batch after which to look; the last one if None.
    operator
        Number of the stateful operator, if the stream has several.
    """
    options = {"operatorId": operator} | ({} if batch is None else {"batchId": batch})
    try:
        stored = _read(spark, checkpoint, {**options, "stateVarName": SLOTS}).select("user_map_value.*")
    except PySparkException as error:
        if "stateVarName" not in str(error):
            raise
        stored = _read(spark, checkpoint, options)  # the other host has one state, without a name
        state = "value.groupState" if "groupState" in stored.schema["value"].simpleString() else "value"
        stored = stored.select(f"{state}.*")
    key: Any = stored.schema["key"].dataType
    schema = T.StructType([*key.fields, *COLUMNS.fields]).add("made_by", "string")
    rows = stored.select("made_by", "records").mapInArrow(Unfold(schema), schema)
    return rows.withColumn("wake", F.timestamp_millis("wake"))


def saved_state(row: Any, query: Query) -> bytes:
    """Return the state of a key, a row of `read_state`, as `encode` writes a state of its query.

    So ``run.load(decode(saved_state(row, query), query))`` goes on elsewhere: plainly, on columns, or with
    workers. What waits for the watermark is not part of it: the next event is number ``row.events``.
    """
    if row["made_by"].split(":")[:2] != maker(query, "").split(":")[:2]:
        raise StateError(f"the state of {shorten(row)} was made by another query than {shorten(query)}")
    values, _, _ = load_state(row["state"])
    return encode(Saved(query.graph.fingerprint, (row["events"],), False, values), query)


def _read(spark: SparkSession, checkpoint: str | PathLike[str], options: dict[str, Any]) -> DataFrame:
    return spark.read.format("statestore").options(**options).load(str(checkpoint))


@frozen
class Unfold:
    """Make rows of slots: one for each key."""

    schema: T.StructType

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        parts = len(self.schema) - len(COLUMNS) - 1
        for batch in batches:
            rows = [
                (*(key if parts > 1 else [key]), *entry[1:], slot["made_by"])
                for slot in batch.to_pylist()
                for key, entry in load_state(slot["records"]).items()
            ]
            columns = list(map(list, zip(*rows, strict=True)))
            types = [field.dataType for field in self.schema]
            arrays = [as_column(values, kind) for values, kind in zip(columns, types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, self.schema.names)
