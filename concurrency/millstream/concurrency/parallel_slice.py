"""ParallelSlice: a Slice whose keys are spread over workers, each with the states of its own keys."""

from __future__ import annotations

from collections import deque
from copy import copy
from typing import Any

from attrs import define, field

from millstream.processors import Processor, Query, Run, StreamError, as_function, processor, state, transient
from millstream.processors.errors import ParameterError, at_least, fail_parameter, shorten
from millstream.processors.graph import flatten
from millstream.processors.processor import overrides
from millstream.processors.states import copied

from .chunks import FIRST, MOST, Failed, Reply, chunk_length
from .crew import Crew
from .failures import Failure
from .manager import ThreadManager
from .shards import Sharding, State, Tape, run_shards, shard_of

#: options of a slice that look at several keys at once
TOGETHER = ("snapshot", "collect", "ttl", "time", "max_slices", "on_drop")


@define
class Part:
    """Events for one worker: their shards, themselves, and their numbers among all that came."""

    shards: list[int] = field(factory=list)
    events: list[Any] = field(factory=list)
    numbers: list[int] = field(factory=list)


@define(eq=False)
class Spread:
    """What is between the input and the output: events of each worker, what is under way, what came back."""

    #: state of each shard; those with workers are missing
    values: dict[int, State] = field(factory=dict)
    tape: Tape = field(factory=Tape)
    #: events that have come; what to add to the number of one to get its position in the query's input
    count: int = 0
    offset: int = 0
    waiting: list[Part] = field(factory=list)
    #: for each worker, the numbers of the events of each chunk that it has
    sent: list[deque[list[int]]] = field(factory=list)
    length: int = FIRST
    crew: Crew | None = None
    #: the manager's limit when the workers were lent
    limit: int = 0

    def receive(self) -> None:
        """Take one reply."""
        assert self.crew is not None
        member, reply = self.crew.receive_any()
        if isinstance(reply, Failure):
            self.close()
            reply.throw()
        if isinstance(reply, Reply):
            self.length = chunk_length(reply.seconds, reply.events, MOST)
            numbers = self.sent[member].popleft()
            if reply.failed:
                _number(reply.outputs, numbers, self.offset)
            self.tape.came(member, reply.outputs)
        elif reply is not None:
            self.values.update(reply)

    def send(self, ahead: int) -> None:
        """Hand over what waits; take replies until each worker has at most so many chunks."""
        assert self.crew is not None
        for member, part in enumerate(self.waiting):
            if part.events:
                self.crew.send(member, ("events", (part.shards, part.events)))
                self.sent[member].append(part.numbers)
                self.waiting[member] = Part()
        while any(self.crew.pending(member) > ahead for member in range(self.crew.size)):
            self.receive()

    def settle(self) -> None:
        """Wait for everything; the states come back here."""
        if self.crew is not None:
            self.send(0)
            for member in range(self.crew.size):
                self.crew.send(member, ("take", None))
            while self.crew.is_busy:
                self.receive()
            self.close()

    def __copy__(self) -> Spread:
        """Return an independent copy with nothing under way; outputs not emitted stay on the tape."""
        self.settle()
        out = self.tape.take()
        tape, self.tape = Tape(), Tape()
        for made in (tape, self.tape):
            if out:
                made.went(0)
                made.came(0, [list(out)])
        return Spread(copied(self.values), tape, self.count, self.offset)

    def close(self) -> None:
        """Give the workers back, whatever they are doing."""
        if self.crew is not None:
            crew, self.crew = self.crew, None
            crew.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        line = copy(self)
        return Spread, (line.values, line.tape, line.count, line.offset)


