"""The common part of processors that hand chunks of events over to workers and emit the outputs in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, ClassVar

from attrs import field

from millstream.processors import Processor, Query, Run, as_query, processor, state, transient
from millstream.processors.lists import host

from .chunks import MOST, Chunk, Failed, Reply
from .line import Line
from .manager import ThreadManager
from .nonblocking import followed
from .stages import run_chunk, surface


@processor
class Offloaded(Processor):
    """A query whose events are handed over to workers in chunks; subclasses say how many, and with what."""

    inner: Query = field(converter=as_query)
    manager: ThreadManager
    run: Run = transient()
    outputs_: list[Any] = transient()
    stage: Any = transient()
    #: set by the run while an event comes in that will be waited for later, which changes nothing here
    late: bool = transient()
    line: Line = state(of=lambda self: Line())

    def __attrs_post_init__(self) -> None:
        host(self, self.inner, [])

    def prepare(self) -> None:
        """Wire the inner query, for what is done here."""
        self.outputs_ = []
        self.run = host(self, self.inner, self.outputs_)
        self.stage = self.make_stage()

    # -- what subclasses decide

    def make_stage(self) -> Any:
        """Return what makes the function that workers answer with."""
        raise NotImplementedError

    def acquire(self) -> bool:
        """Return whether there are workers."""
        raise NotImplementedError

    def request(self, events: list[Any]) -> Any:
        """Return a chunk as workers take it."""
        raise NotImplementedError

    #: whether nothing is to be handed over, for now
    is_halted: ClassVar[Any] = False

    @property
    def longest(self) -> int:
        """Return the greatest length of a chunk."""
        return MOST

    def queued(self) -> tuple[int, ...]:
        """Return how many events wait for their chunk or are with workers."""
        return (self.line.queued,)

    # -- push

    def step(self, x: Any) -> None:
        """Let the event wait for its chunk; hand that over if it is complete."""
        line = self.line
        if not line.waiting:
            line.first = self.wiring.position()
        line.waiting.append(x)
        if not line.size or len(line.waiting) >= line.length or self.is_halted:
            self.hand_over()
            self.deliver()

    def hand_over(self) -> None:
        """Send the events that wait to a worker; do it here if there is none."""
        line = self.line
        events, line.waiting = line.waiting, []
        if not events:
            return
        last = self.wiring.position()
        line.begin(len(events))
        if self.acquire():
            line.send(self.request(events), last, len(events))
            line.collect()
        else:
            line.add(Chunk(line.first, last, len(events)), self.compute(events))
        line.length = line.pace.length(self.longest)

    def compute(self, events: list[Any]) -> Reply:
        """Do a chunk here."""
        run = self.run
        run.give(run.fresh() if self.line.values is None else self.line.values)
        reply = run_chunk(run, self.outputs_, events)
        self.line.values = run.take()
        return reply

    def deliver(self) -> None:
        """Emit what is ready; raise a failure when it is its turn."""
        ready, emit, failed = self.line.ready, self.emit, self.line.failed
        while ready:
            y = ready.popleft()
            if failed and type(y) is list and len(y) == 2 and isinstance(y[1], Failed):
                surface(self, y[0].position(y[1].index), y[1])
            else:
                emit(y)
        self.line.failed = False

    def complete(self) -> None:
        """Hand over what waits, and wait until all has come out that the events so far give."""
        self.hand_over()
        self.line.collect(0)
        self.deliver()

    def end(self) -> None:
        """Hand over what waits, wait for everything, and end the inner query."""
        self.hand_over()
        self.line.settle()
        self.deliver()
        self.finish()
        for y in self.outputs_:
            self.emit(y)
        self.outputs_.clear()

    def finish(self) -> None:
        """End the inner query, here; its outputs are collected."""
        self.run.give(self.run.fresh() if self.line.values is None else self.line.values)
        self.run.finish()

    def elsewhere(self) -> Query | None:
        """Return the query that runs elsewhere."""
        return self.inner

    def bring_back(self) -> Any:
        """Wait for everything that is under way, emit it, and return the query's state."""
        self.complete()
        self.line.settle()
        return self.run.fresh() if self.line.values is None else self.line.values

    def go_on(self, values: Any) -> None:
        """Go on with a state of the query."""
        self.line = Line(values=values)

    def explained(self, limit: int) -> Processor:
        """Return the inner query for traced events."""
        return followed(self.inner, limit)

    # -- pull

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        """Read a chunk at a time: cheap events do not pay for being handed over."""
        return chain.from_iterable(self.batches(*inputs))

    def batches(self, *inputs: Iterator[Any]) -> Iterator[Iterable[Any]]:
        """Yield the outputs of a chunk at a time."""
        (events,) = inputs
        out: list[Any] = []
        self.emit = out.append
        line, failure, more = self.line, None, True
        try:
            while more and failure is None:
                line.first = (self.wiring.position() or 0) + 1
                try:
                    line.waiting.extend(islice(events, line.length if self.acquire() else 1))
                except Exception as error:
                    failure = error
                more = bool(line.waiting)
                self.hand_over()
                yield from self.delivered(out)
            line.settle()
            yield from self.delivered(out)
            if failure is not None:
                raise failure
            self.finish()
            yield self.outputs_
        finally:
            line.close()

    def delivered(self, out: list[Any]) -> Iterator[Iterable[Any]]:
        """Yield what is ready; raise a failure when it is its turn."""
        line = self.line
        if not line.failed:
            ready, line.ready = line.ready, deque()
            yield ready
            return
        try:
            self.deliver()
        finally:
            yield out.copy()
            out.clear()
