"""What is done with the events of one key in one micro-batch: the part of `monitor_stream` without Spark.

Events wait in the key's record until the watermark has come to them; then they are given to the query in the
order of their times, with the time that passes between them. So the outputs of a key, and the times they
carry, follow from its events alone and not from how these fell into micro-batches. A row is a tuple of the
columns' values here, its time a number (see `TimeColumn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from attrs import define, field
from pyspark.sql import types as T

from millstream.processors import Query, Run, StreamError
from millstream.processors.states import State

from .codec import check_maker, dump_state, load_state, maker
from .durations import TimeColumn
from .passing import Passing, timed_nodes

Row = tuple[Any, ...]
#: the record of a key as it is stored: `state` is what `dump_state` made of values, waiting rows and time
COLUMNS = (
    T.StructType()
    .add("events", "long")
    .add("late", "long")
    .add("waiting", "integer")
    .add("wake", "long")
    .add("state", "binary")
)


@define
class Record:
    """What is kept for a key between micro-batches."""

    values: State
    waiting: list[Row] = field(factory=list)
    #: time of the last event that the query has taken, None before the first
    last: Any = None
    #: events taken and late events, in this trace
    events: int = 0
    late: int = 0
    #: the watermark, in milliseconds, at which there is something to do
    wake: int | None = None


@define
class Outcome:
    """What a micro-batch gave for a key: outputs with their times, and late rows."""

    times: list[Any] = field(factory=list)
    outputs: list[Any] = field(factory=list)
    late: list[Row] = field(factory=list)

    def __bool__(self) -> bool:
        return bool(self.outputs or self.late)


@define
class Monitor:
    """A query to be run on the events of each key: what travels to the workers."""

    query: Query
    names: tuple[str, ...]
    time: TimeColumn
    #: places of further columns that order events of the same time
    ties: tuple[int, ...] = ()
    #: a key is over that long after its last event, as time is counted; its trace ends, or is forgotten
    life: Any = None
    ends: bool = True
    #: the columns of the stream with their types
    columns: str = ""

    def start(self) -> Keyed:
        """Return a run of it."""
        return Keyed(self)


class Keyed:
    """A run whose state is that of one key after the other."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor, self.time = monitor, monitor.time
        self.made_by = maker(monitor.query, monitor.columns)
        self.outputs: list[Any] = []
        self.run: Run = monitor.query.into(self.outputs)
        at = monitor.names.index(monitor.time.name)
        self.at = itemgetter(at)
        self.order = itemgetter(at, *monitor.ties) if monitor.ties else self.at
        self.event = _builder(monitor.names, at, monitor.time)
        self.passing = Passing(self.run, timed_nodes(monitor.query)[0], monitor.time, monitor.names)
        #: whether something can happen between two events
        self.quiet = not self.passing.parts and monitor.life is None

    # -- records in the store

    def check(self, made_by: str) -> None:
        """Refuse what another query made."""
        if made_by != self.made_by:
            check_maker(made_by, self.monitor.query, self.monitor.columns)

    def load(self, stored: Sequence[Any]) -> Record:
        """Return the record that is stored."""
        events, late, _, wake, state = stored
        values, waiting, last = load_state(state)
        return Record(values, waiting, last, events, late, wake)

    def dump(self, record: Record) -> tuple[Any, ...]:
        """Return the record as it is stored."""
        state = dump_state((record.values, record.waiting, record.last))
        return record.events, record.late, len(record.waiting), record.wake, state

    # -- a micro-batch

    def step(
        self, record: Record | None, arrived: Sequence[Row], watermark: int
    ) -> tuple[Record | None, Outcome]:
        """Take the rows that have come and a watermark in milliseconds.

        Returns the record to be kept (None if nothing is) and what came out.
        """
        at, until = self.at, self.time.until(watermark)
        late = [row for row in arrived if at(row) <= until]
        if record is None:
            if len(late) == len(arrived):
                return None, Outcome(late=late)
            record = Record(self.run.fresh())
        record.late += len(late)
        record.waiting += arrived if not late else (row for row in arrived if at(row) > until)
        record.waiting.sort(key=self.order)
        outcome = Outcome(late=late)
        self.run.give(record.values)
        try:
            self._advance(record, until, outcome.times)
        except StreamError as error:
            if error.position is not None:
                error.position = record.events  # in the trace of this key
            raise
        outcome.outputs, self.outputs[:] = self.outputs[:], []
        record.values = self.run.take()
        if record.last is None and not record.waiting:
            return None, outcome
        record.wake = self._wake(record)
        return record, outcome

    def _advance(self, record: Record, until: Any, times: list[Any]) -> None:
        """Bring the record to a time."""
        at, outputs, push, event = self.at, self.outputs, self.run.push, self.event
        taken = 0
        for row in record.waiting:
            time = at(row)
            if time > until:
                break
            if not self.quiet:
                self._pass(record, time, times, with_it=False)
            push(event(row))
            record.last = time
            record.events += 1
            taken += 1
            if len(outputs) > len(times):
                times += repeat(time, len(outputs) - len(times))
        del record.waiting[:taken]
        if not self.quiet:
            self._pass(record, until, times, with_it=True)

    def _pass(self, record: Record, until: Any, times: list[Any], *, with_it: bool) -> None:
        """Do what is due before a time, or also at it: timers of the query, and the end of the trace."""
        outputs = self.outputs
        while record.last is not None:
            due, over = self.passing.due(), self._over(record)
            ending = over is not None and (due is None or over < due)
            now = over if ending else due
            if now is None or not (now <= until if with_it else now < until):
                return
            if ending:
                self._end(record)
            else:
                self.passing.pass_time(now)
            times += repeat(now, len(outputs) - len(times))

    def _over(self, record: Record) -> Any:
        """Return when the trace is over, None if that is never."""
        return None if self.monitor.life is None else record.last + self.monitor.life

    def _end(self, record: Record) -> None:
        if self.monitor.ends:
            self.run.finish()
        self.run.give(self.run.fresh())
        record.last, record.events = None, 0

    def _wake(self, record: Record) -> int | None:
        """Return the watermark at which this record has something to do."""
        times = [self.at(record.waiting[0])] if record.waiting else []
        if record.last is not None and not self.quiet:
            times += [t for t in (self.passing.due(), self._over(record)) if t is not None]
        return self.time.wake(min(times)) if times else None


def _builder(names: Sequence[str], at: int, time: TimeColumn) -> Any:
    """Return the function that makes the query's event of a row."""
    values = [f"row[{k}]" for k in range(len(names))]
    if not time.counted:
        values[at] = f"value({values[at]})"
    fields = ", ".join(f"{name!r}: {value}" for name, value in zip(names, values, strict=True))
    return eval(f"lambda row: {{{fields}}}", {"value": time.value})
