"""What a task does with the batches of its partition: run queries for each key, and give their outputs.

Two ways, one result. `StatesHost` takes the events of a partition in the order of time and keeps a state for
each key: nothing is sorted by key, but all states are in memory. `RunsHost` takes one key after the other and
keeps one state. Keys and carried columns never become Python objects on their way to the output: an output
remembers the number of its event, and Arrow takes the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise, zip_longest
from operator import length_hint
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from attrs import define, field, frozen
from more_itertools import chunked
from pyspark.sql import types as T

from millstream.palettes.columns import Columnar, columnar
from millstream.palettes.slicer import Slice
from millstream.processors import (
    MISSING,
    Apply,
    E,
    MillstreamError,
    Query,
    QueryError,
    Run,
    StreamError,
)
from millstream.processors.embedding import lines_of
from millstream.processors.errors import shorten
from millstream.processors.graph import flatten
from millstream.processors.processor import overrides

from .events import arrow_type, as_column, batch_events, column_values, each_event
from .looping import Loop, keyed_loop

#: outputs at the ends of traces go out in batches of so many rows
CHUNK = 10_000
#: the outputs of some events, and the number of the event of each; None: one for each event
Outputs = tuple[list[Any], list[int] | None]
#: a key, and for each query what came out at the end of its trace
Ended = tuple[Any, list[list[Any]]]


def has_end(query: Query) -> bool:
    """Return whether a query may do something at the end of a trace."""
    return any(overrides(node, "end") for node in flatten(query.graph)[0].nodes)


def is_one_for_one(query: Query) -> bool:
    """Return whether a query is known to give exactly one output for each event."""
    lines = lines_of(query.into())
    return lines is not None and lines.certain and not has_end(query)


def failure(key: Any, event: Any, error: StreamError) -> MillstreamError:
    """Return the error that names key, event and processor, as it is shown on the driver."""
    at = "at the end of its trace" if event is None else f"on the event {shorten(event, 300)}"
    return MillstreamError(f"key {shorten(key)}, {at}: {error.processor} failed: {error.reason}")


@frozen
class Rows:
    """The rows of a batch: the key of each, and its event."""

    batch: Any
    keys: list[Any]
    #: can be read once only if `whole` and asked for so
    events: Any
    #: whether the events are made of the columns
    whole: bool

    def failure(self, at: int, error: StreamError) -> MillstreamError:
        """Return the error of a row; all columns that came are shown, not only what the query reads."""
        event = batch_events(self.batch.slice(at, 1), self.batch.schema.names)[0]
        return failure(self.keys[at], event if self.whole else self.events[at], error)


def finished(run: Run, out: list[Any], key: Any) -> list[Any]:
    """End a trace and return what comes out."""
    try:
        run.finish()
    except Exception as error:
        wiring = run.processors[0].wiring
        raise failure(key, None, wiring.blame(error)) from error
    given = out[:]
    out.clear()
    return given


@define
class StatesHost:
    """Runs a query on events in the order of time, with a state for each key."""

    query: Query
    ending: bool = field(init=False)
    certain: bool = field(init=False)
    loop: Loop = field(init=False)
    put: Callable[[Any], None] = field(init=False)
    #: key -> state of its trace, as `Loop` keeps it
    states: dict[Any, Any] = field(factory=dict, init=False)
    _ys: list[Any] = field(factory=list, init=False)
    _at: list[int] = field(factory=list, init=False)
    _count: int = field(default=0, init=False)
    _keys: Iterator[Any] = field(factory=lambda: iter(()), init=False)

    def __attrs_post_init__(self) -> None:
        self.ending, self.certain = has_end(self.query), is_one_for_one(self.query)
        self.put = self._ys.append if self.certain else self._note
        self.loop = keyed_loop(self.query.into(self.put), self.ending)

    def _note(self, y: Any) -> None:
        self._ys.append(y)
        self._at.append(self._place())

    def _place(self) -> int:
        """Return the number of the event at hand."""
        return self._count - length_hint(self._keys) - 1

    def push(self, rows: Rows) -> Outputs:
        """Take the events of a batch, and return their outputs."""
        self._count, self._keys = len(rows.keys), iter(rows.keys)
        try:
            self.loop.take(zip(self._keys, rows.events, strict=False), self.states, self.put)
        except Exception as error:
            raise rows.failure(self._place(), self.loop.blame(error)) from error
        outputs = self._ys[:], None if self.certain else self._at[:]
        self._ys.clear()
        self._at.clear()
        return outputs

    def ends(self) -> Iterator[Ended]:
        """Yield each key with what comes out at the end of its trace."""
        run = self.loop.run
        for key, s in self.states.items() if self.ending else ():
            run.give((s,) if self.loop.single else s)
            yield key, [finished(run, self._ys, key)]


@define
class RunsHost:
    """Runs a query on one key after the other, with one state."""

    query: Query
    ending: bool = field(init=False)
    certain: bool = field(init=False)
    run: Run = field(init=False)
    #: the key whose trace is under way
    key: Any = field(default=MISSING, init=False)
    _out: list[Any] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.ending, self.certain = has_end(self.query), is_one_for_one(self.query)
        self.run = self.query.into(self._out)

    def push(self, rows: Rows, bounds: list[int]) -> tuple[Outputs, list[Ended]]:
        """Take the events of a batch, cut where keys change; return outputs, and those at ends of traces."""
        ys: list[Any] = []
        at: list[int] = []
        ends: list[Ended] = []
        for start, stop in pairwise(bounds):
            if rows.keys[start] != self.key:
                ends += self.end()
                self.key = rows.keys[start]
            self._push(rows, start, stop, at)
            ys += self._out
            self._out.clear()
        return (ys, None if self.certain else at), ends

    def _push(self, rows: Rows, start: int, stop: int, at: list[int]) -> None:
        entry, events, out, number = self.run.entry, rows.events, self._out, start
        try:
            if self.certain:
                for number in range(start, stop):
                    entry(events[number])
                return
            for number in range(start, stop):
                given = len(out)
                entry(events[number])
                if len(out) != given:
                    at += [number] * (len(out) - given)
        except Exception as error:
            raise rows.failure(number, self.run.processors[0].wiring.blame(error)) from error

    def end(self) -> list[Ended]:
        """End the trace under way; return its key with what comes out."""
        if self.key is MISSING:
            return []
        given = finished(self.run, self._out, self.key) if self.ending else []
        ended = [(self.key, [given])]
        self.key = MISSING
        self.run.give(self.run.fresh())
        return ended


@frozen
class Hosting:
    """Everything a task needs to know; it travels to the workers by cloudpickle.

    Attributes
    ----------
    queries, names, kinds
        The queries, and name and type of the column for the outputs of each.
    key, order, kept
        The columns of the key, those of the time, and all that go into the output: the key first, then
        what is carried along.
    columns, value
        The columns that make an event, or the one whose values are the events.
    schema
        The columns that come in.
    """

    queries: tuple[Query, ...]
    names: tuple[str, ...]
    kinds: tuple[T.DataType, ...]
    key: tuple[str, ...]
    order: tuple[str, ...]
    kept: tuple[str, ...]
    columns: tuple[str, ...]
    value: str | None
    schema: T.StructType

    def by_states(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run the queries on a partition in the order of time."""
        hosts = [StatesHost(q) for q in self.queries]
        for batch in filter(len, batches):
            self.check(batch)
            rows = self.rows(batch, once=len(hosts) == 1)
            yield self.assemble(batch, [h.push(rows) for h in hosts])
        yield from self.ended(_together([h.ends() for h in hosts]))

    def by_runs(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run the queries on a partition where the events of a key stand together, in the order of time."""
        hosts = [RunsHost(q) for q in self.queries]
        for batch in filter(len, batches):
            self.check(batch)
            rows, bounds = self.rows(batch), self.bounds(batch)
            outputs, ends = zip(*(h.push(rows, bounds) for h in hosts), strict=True)
            yield self.assemble(batch, outputs)
            yield from self.ended(_together(ends))
        yield from self.ended(_together([h.end() for h in hosts]))

    def columnar(self) -> Columnar:
        """Return the queries as one over batches; raise a `QueryError` if there is no such form."""
        (query,) = self.queries
        if len(self.key) > 1 or not is_one_for_one(query):
            raise QueryError("columns: one key column, and one output for each event")
        inner = query if self.value is None else Apply(E[self.value]) | query
        return columnar(Slice(E[self.key[0]], inner))

    def by_columns(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run a query on a partition in the order of time without making Python objects of its rows."""
        out: list[Any] = []
        run, rows = self.columnar().into(out.append), 0
        read = list(dict.fromkeys((*self.key, *((self.value,) if self.value else self.columns))))
        for batch in filter(len, batches):
            self.check(batch)
            try:
                run.push(batch.select(read))
            except StreamError as error:
                at = (error.position or 0) - rows
                raise self.rows(batch).failure(at, error) from error
            rows += batch.num_rows
            made = pa.concat_arrays([b.column(1) for b in out]).cast(arrow_type(self.kinds[0]))
            out.clear()
            kept = batch.select(list(self.kept)).columns
            yield pa.RecordBatch.from_arrays([*kept, made], names=[*self.kept, *self.names])

    def presorted(self, runs: bool, batches: Iterable[Any]) -> Iterator[Any]:
        """Run on a partition that is said to be in order, and check that it is."""
        if runs:
            return self.by_runs(self.in_order(batches, (*self.key, *self.order)))
        return self.by_states(self.in_order(batches, self.order))

    def in_order(self, batches: Iterable[Any], names: Sequence[str]) -> Iterator[Any]:
        """Yield batches; refuse a row that comes after a later one."""
        last: tuple[Any, ...] = ()
        for batch in filter(len, batches):
            rows = zip(*(column_values(batch.column(name)) for name in names), strict=True)
            for row in rows:
                if row < last:
                    raise MillstreamError(
                        f"presorted: {', '.join(names)} = {shorten(row)} comes after {shorten(last)}; sort "
                        "the partitions, or leave presorted out"
                    )
                last = row
            yield batch

    # -- reading batches

    def check(self, batch: Any) -> None:
        """Refuse events without a key or a time."""
        for name in (*self.key, *self.order):
            column = batch.column(name)
            if column.null_count:
                at = column.is_null().index(True).as_py()
                row = batch_events(batch.slice(at, 1), batch.schema.names)[0]
                what = "key" if name in self.key else "time"
                raise MillstreamError(
                    f"the {what} column {name} is null in the event {shorten(row, 300)}; "
                    f'leave such rows out: df.where("{name} is not null")'
                )

    def rows(self, batch: Any, once: bool = False) -> Rows:
        """Return key and event of each row; the events to be read as often as wanted, or once."""
        whole = self.value is None
        events = each_event(batch, self.columns) if once and whole else self.events(batch)
        return Rows(batch, self.keys(batch), events, whole)

    def keys(self, batch: Any) -> list[Any]:
        """Return the key of each row: a value, or a tuple if there are several columns."""
        columns = [column_values(batch.column(name)) for name in self.key]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def events(self, batch: Any) -> Sequence[Any]:
        """Return the event of each row."""
        if self.value is not None:
            return column_values(batch.column(self.value))
        return batch_events(batch, self.columns)

    def bounds(self, batch: Any) -> list[int]:
        """Return where the key changes, 0 and the number of rows included."""
        rows = batch.num_rows
        changes = np.zeros(rows - 1, dtype=bool)
        for name in self.key:
            column = batch.column(name)
            changes |= pc.not_equal(column.slice(1), column.slice(0, rows - 1)).to_numpy(zero_copy_only=False)
        return [0, *(np.flatnonzero(changes) + 1).tolist(), rows]

    # -- writing batches

    def assemble(self, batch: Any, outputs: Sequence[Outputs]) -> Any:
        """Return the outputs of a batch, with the columns that are kept."""
        rows = batch.select(list(self.kept))
        if all(at is None for _, at in outputs):
            given = [ys for ys, _ in outputs]
        else:
            numbers, given = _side_by_side(outputs, batch.num_rows)
            rows = rows.take(pa.array(numbers, pa.int64()))
        made = [
            as_column(ys, kind, name) for ys, kind, name in zip(given, self.kinds, self.names, strict=True)
        ]
        return pa.RecordBatch.from_arrays([*rows.columns, *made], names=[*self.kept, *self.names])

    def ended(self, ends: Iterable[Ended]) -> Iterator[Any]:
        """Yield batches of what came at the ends of traces; there the carried columns are null."""
        rows = ((key, ys) for key, given in ends for ys in zip_longest(*given))
        for some in chunked(rows, CHUNK):
            keys = [key if len(self.key) > 1 else (key,) for key, _ in some]
            made = [
                as_column(list(v), self.schema[n].dataType)
                for n, v in zip(self.key, zip(*keys, strict=True), strict=True)
            ]
            rest = self.kept[len(self.key) :]
            made += [pa.nulls(len(some), arrow_type(self.schema[n].dataType)) for n in rest]
            given = zip(self.kinds, self.names, zip(*(ys for _, ys in some), strict=True), strict=True)
            made += [as_column(list(ys), kind, name) for kind, name, ys in given]
            yield pa.RecordBatch.from_arrays(made, names=[*self.kept, *self.names])


def _side_by_side(outputs: Sequence[Outputs], rows: int) -> tuple[list[int], list[list[Any]]]:
    """Return a row for the n-th output of each event, null for a query that gave fewer.

    >>> _side_by_side([(["a", "b"], None), ([1, 2], [1, 1])], 2)
    ([0, 1, 1], [['a', 'b', None], [None, 1, 2]])
    """
    if len(outputs) == 1:
        ys, at = outputs[0]
        return list(range(rows)) if at is None else at, [ys]
    placed = [dict(zip(_places(range(rows) if at is None else at), ys, strict=True)) for ys, at in outputs]
    places = sorted(set().union(*placed))
    return [number for number, _ in places], [[p.get(place) for place in places] for p in placed]


def _places(at: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the number of each output's event, and which of its outputs it is."""
    for number, group in groupby(at):
        yield from ((number, n) for n, _ in enumerate(group))


def _together(ends: Sequence[Iterable[Ended]]) -> Iterable[Ended]:
    """Return keys with the outputs of all queries at their end."""
    if len(ends) == 1:
        return ends[0]
    found: dict[Any, list[list[Any]]] = {}
    for query, some in enumerate(ends):
        for key, (ys,) in some:
            if ys:
                found.setdefault(key, [[] for _ in ends])[query] = ys
    return found.items()
