"""`monitor_stream`: a query over a stream, one trace for each key, its state in Spark's state store.

::

    rows ── pack ──(shuffle by buckets of keys)── host ── unpack ── outputs

`packets` says what is packed and why, `hosts` where records are kept, `buckets` how, `keyed` what is done
with one. Where it
can be, Spark's column with the watermark is dropped before the host, so that Spark does not drop late rows:
they are seen, counted, and given out if wanted. (applyInPandasWithState insists on the column; there Spark
drops packets if all rows that one task packed together are late, and counts them itself.)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from typing import Any

from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.processors import Query, QueryError, as_query
from millstream.processors.errors import shorten
from millstream.processors.graph import flatten

from .batch import declared_type
from .checks import as_names, check_key, check_travels
from .durations import TimeColumn, as_duration
from .envoy import Envoy
from .hosts import Host, group_function, group_type
from .keyed import Monitor
from .packets import BUCKET, HASH, MOMENT, PACKET, Pack, Unpack
from .passing import timed_nodes
from .schema import check_columns, spark_type
from .session import ROCKSDB

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
#: Spark's mark on a column that has a watermark
WATERMARK = "spark.watermarkDelayMs"
#: a column of our own: how many events were late
COUNT = "__late"
OBSERVED = "monitor_stream"
PACKETS = T.StructType().add(BUCKET, "integer").add(PACKET, "binary").add(MOMENT, "timestamp")
HOSTS = ("transformWithState", "applyInPandasWithState")
#: buckets that keys are put into. Never changes: a checkpoint is bound to it
BUCKETS = 256


def monitor_stream(
    stream: DataFrame,
    query: Any,
    *,
    key: str | Sequence[str],
    time: str,
    watermark: Any,
    returns: Any = None,
    order_by: str | Sequence[str] = (),
    late: str = "drop",
    timeout: Any = None,
    ttl: Any = None,
    host: str | None = None,
) -> DataFrame:
    """Run a query on each key's events of a stream, in the order of their times.

    Parameters
    ----------
    stream
        A streaming DataFrame; its rows are the events, as dicts. (On a DataFrame that is not streaming use
        `monitor`.)
    query
        A query with one input and one output.
    key
        The column, or columns, whose values have a trace each.
    time
        The column that tells an event's time: timestamps, or numbers of seconds.
    watermark
        How much older than the newest row of the stream an event may come: ``"10 seconds"``, a timedelta or
        seconds. So long an event waits to be put in order.
    returns
        Type of the outputs: a Spark type, a text like ``"array<int>"`` or a Python type. None if the query
        declares it.
    order_by
        Further columns that order events of the same time; without them these keep the order they come in.
    late
        Events that come later than the watermark allows are counted, and dropped (``"drop"``) or given in
        rows of their own in a column `late` (``"side"``).
    timeout
        The trace of a key ends, with what the query gives at the end, that long after its last event.
    ttl
        Or it is forgotten that long after its last event, without a word.
    host
        ``"transformWithState"`` (what is taken if the session's state store is RocksDB) or
        ``"applyInPandasWithState"``.

    Returns
    -------
    A streaming DataFrame with the key, the time at which an output came, and the output; write it in append
    mode. The progress of the streaming query tells the number of late events of each micro-batch
    (``query.lastProgress.observedMetrics["monitor_stream"]``).
    """
    query, keys, ties = as_query(query), as_names(key, "key"), as_names(order_by, "order_by")
    column = _check(stream, query, (*keys, *ties), keys, time, late)
    life = _life(timeout, ttl)
    monitor = Monitor(
        query,
        tuple(stream.columns),
        column,
        tuple(map(stream.columns.index, ties)),
        None if life is None else column.span(life),
        ends=ttl is None,
        columns=stream.schema.simpleString(),
    )
    kind = declared_type(query) if returns is None else spark_type(returns)
    if kind is None:
        raise QueryError(
            f"monitor_stream: say with returns= what type the outputs of {shorten(query)} have, such as int "
            "or 'array<string>'; a stream has no sample to look at"
        )
    delay = f"{round(as_duration('watermark', watermark).total_seconds() * 1000)} milliseconds"
    hashed = stream.withColumn(HASH, F.xxhash64(*keys))
    pack = Pack(monitor.names, keys, column, BUCKETS)
    packed = hashed.mapInArrow(pack, PACKETS).withWatermark(MOMENT, delay)
    hosted = _hosted(packed, monitor, T.StructType([stream.schema[k] for k in keys]), _host(stream, host))
    return _unpacked(
        hosted, Unpack(_result(stream.schema, keys, time, kind, late), keys, monitor.names, column)
    )


def _life(timeout: Any, ttl: Any) -> timedelta | None:
    """Return how long a trace lives after its last event."""
    if timeout is not None and ttl is not None:
        raise QueryError("monitor_stream: give timeout (the trace ends) or ttl (it is forgotten), not both")
    if timeout is None:
        return None if ttl is None else as_duration("ttl", ttl)
    return as_duration("timeout", timeout)


def _result(
    schema: T.StructType, keys: Sequence[str], time: str, kind: T.DataType, late: str
) -> T.StructType:
    """Return the columns of the result, and one with the number of late events."""
    fields = [*(schema[k] for k in keys), schema[time], T.StructField("output", kind)]
    result = T.StructType([*fields, T.StructField(COUNT, T.LongType())])
    return result.add("late", schema) if late == "side" else result


def _unpacked(hosted: DataFrame, unpack: Unpack) -> DataFrame:
    """Return the rows of packets, late events counted on their way."""
    rows = hosted.mapInArrow(unpack, unpack.schema)
    counted = rows.observe(OBSERVED, F.coalesce(F.sum(COUNT), F.lit(0)).alias("late"))
    return (counted if unpack.side else counted.where(F.col(COUNT) == 0)).drop(COUNT)


def _check(
    stream: DataFrame, query: Query, named: Sequence[str], keys: Sequence[str], time: str, late: str
) -> TimeColumn:
    """Say what is wrong before anything runs; return the column of times."""
    if not stream.isStreaming:
        raise QueryError("monitor_stream: this DataFrame is not a stream; use monitor")
    if query.arity != (1, 1):
        raise QueryError(
            f"monitor_stream: expected a query with one input and one output, got {shorten(query)} with "
            f"{query.arity[0]} and {query.arity[1]}"
        )
    if late not in ("drop", "side"):
        raise QueryError(f"monitor_stream: late must be 'drop' or 'side', got {late!r}")
    check_columns(stream.schema, (*named, time), "monitor_stream")
    for name in keys:
        check_key(name, stream.schema[name].dataType)
    check_travels(query)
    for name in ("output", "late"):
        if name in (*keys, time):
            raise QueryError(f"monitor_stream: the result has a column {name!r} of its own; rename yours")
    if any(WATERMARK in field.metadata for field in stream.schema.fields):
        raise QueryError("monitor_stream: the stream has a watermark already; give it here, with watermark=")
    column = TimeColumn(time, stream.schema[time].dataType)
    column.check()
    _warn(query)
    return column


def _warn(query: Query) -> None:
    """Say so if a processor keeps time that cannot be told from the stream's."""
    nodes = flatten(query.graph)[0].nodes
    for n in timed_nodes(query)[1]:
        warnings.warn(
            f"monitor_stream: {nodes[n]!r} does not take the rows of the stream themselves, or meets other "
            "streams event by event, so the passing of time is not known to it: what is due there comes with "
            "the key's next event",
            stacklevel=4,
        )
    for node in nodes:
        if _keeps_time(getattr(node, "inner", None)):
            warnings.warn(
                f"monitor_stream: the passing of time is not known inside {shorten(node)}: what is due there "
                "comes with its next event; what a Slice is made by can be part of key= instead",
                stacklevel=4,
            )


def _keeps_time(query: Any) -> bool:
    """Tell whether there is a processor in a query, or in one inside it, that keeps time."""
    if not isinstance(query, Query):
        return False
    nodes = flatten(query.graph)[0].nodes
    return any(timed_nodes(query)) or any(_keeps_time(getattr(node, "inner", None)) for node in nodes)


def _host(stream: DataFrame, host: str | None) -> str:
    """Return which of Spark's ways to keep state is used."""
    if host not in (None, *HOSTS):
        raise QueryError(f"monitor_stream: host must be {' or '.join(map(repr, HOSTS))}, got {host!r}")
    provider = stream.sparkSession.conf.get(PROVIDER, "")
    rows = hasattr(GroupedData, HOSTS[0]) and find_spec("google.protobuf") is not None
    capable = rows and "RocksDB" in str(provider)
    if host == HOSTS[0] and not capable:
        raise QueryError(
            "monitor_stream: transformWithState needs Spark 4.1, the package protobuf, and RocksDB as state "
            f"store: set {PROVIDER} to {ROCKSDB} before the stream starts (it is {provider})"
        )
    return host or HOSTS[not capable]


def _hosted(packed: DataFrame, monitor: Monitor, key: T.StructType, host: str) -> DataFrame:
    """Return the packets of outcomes."""
    plain = packed.drop(MOMENT)
    if host == HOSTS[0]:
        groups, processor = plain.groupBy(BUCKET), Envoy(partial(Host, monitor, BUCKETS), key)
        return groups.transformWithState(processor, plain.schema, "Append", "EventTime")
    function, groups = group_function(monitor, BUCKETS), packed.groupBy(BUCKET)
    return groups.applyInPandasWithState(
        function, plain.schema, group_type(key), "Append", "EventTimeTimeout"
    )
