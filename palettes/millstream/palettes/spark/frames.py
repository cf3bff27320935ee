"""`dataframe`: what a local query gives, as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from more_itertools import chunked
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from .events import as_column
from .schema import infer_type, spark_type

#: outputs that are brought into columns at once
CHUNK = 10_000


def dataframe(spark: SparkSession, outputs: Iterable[Any], returns: Any = None) -> DataFrame:
    """Return outputs as a DataFrame: one column `output`, or the fields as columns if they are records.

    The outputs are kept as columns, not as Python objects, while they are collected.

    Parameters
    ----------
    spark
        The session.
    outputs
        Any iterable, such as ``query(events)``.
    returns
        Their type: a Spark type, a text (``"user string, n bigint"`` for dicts) or a Python type. Found from
        the first of them if None.
    """
    chunks = chunked(outputs, CHUNK)
    first = next(chunks, [])
    kind = infer_type(first) if returns is None else spark_type(returns)
    arrays = [as_column(chunk, kind) for chunk in (first, *chunks)]
    column = pa.chunked_array(arrays, arrays[0].type)
    if isinstance(kind, T.StructType):
        return spark.createDataFrame(pa.Table.from_struct_array(column), kind)
    return spark.createDataFrame(pa.table({"output": column}), T.StructType([T.StructField("output", kind)]))
