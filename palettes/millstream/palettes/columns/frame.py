"""Frame: a batch of events as columns, and what the events are: rows, tuples, or plain values.

A record batch stands for one dict per row. Where a query gives numbers or texts instead of rows, its batches
have the one column ``value``, and where it gives tuples a column for each place; the schema's metadata says
so under the key ``millstream``, so that what comes out of one query is what goes into the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .column import Array, Chosen, Column, concatenated, of_arrow, of_list

#: the key of the metadata that tells what the events of a batch are, and its values
KEY = b"millstream"
ROWS, TUPLES, VALUES = "rows", "tuples", "values"
PAIR = ("key", "value")


class Frame:
    """A batch of events; a column is made when it is first asked for."""

    __slots__ = ("_columns", "_make", "length", "names", "shape")

    def __init__(
        self,
        shape: str,
        names: tuple[str, ...],
        length: int,
        columns: list[Column | None],
        make: Callable[[int], Column] | None = None,
    ) -> None:
        self.shape, self.names, self.length = shape, names, length
        self._columns, self._make = columns, make

    def column(self, place: int) -> Column:
        """Return one column."""
        found = self._columns[place]
        if found is None:
            assert self._make is not None
            found = self._columns[place] = self._make(place)
        return found

    @property
    def columns(self) -> list[Column]:
        """Return all columns."""
        return [self.column(k) for k in range(len(self.names))]

    def _mapped(self, length: int, change: Callable[[Column], Column]) -> Frame:
        return Frame(
            self.shape, self.names, length, [None] * len(self.names), lambda k: change(self.column(k))
        )

    def take(self, places: Array) -> Frame:
        """Return the events at some places."""
        return self._mapped(len(places), lambda c: c.take(places))

    def chosen(self, these: Chosen) -> Frame:
        """Return some of the events."""
        return self if these.count == self.length else self._mapped(these.count, lambda c: c.chosen(these))

    def slice(self, begin: int, end: int) -> Frame:
        """Return the events from one place to another."""
        begin, end = min(begin, self.length), min(end, self.length)
        if begin == 0 and end == self.length:
            return self
        return self._mapped(max(0, end - begin), lambda c: c.slice(begin, end))

    def events(self) -> list[Any]:
        """Return the events as Python objects."""
        lists = [c.pylist() for c in self.columns]
        if self.shape == VALUES:
            return lists[0]
        if self.shape == TUPLES:
            return list(zip(*lists, strict=True)) if lists else [()] * self.length
        names = self.names
        return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)] or (
            [{} for _ in range(self.length)]
        )

    def schema(self) -> pa.Schema:
        """Return the schema of the record batch."""
        marks = None if self.shape == ROWS else {KEY: self.shape.encode()}
        fields = [pa.field(n, c.arrow().type) for n, c in zip(self.names, self.columns, strict=True)]
        return pa.schema(fields, marks)

    def batch(self) -> pa.RecordBatch:
        """Return the record batch."""
        return pa.RecordBatch.from_arrays([c.arrow() for c in self.columns], schema=self.schema())


def of_values(column: Column) -> Frame:
    """Return the frame of a column whose values are the events themselves."""
    return Frame(VALUES, ("value",), len(column), [column])


def of_pairs(first: Column, second: Column) -> Frame:
    """Return the frame of pairs, as slices give them."""
    return Frame(TUPLES, PAIR, len(first), [first, second])


def described(schema: pa.Schema) -> tuple[str, tuple[str, ...]]:
    """Return what a schema says about the events: their shape, and the names of columns."""
    marks = schema.metadata
    return ROWS if marks is None or KEY not in marks else marks[KEY].decode(), tuple(schema.names)


def of_batch(batch: pa.RecordBatch, shape: str = "", names: tuple[str, ...] = ()) -> Frame:
    """Return the frame of a record batch or a table, given what its schema says, if that is known already."""
    if not shape:
        shape, names = described(batch.schema)
    return Frame(shape, names, batch.num_rows, [None] * len(names), lambda k: of_arrow(batch.column(k)))


def of_events(events: list[Any], like: pa.Schema | None = None) -> Frame:
    """Return the frame of Python events; `like` tells names and types where they are known.

    >>> of_events([{"a": 1}, {"a": 2}]).batch().to_pydict()
    {'a': [1, 2]}
    >>> of_events([3, 4]).batch().to_pydict()
    {'value': [3, 4]}
    """
    first = events[0] if events else None
    if isinstance(first, dict) and all(isinstance(e, dict) for e in events):
        names = tuple(like.names) if like is not None else tuple(dict.fromkeys(n for e in events for n in e))
        lists = [[e.get(n) for e in events] for n in names]
        made: list[Column | None] = [of_list(x, t) for x, t in zip(lists, _types(like, names), strict=True)]
        return Frame(ROWS, names, len(events), made)
    if type(first) is tuple and all(type(e) is tuple and len(e) == len(first) for e in events):
        names = tuple(like.names) if like is not None else _places(len(first))
        lists = [list(column) for column in zip(*events, strict=True)]
        made = [of_list(x, t) for x, t in zip(lists, _types(like, names), strict=True)]
        return Frame(TUPLES, names, len(events), made)
    return of_values(of_list(events, like.field(0).type if like is not None and len(like) == 1 else None))


def _types(like: pa.Schema | None, names: tuple[str, ...]) -> list[pa.DataType | None]:
    return [None] * len(names) if like is None else list(like.types)


def _places(width: int) -> tuple[str, ...]:
    return PAIR if width == 2 else tuple(map(str, range(width)))


def joined(frames: Sequence[Frame]) -> Frame:
    """Return one frame of several, one after the other."""
    frames = [f for f in frames if f.length] or list(frames[:1])
    first = frames[0]
    if len(frames) == 1:
        return first
    if any(f.names != first.names or f.shape != first.shape for f in frames):
        return of_events([e for f in frames for e in f.events()])
    length = sum(f.length for f in frames)
    return Frame(
        first.shape,
        first.names,
        length,
        [None] * len(first.names),
        lambda k: concatenated([f.column(k) for f in frames]),
    )


def nowhere() -> Array:
    """Return no places at all."""
    return np.empty(0, np.intp)