@processor
class ParallelSlice(Processor):
    """Run a `Slice` with its keys spread over workers; outputs are the same, in the same order.

    Parameters
    ----------
    slice
        A `Slice` whose slices do not depend on each other: without snapshot, collect, ttl or max_slices,
        and with an inner query that gives nothing at the end of the trace. Its keys are plain: `ALL` and
        `Keys` are refused when they come.
    manager
        Lends the workers.
    shards
        How many groups the keys fall into; each is with one worker.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from millstream.palettes.slicer import Slice
    >>> from millstream.processors import Count, X
    >>> with ThreadManager(2) as manager:
    ...     list(ParallelSlice(Slice(X, Count()), manager)("abaca"))
    [('a', 1), ('b', 1), ('a', 2), ('c', 1), ('a', 3)]
    """

    slice: Any
    manager: ThreadManager
    shards: int = field(default=32, validator=at_least(1))
    run: Run = transient()
    outputs_: list[Any] = transient()
    by: Any = transient()
    stage: Sharding = transient()
    spread: Spread = state(of=lambda self: Spread())

    def __attrs_post_init__(self) -> None:
        why = refusal(self.slice)
        if why:
            raise ParameterError(f"ParallelSlice: {shorten(self.slice, 60)} {why}")

    def prepare(self) -> None:
        """Wire the slice, for what is done here."""
        self.outputs_ = []
        self.run = self.slice.into(self.outputs_)
        self.by, self.stage = as_function(self.slice.by), Sharding(self.slice)

    def step(self, x: Any) -> None:
        """Put the event with those of its worker; hand them over if there are enough."""
        key = self.by(x)
        if key is None:
            return
        if type(key).__qualname__ in ("All", "Keys") and type(key).__module__.endswith("slicer.keys"):
            fail_parameter(self, "by", "a plain key, which belongs to one worker", key)
        spread, shard = self.spread, shard_of(key, self.shards)
        spread.count += 1
        if not self._acquire(spread):
            self._step_here(spread, shard, x)
            return self._emit(spread.tape.take())
        member = shard % len(spread.waiting)
        part = spread.waiting[member]
        part.shards.append(shard)
        part.events.append(x)
        part.numbers.append(spread.count)
        spread.tape.went(member)
        if len(part.events) >= spread.length:
            spread.offset = (self.wiring.position() or 0) - spread.count
            spread.send(1)
            self._emit(spread.tape.take())

    def _acquire(self, spread: Spread) -> bool:
        """Return whether there are workers; after a change of the limit, the old ones go back first."""
        if spread.crew is not None and spread.limit != self.manager.limit:
            spread.settle()
        if spread.crew is None:
            crew = Crew(self.manager, self.stage, self.manager.limit)
            if not crew.size:
                return False
            spread.crew, spread.waiting = crew, [Part() for _ in range(crew.size)]
            spread.sent = [deque() for _ in range(crew.size)]
            spread.offset = (self.wiring.position() or 0) - spread.count
            spread.limit = self.manager.limit
            for member in range(crew.size):
                mine = {s: v for s, v in spread.values.items() if s % crew.size == member}
                crew.send(member, ("give", mine))
            spread.values = {}
        return True

    def _step_here(self, spread: Spread, shard: int, x: Any) -> None:
        reply = run_shards(self.run, self.outputs_, spread.values, [shard], [x])
        if reply.failed:
            _number(reply.outputs, [0], self.wiring.position() or 0)
        spread.tape.went(0)
        spread.tape.came(0, reply.outputs)

    def _emit(self, outputs: list[Any]) -> None:
        waiting = deque(outputs)
        try:
            while waiting:
                y = waiting.popleft()
                if isinstance(y, Failed):
                    _raise(self, y)
                self.emit(y)
        except BaseException:
            self.spread.close()
            raise

    def end(self) -> None:
        """Wait for everything; slices that have nothing to say at the end need not be told of it."""
        self.spread.settle()
        self._emit(self.spread.tape.take())


def _number(outputs: list[list[Any]], numbers: list[int], offset: int) -> None:
    """Replace the index of each failure in its chunk by the position in the query's input."""
    for given in outputs:
        for k, y in enumerate(given):
            if isinstance(y, Failed):
                given[k] = Failed(numbers[y.index] + offset, y.failure)


def _raise(owner: Processor, failed: Failed) -> None:
    try:
        failed.failure.throw()
    except StreamError as error:
        place = f"{owner.name} > {error.place}"
        moved = StreamError(error.processor, place, error.event, failed.index, error.reason)
        raise moved from error.__cause__


def refusal(query: Any) -> str:
    """Return why a query is not a slice that can be spread, or nothing."""
    if not isinstance(query, Query) or not hasattr(query, "by") or not hasattr(query, "inner"):
        return "is not a Slice"
    for name in TOGETHER:
        if getattr(query, name, None):
            return f"has {name}, which looks at several keys at once"
    ending = [n for n in flatten(query.inner.graph)[0].nodes if overrides(n, "end")]
    if ending:
        return (
            f"gives the outputs of {type(ending[0]).__name__} at the end of the trace in the order of slices"
        )
    return ""
