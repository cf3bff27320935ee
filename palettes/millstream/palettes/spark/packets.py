"""Packets: the rows of a bucket of keys as one row, and outcomes as rows again.

What crosses between the JVM and Python row by row is most of the cost of a stateful operator. `Pack` joins
the rows of a bucket, those of one task that is, into one row with a pickle; `Unpack` makes columns of what
came out, many keys at a time.
"""

from __future__ import annotations

import math
import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from attrs import frozen
from pyspark.sql import types as T

from millstream.processors import MillstreamError

from .buckets import Arrived, Given
from .durations import TimeColumn
from .events import as_column, column_values

#: rows that `Pack` holds at most before it sends them on
PACKED = 50_000
#: the column with the hash of the key, and that with the bucket it is put into
HASH, BUCKET = "__hash", "__bucket"
#: the column of packets
PACKET = "__packet"
#: the column of the newest time among the rows that were packed together
MOMENT = "__newest"


@frozen
class Pack:
    """Join the rows of each bucket: its number, and a pickle of hash and rows of each key."""

    names: tuple[str, ...]
    key: tuple[str, ...]
    time: TimeColumn
    buckets: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        held: list[Any] = []
        count = 0
        for batch in batches:
            held.append(batch)
            count += batch.num_rows
            if count >= PACKED:
                yield from self.packed(held)
                held, count = [], 0
        if count:
            yield from self.packed(held)

    def packed(self, batches: list[Any]) -> Iterator[Any]:
        """Yield a batch of packets."""
        table = pa.Table.from_batches(batches).combine_chunks()
        batch = table.to_batches()[0]
        columns = [self.values(batch, name) for name in self.names]
        at = [self.names.index(name) for name in self.key]
        keys = columns[at[0]] if len(at) == 1 else list(zip(*(columns[k] for k in at), strict=True))
        groups: dict[int, dict[Any, tuple[int, list[Any]]]] = defaultdict(dict)
        rows_of: dict[Any, list[Any]] = {}
        hashes = batch.column(HASH).to_pylist()
        for key, number, row in zip(keys, hashes, zip(*columns, strict=True), strict=True):
            rows = rows_of.get(key)
            if rows is None:
                rows = rows_of[key] = []
                groups[number % self.buckets][key] = number, rows
            rows.append(row)
        packets = [pickle.dumps(group, pickle.HIGHEST_PROTOCOL) for group in groups.values()]
        arrays = [pa.array(groups, pa.int32()), pa.array(packets, pa.binary())]
        arrays.append(self.newest(columns, len(packets)))
        yield pa.RecordBatch.from_arrays(arrays, [BUCKET, PACKET, MOMENT])

    def newest(self, columns: list[list[Any]], count: int) -> Any:
        """Return a column with the newest time there is: no packet looks older than those beside it."""
        time = max(columns[self.names.index(self.time.name)])
        moment = math.floor(time * 1e6) if self.time.counted else time
        return pa.array([moment] * count, pa.int64()).cast(pa.timestamp("us", "UTC"))

    def values(self, batch: Any, name: str) -> list[Any]:
        """Return the values of a column; a time is a number, and neither it nor a key may be missing."""
        column = batch.column(name)
        if column.null_count and (name == self.time.name or name in self.key):
            role = "time" if name == self.time.name else "key"
            raise MillstreamError(
                f"monitor_stream: a row has no {role}: the column {name!r} is null; filter such rows out"
            )
        if name == self.time.name and not self.time.counted:
            moments = column.cast(pa.timestamp("us", column.type.tz))
            return moments.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
        values = column_values(column)
        if name == self.time.name and any(time != time for time in values):
            raise MillstreamError(f"monitor_stream: a row's time in the column {name!r} is not a number")
        return values


@frozen
class Unpack:
    """Make rows of outcomes: key, time, output, how many rows were late, and these if wanted."""

    schema: T.StructType
    key: tuple[str, ...]
    names: tuple[str, ...]
    time: TimeColumn

    @property
    def side(self) -> bool:
        """Whether late rows are given out."""
        return "late" in self.schema.names

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield self.unpacked(batch)

    def unpacked(self, batch: Any) -> Any:
        """Return the rows of a batch of packets."""
        keys: list[Any] = []
        origins: list[int] = []
        times: list[Any] = []
        outputs: list[Any] = []
        lates: list[int] = []
        sides: list[Any] = []
        outcomes = (o for packet in batch.column(PACKET).to_pylist() for o in pickle.loads(packet))
        for n, (key, said, given, late) in enumerate(outcomes):
            keys.append(key)
            extra = late if self.side else late[:1]
            origins += [n] * (len(given) + len(extra))
            times += said + [row[self.names.index(self.time.name)] for row in extra]
            outputs += given + [None] * len(extra)
            lates += [0] * len(given) + ([1] * len(extra) if self.side else [len(late)] * len(extra))
            sides += [None] * len(given) + list(extra)
        where = pa.array(origins, pa.int64())
        parts = [keys] if len(self.key) == 1 else list(map(list, zip(*keys, strict=True)))
        types = [self.schema[name].dataType for name in self.key]
        arrays = [as_column(part, kind).take(where) for part, kind in zip(parts, types, strict=True)]
        arrays.append(self.moments(times))
        arrays.append(as_column(outputs, self.schema["output"].dataType))
        arrays.append(pa.array(lates, pa.int64()))
        if self.side:
            arrays.append(self.rows(sides))
        return pa.RecordBatch.from_arrays(arrays, self.schema.names)

    def moments(self, times: list[Any]) -> Any:
        """Return the time column."""
        if self.time.counted:
            return as_column(times, self.time.kind, self.time.name)
        return pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC"))

    def rows(self, rows: list[Any]) -> Any:
        """Return the column of late rows."""
        events = [None if row is None else self.event(row) for row in rows]
        return as_column(events, self.schema["late"].dataType, "late")

    def event(self, row: tuple[Any, ...]) -> dict[str, Any]:
        """Return a late row as an event."""
        event = dict(zip(self.names, row, strict=True))
        return {**event, self.time.name: self.time.value(event[self.time.name])}


def arrivals(packets: Iterable[bytes]) -> Arrived:
    """Return the rows of each key in packets of a bucket, of several tasks perhaps."""
    arrived: dict[Any, tuple[int, list[Any]]] = {}
    for packet in packets:
        for key, (number, rows) in pickle.loads(packet).items():
            arrived.setdefault(key, (number, []))[1].extend(rows)
    return arrived


def packet(given: list[Given]) -> bytes:
    """Return outcomes as `Unpack` reads them."""
    return pickle.dumps(given, pickle.HIGHEST_PROTOCOL)
