"""`source`: DataFrames and streams as sources of local queries.

Rows cross into this process as Arrow batches, in bytes: Spark's own local iterator makes an object of each
row, which is slower. They come one partition after the other, so this process holds one partition
at most, whatever the size of the DataFrame. A stream is read through a queue that holds a few batches; when
it is full, Spark waits.
"""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator
from threading import Event
from typing import Any

import pyarrow as pa
from attrs import field, frozen
from pyspark.sql import DataFrame

from millstream.processors import QueryError, Source
from millstream.processors.errors import at_least

from .checks import as_names
from .events import batch_events
from .schema import check_columns

BYTES = "batch"
#: how many batches of a stream wait for the query that reads them
WAITING = 4
END = object()


def in_bytes(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield each Arrow batch as a row with its bytes."""
    for batch in batches:
        if batch.num_rows:
            out = pa.BufferOutputStream()
            with pa.ipc.new_stream(out, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_arrays([pa.array([out.getvalue().to_pybytes()], pa.binary())], [BYTES])


def local_batches(df: DataFrame) -> Iterator[Any]:
    """Yield the Arrow batches of a DataFrame, in its order, one partition at a time."""
    for row in df.mapInArrow(in_bytes, f"{BYTES} binary").toLocalIterator(prefetchPartitions=True):
        yield from pa.ipc.open_stream(pa.py_buffer(row[0]))


@frozen(eq=False)
class DataFrameSource(Source):
    """The rows of a DataFrame as events; computed anew whenever it is iterated. Made by `source`."""

    df: DataFrame
    order_by: tuple[str, ...] = ()
    batches: bool = False

    def __iter__(self) -> Iterator[Any]:
        df = self.df.orderBy(*self.order_by) if self.order_by else self.df
        for batch in local_batches(df):
            if self.batches:
                yield batch
            else:
                yield from batch_events(batch, batch.schema.names)


@frozen(eq=False)
class StreamSource(Source):
    """The rows of a stream as events, until it ends or its reader stops. Made by `source`."""

    df: DataFrame
    order_by: tuple[str, ...] = ()
    batches: bool = False
    options: dict[str, str] = field(factory=dict)
    trigger: dict[str, Any] = field(factory=dict)
    waiting: int = field(default=WAITING, validator=at_least(1))

    def __iter__(self) -> Iterator[Any]:
        events: queue.Queue[Any] = queue.Queue(self.waiting)
        stopped = Event()

        def take(df: DataFrame, number: int) -> None:
            for batch in local_batches(df.orderBy(*self.order_by) if self.order_by else df):
                while not stopped.is_set():
                    try:
                        events.put(batch, timeout=0.1)
                        break
                    except queue.Full:
                        continue

        writer = self.df.writeStream.foreachBatch(take).options(**self.options)
        running = writer.trigger(**self.trigger).start() if self.trigger else writer.start()
        try:
            for batch in _until_end(events, running):
                yield from (batch,) if self.batches else batch_events(batch, batch.schema.names)
        finally:
            stopped.set()
            running.stop()


def _until_end(events: queue.Queue[Any], running: Any) -> Iterator[Any]:
    """Yield what comes out of the queue until the streaming query has ended; raise if it has failed."""
    while True:
        try:
            yield events.get(timeout=0.05)
        except queue.Empty:
            if not running.isActive and events.empty():
                if running.exception() is not None:
                    raise running.exception() from None
                return


def source(
    df: DataFrame,
    order_by: str | Iterable[str] = (),
    *,
    batches: bool = False,
    trigger: dict[str, Any] | None = None,
    checkpoint: str | None = None,
) -> Source:
    """Return a DataFrame or a stream as a source: ``for output in source(df, order_by="t") | query``.

    Parameters
    ----------
    df
        Its rows are the events, as dicts.
    order_by
        Columns to sort by. A stream is sorted within each micro-batch only: put `Reorder` in front of a query
        that needs more.
    batches
        Give Arrow batches instead of rows, for columnar queries.
    trigger
        For a stream: when Spark looks for more, such as ``{"availableNow": True}`` (and then it ends).
    checkpoint
        For a stream: where Spark notes how far it has been read. A micro-batch counts as read when it has
        been handed over, so after a crash the query's own state must be taken from where it was saved.
    """
    names = as_names(order_by, "order_by")
    check_columns(df.schema, names, "source, order_by")
    if not df.isStreaming:
        if trigger is not None or checkpoint is not None:
            raise QueryError("source: trigger and checkpoint are for streams, and this DataFrame is not one")
        return DataFrameSource(df, names, batches)
    if _is_remote(df):
        raise QueryError(
            "source: over Spark Connect a stream's rows stay on the server and do not come here; write the "
            "stream to a table and read that, or use monitor_stream"
        )
    options = {} if checkpoint is None else {"checkpointLocation": checkpoint}
    return StreamSource(df, names, batches, options, trigger or {})


def _is_remote(df: DataFrame) -> bool:
    return type(df).__module__.startswith("pyspark.sql.connect")
