"""What goes into a columnar query and what comes out of it: record batches, checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import define, field

from millstream.processors import StreamError
from millstream.processors.errors import shorten

from .column import of_arrow
from .frame import Frame, described, of_batch, of_events, of_values


class BatchError(StreamError):
    """A batch that does not fit: no batch at all, other types than before, or events without an Arrow type.

    `place` tells the input or output; `position` how many events the input had taken.
    """


class BadBatch(Exception):
    """A problem with a batch."""


def as_batches(source: Iterable[Any]) -> Iterator[Any]:
    """Yield the batches of a source; a table or a frame is cut into its batches."""
    for item in source:
        if isinstance(item, pa.Table):
            yield from item.to_batches()
        else:
            yield item


def as_frame(batch: Any, schemas: dict[int, Any], port: int) -> Frame:
    """Return the frame of a batch, whose types must be those of the first one of its input."""
    if isinstance(batch, pa.RecordBatch):
        schema, known = batch.schema, schemas.get(port)
        if known is None:
            known = schemas[port] = schema, *described(schema)
        elif not schema.equals(known[0]):
            raise BadBatch(f"{changed(known[0], schema)}; cast the batches to one schema")
        return of_batch(batch, *known[1:])
    if isinstance(batch, (pa.Array, pa.ChunkedArray, np.ndarray)):
        return of_values(of_arrow(pa.array(batch) if isinstance(batch, np.ndarray) else batch))
    if hasattr(batch, "__arrow_c_stream__"):
        return of_batch(pa.table(batch))
    raise BadBatch(f"expected a record batch or an array of values, got {shorten(batch, 60)}")


def changed(before: pa.Schema, after: pa.Schema) -> str:
    """Return what is different about the schema of a batch."""
    for name in before.names:
        if name not in after.names:
            return f"column {name!r} is missing from a batch; the first one had it"
        old, new = before.field(name).type, after.field(name).type
        if old != new:
            return f"column {name!r} changes its type from {old} to {new} between batches"
    more = [name for name in after.names if name not in before.names]
    return (
        f"a batch has more columns than the first one: {', '.join(more)}" if more else "columns change order"
    )


@define(eq=False)
class Outlet:
    """One output: its batches have the schema of the first one."""

    schema: pa.Schema | None = None
    _names: tuple[str, ...] = ()
    _types: list[pa.DataType] = field(factory=list)

    def learn(self, frame: Frame) -> None:
        """Take the schema of a frame, if none is known."""
        if self.schema is None and all(c.kind != "o" for c in frame.columns):
            with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # objects of several types have no schema
                self._settle(frame.schema())

    def _settle(self, schema: pa.Schema) -> None:
        """Take a schema, unless nothing but nulls has been seen of some column."""
        if pa.null() not in schema.types:
            self.schema, self._names, self._types = schema, tuple(schema.names), schema.types

    def batches(self, frame: Frame) -> Sequence[pa.RecordBatch]:
        """Return the frame as a batch, none if it is empty."""
        if not frame.length:
            self.learn(frame)
            return ()
        try:
            arrays = [c.arrow() for c in frame.columns]
            if self._names == frame.names and [a.type for a in arrays] == self._types:
                return (pa.RecordBatch.from_arrays(arrays, schema=self.schema),)
            batch = frame.batch()
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise BadBatch(f"an output has no Arrow type: {error}") from error
        if self.schema is None:
            self._settle(batch.schema)
        elif not batch.schema.equals(self.schema):
            batch = self._cast(batch)
        return (batch,)

    def _cast(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        assert self.schema is not None
        try:
            arrays = [_cast(a, t) for a, t in zip(batch.columns, self.schema.types, strict=True)]
            return pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise BadBatch(
                f"{changed(self.schema, batch.schema)}, and cannot be converted: {error}"
            ) from error

    def of_events(self, events: list[Any]) -> Sequence[pa.RecordBatch]:
        """Return Python events as a batch, none if there are none."""
        return self.batches(of_events(events, self.schema)) if events else ()


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return an array in another type, if no value changes by it."""
    if pa.types.is_boolean(kind) and array.type not in (kind, pa.null()):
        raise ValueError(f"{array.type} is not {kind}")
    return array.cast(kind)
