"""`read_state`: what a checkpoint of `monitor_stream` knows of each key, as a DataFrame."""

from __future__ import annotations

from os import PathLike
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from .keyed import COLUMNS


def read_state(
    spark: SparkSession, checkpoint: str | PathLike[str], *, batch: int | None = None, operator: int = 0
) -> DataFrame:
    """Return the state of each key in a checkpoint, read by Spark's state data source.

    Columns: the key, the events its query has taken, the late ones, how many wait for the watermark, the
    watermark at which there is something to do, which query made it, and the state itself as bytes.

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
        stored = _read(spark, checkpoint, {**options, "stateVarName": "monitor"})
    except PySparkException as error:
        if "stateVarName" not in str(error):
            raise
        stored = _read(spark, checkpoint, options)  # the other host has one state, without a name
    state = "value.groupState" if "groupState" in stored.schema["value"].simpleString() else "value"
    fields = [field.split()[0] for field in COLUMNS.split(", ")]
    return stored.select("key.*", *(_column(state, name) for name in fields))


def _read(spark: SparkSession, checkpoint: str | PathLike[str], options: dict[str, Any]) -> DataFrame:
    return spark.read.format("statestore").options(**options).load(str(checkpoint))


def _column(state: str, name: str) -> Column:
    value = F.col(f"{state}.{name}")
    return (F.timestamp_millis(value) if name == "wake" else value).alias(name)
