"""What is between the input and the output of a query that runs elsewhere: an offloaded processor's state.

Events wait until they make a chunk, chunks are with workers, outputs wait until they are emitted. A copy of
a line is plain data: taking one waits for the workers.
"""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import Any

from attrs import define, field

from millstream.processors.states import copied

from .chunks import AHEAD, FIRST, Chunk, Failed, Located, Ordered, Pace, Reply
from .crew import Crew
from .failures import Failure, with_events
from .manager import ThreadManager

State = tuple[Any, ...]


@define(eq=False)
class Line:
    """Events, chunks and outputs on their way; belongs to the thread that feeds it."""

    #: state of the inner query, unless a worker keeps it; None: the initial one
    values: State | None = None
    #: events that have not been handed over, and the position of the first of them in the query's input
    waiting: list[Any] = field(factory=list)
    first: int | None = None
    #: the last events that were handed over, as many as a copy has to see before a chunk
    before: tuple[Any, ...] = ()
    #: outputs that have not been emitted; where an event failed, [chunk, `Failed`]
    ready: deque[Any] = field(factory=deque)
    #: whether `ready` may hold failures
    failed: bool = False
    #: how many events make a chunk, what that is decided by, and when the last one was handed over
    length: int = FIRST
    pace: Pace = field(factory=Pace)
    since: float = field(factory=perf_counter)
    _crew: Crew | None = None
    #: the manager's limit when the workers were lent
    _limit: int = 0
    #: whether the worker keeps the state of the inner query
    _keeps: bool = False
    #: why the worker did not take or give the state
    _lost: Failure | None = None
    _ordered: Ordered = field(factory=Ordered)
    #: numbers of the chunks that each worker has, oldest first; None for requests that are no chunks
    _held: list[deque[int | None]] = field(factory=list)

    @property
    def size(self) -> int:
        """Return the number of workers."""
        return 0 if self._crew is None else self._crew.size

    @property
    def queued(self) -> int:
        """Return the number of events that wait or are with workers."""
        return len(self.waiting) + self._ordered.events

    def acquire(self, manager: ThreadManager, stage: Any, most: int, keeps: bool) -> bool:
        """Ask for workers unless there are some already, and return whether there are.

        If the limit has been changed, those that are there go back first. If the manager chooses the kind of
        workers itself, it is told what an event takes, and not asked before that is known.
        """
        if self._crew is not None and self._limit != manager.limit:
            self.settle()
        if self._crew is None:
            if manager.workers == "auto" and self.pace.cost is None:
                return False
            crew = Crew(manager, stage, most, self.pace.cost)
            if not crew.size:
                return False
            self._crew, self._keeps, self._held = crew, keeps, [deque() for _ in range(crew.size)]
            self._limit = manager.limit
            if keeps:
                self._held[0].append(None)
                crew.send(0, ("give", self.values))
                self.values = None
        return True

    def send(self, request: Any, last: int | None, count: int) -> None:
        """Hand a chunk over to the worker with the fewest."""
        assert self._crew is not None
        member = min(range(self._crew.size), key=lambda k: len(self._held[k]))
        self._crew.send(member, request)
        self._held[member].append(self._ordered.number(Chunk(self.first, last, count)))

    def begin(self, events: int) -> None:
        """Take note that a chunk of so many events is complete."""
        now = perf_counter()
        self.pace.came(now - self.since, events)
        self.since = now

    def add(self, chunk: Chunk, reply: Reply) -> None:
        """Put the outputs of a chunk with those that are ready; failures with the chunk that they are in."""
        self.pace.took(reply.seconds, reply.events)
        if not reply.failed:
            self.ready.extend(reply.outputs)
            return
        self.failed = True
        self.ready.extend([chunk, y] if isinstance(y, Located) else y for y in reply.outputs)

    def collect(self, under_way: int | None = None) -> None:
        """Take replies until no more chunks are under way than may be; outputs become ready, in order."""
        if under_way is None:
            under_way = 0 if self.pace.is_slow else AHEAD * self.size
        while True:
            while (done := self._ordered.next()) is not None:
                self.add(*done)
            if self._ordered.under_way <= under_way:
                return
            self._receive()

    def _receive(self) -> None:
        assert self._crew is not None
        member, reply = self._crew.receive_any()
        number = self._held[member].popleft()
        if number is not None:
            if isinstance(reply, Failure):
                chunk = self._ordered.chunk(number)
                reply = Reply([Failed(0, with_events(reply, chunk.first, chunk.last))], True, 1, 1.0)
            self._ordered.arrive(number, reply)
        elif isinstance(reply, Failure):
            self._lost = reply
        elif reply is not None:
            self.values = reply

    def settle(self) -> None:
        """Wait for everything that is under way; the state comes back here."""
        if self._crew is None:
            return
        self.collect(0)
        if self._keeps and not self.failed:
            self._crew.send(0, ("take", None))
            self._held[0].append(None)
        while any(self._held):
            self._receive()
        self.close()
        if self._lost is not None and not self.failed:
            self._lost.throw()

    def __copy__(self) -> Line:
        """Return an independent line with nothing under way."""
        return Line(*self.plain())

    def plain(self) -> tuple[Any, ...]:
        """Wait for everything that is under way, and return a copy as plain data."""
        self.settle()
        ready = deque(copied(y) if isinstance(y, list) else y for y in self.ready)
        values = None if self.values is None else copied(self.values)
        return values, list(self.waiting), self.first, self.before, ready, self.failed

    def close(self) -> None:
        """Give the workers back, whatever they are doing."""
        if self._crew is not None:
            crew, self._crew = self._crew, None
            crew.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return Line, self.plain()
