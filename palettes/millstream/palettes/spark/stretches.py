"""What tasks do with the stretches of one trace: sum up, and tell the outputs from the state before.

See `trace` for how the passes fit together.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import length_hint
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import define, field, frozen
from pyspark import TaskContext
from pyspark.sql import types as T

from millstream.processors import MillstreamError, Query, Run, StreamError, chain
from millstream.processors.errors import shorten

from .cores import Chain, NoCore, TableCore
from .events import arrow_type, as_column, batch_events, column_values
from .walking import Walker

#: batches are gathered up to so many rows before they are summed up
GATHER = 200_000
#: what a task says, if it gives no rows
REPORT = "part int, data binary"


def partition() -> int:
    """Return the number of the partition that this task computes."""
    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


def report(value: Any) -> Any:
    """Return a value as the only row of a batch, with the number of the partition."""
    arrays = [pa.array([partition()], pa.int32()), pa.array([pickle.dumps(value)], pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["part", "data"])


@frozen
class Stretch:
    """What the first pass says about a partition."""

    part: int
    rows: int
    first: tuple[Any, ...]
    last: tuple[Any, ...]
    ordered: bool
    summary: Any


@frozen
class Reading:
    """How tasks read batches: by columns that make a dict, or by one whose values are the events."""

    order: tuple[str, ...]
    columns: tuple[str, ...]
    value: str | None

    def events(self, batch: Any) -> Sequence[Any]:
        """Return the events of a batch."""
        if self.value is None:
            return batch_events(batch, self.columns)
        return column_values(batch.column(self.value))

    def times(self, batch: Any, row: int) -> tuple[Any, ...]:
        """Return the values that order a row."""
        return tuple(column_values(batch.column(n).slice(row, 1))[0] for n in self.order)

    def is_ordered(self, batch: Any) -> bool:
        """Return whether the rows of a batch are in the order of time."""
        rows = batch.num_rows
        if len(self.order) == 1:
            column = batch.column(self.order[0])
            return not pc.any(pc.less(column.slice(1), column.slice(0, rows - 1))).as_py()
        times = list(zip(*(column_values(batch.column(n)) for n in self.order), strict=True))
        return all(a <= b for a, b in pairwise(times))

    def check(self, batch: Any) -> None:
        """Refuse events without a time."""
        for name in self.order:
            if batch.column(name).null_count:
                raise MillstreamError(
                    f"the time column {name} is null in some rows; "
                    f'leave them out: df.where("{name} is not null")'
                )


@frozen
class Summing:
    """The first pass: what a partition does to every state."""

    reading: Reading
    chain: Chain
    #: whether the events are letters already, which never become Python objects
    letters: bool = False

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        try:
            yield report(self.stretch(filter(len, batches)))
        except NoCore as reason:
            yield report(reason)

    def stretch(self, batches: Iterable[Any]) -> Stretch:
        """Return what a partition does."""
        core, first, last, ordered, rows = self.chain.core, (), (), True, 0
        summary, gathered, count = core.identity(), list[Any](), 0
        for batch in batches:
            self.reading.check(batch)
            begins = self.reading.times(batch, 0)
            ordered = ordered and self.reading.is_ordered(batch) and (not rows or last <= begins)
            first, last = first if rows else begins, self.reading.times(batch, batch.num_rows - 1)
            rows, count = rows + batch.num_rows, count + batch.num_rows
            gathered.append(batch)
            if count >= GATHER:
                summary, gathered, count = core.then(summary, self.summary(gathered)), [], 0
        if gathered:
            summary = core.then(summary, self.summary(gathered))
        return Stretch(partition(), rows, first, last, ordered, summary)

    def summary(self, batches: list[Any]) -> Any:
        """Return the summary of some batches."""
        core = self.chain.core
        if self.letters and isinstance(core, TableCore):
            letters = [b.column(self.reading.value).to_numpy(zero_copy_only=False) for b in batches]
            return Walker(core.table).summary(np.concatenate(letters))
        events = [e for b in batches for e in self.reading.events(b)]
        if not self.chain.before:
            return core.summary(events)
        with failing_events(events) as feed:
            return core.summary(list(chain(self.chain.before)(feed)))


@frozen
class Entry:
    """The state before a partition, and its first time, by which a changed partition is noticed."""

    state: Any
    first: tuple[Any, ...]


@frozen
class Telling:
    """The second pass: the outputs of a partition, from the state before it."""

    reading: Reading
    query: Query
    #: where the core stands; None if one task runs the whole trace
    chain: Chain | None
    entries: dict[int, Entry]
    kept: tuple[str, ...] = ()
    name: str = "output"
    kind: T.DataType = field(factory=T.NullType)
    schema: T.StructType = field(factory=T.StructType)

    def every(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield all outputs, beside the columns of their events."""
        telling = _Outputs(self)
        for batch in telling.batches(batches):
            yield telling.taken(batch)
        if telling.ys:  # at the end of the trace
            nulls = [pa.nulls(len(telling.ys), arrow_type(self.schema[n].dataType)) for n in self.kept]
            yield telling.beside(nulls)

    def last(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the last output, if there is one."""
        telling, found = _Outputs(self), list[Any]()
        for _ in telling.batches(batches):
            found = telling.ys[-1:] or found
            telling.clear()
        found = telling.ys[-1:] or found
        if found:
            yield report(found[0])


@define
class _Outputs:
    """The outputs of the batch under way, and the numbers of their events."""

    told: Telling
    ys: list[Any] = field(factory=list)
    at: list[int] = field(factory=list)
    count: int = 0
    feed: Iterator[Any] = field(factory=lambda: iter(()))

    def note(self, y: Any) -> None:
        """Take an output."""
        self.ys.append(y)
        self.at.append(self.count - length_hint(self.feed) - 1)

    def clear(self) -> None:
        """Forget what has been told."""
        self.ys.clear()
        self.at.clear()

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run on each batch and yield it; in the end, come to the end of the trace."""
        run = self.told.query.into(self.note)
        first = True
        for batch in filter(len, batches):
            self.told.reading.check(batch)
            if first:
                self._enter(run, self.told.reading.times(batch, 0))
                first = False
            events = list(self.told.reading.events(batch))
            with failing_events(events) as self.feed:
                self.count = len(events)
                run.push_all(self.feed)
            yield batch
        if self.told.chain is None:
            run.end()

    def _enter(self, run: Run, first: tuple[Any, ...]) -> None:
        told = self.told
        if told.chain is None:
            return
        entry = told.entries.get(partition())
        if entry is None or entry.first != first:
            raise MillstreamError(
                "the partitions changed between the two passes; cache the DataFrame before monitor_trace"
            )
        told.chain.core.put(run.processors[len(told.chain.before)], entry.state)

    def taken(self, batch: Any) -> Any:
        """Return the outputs of a batch, beside the columns of their events."""
        rows = batch.select(list(self.told.kept)).take(pa.array(self.at, pa.int64()))
        return self.beside(rows.columns)

    def beside(self, columns: list[Any]) -> Any:
        """Return the outputs beside some columns."""
        made = as_column(list(self.ys), self.told.kind, self.told.name)
        self.clear()
        return pa.RecordBatch.from_arrays([*columns, made], names=[*self.told.kept, self.told.name])


class failing_events:
    """Iterate over events; if what is done with them fails, name the event."""

    def __init__(self, events: list[Any]) -> None:
        self.events, self.feed = events, iter(events)

    def __enter__(self) -> Iterator[Any]:
        return self.feed

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, StreamError):
            event = self.events[len(self.events) - length_hint(self.feed) - 1]
            raise MillstreamError(
                f"on the event {shorten(event, 300)}: {error.processor} failed: {error.reason}"
            ) from error
