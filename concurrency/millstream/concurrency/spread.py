"""What is between the input and the output of a slice that is spread over workers: a processor's state.

Events wait in a part for each worker, parts are with workers, outputs wait until they are emitted. A copy is
plain data: taking one waits for the workers, and the slices come home.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from operator import itemgetter
from time import perf_counter
from typing import Any, NamedTuple

from attrs import define, field

from millstream.processors import Run
from millstream.processors.states import copied

from .chunks import AHEAD, FIRST, MOST, Failed, Pace, Reply
from .crew import Crew
from .failures import Failure, with_events
from .manager import ThreadManager
from .shards import Sharding, State, Tape, lost


class Part(NamedTuple):
    """Events for one worker: their numbers among all that came, their keys, and themselves."""

    numbers: list[int]
    keys: list[Any]
    events: list[Any]


@define(eq=False)
class Spread:
    """Slices here or with workers, events and outputs on their way; belongs to the thread that feeds it."""

    #: state of the slices that are here, and of what is shown; None: the initial one
    values: State | None = None
    #: outputs that have not been emitted, a list for each event
    ready: deque[list[Any]] = field(factory=deque)
    #: events that have come; what to add to the number of one to get its position in the query's input
    count: int = 0
    offset: int = 0
    #: why slices are lost: their worker is gone
    lost: Failure | None = None
    tape: Tape = field(factory=Tape)
    #: the number of workers, and the manager's limit when they were lent: while that is its limit, there
    #: is nothing to acquire
    size: int = 0
    limit: int | None = None
    #: how many events make a chunk, and what that is decided by
    length: int = FIRST
    pace: Pace = field(factory=Pace)
    _since: float = field(factory=perf_counter)
    _sent: int = 0
    #: events that wait or are with workers, once for each slice that they are for
    queued: int = 0
    _waiting: list[Part] = field(factory=list)
    #: for each worker the chunks that it has
    _under_way: list[deque[Part]] = field(factory=list)
    _crew: Crew | None = None
    #: the run that the slices belong to
    _run: Run | None = None
    #: slices that have come back from workers: (birth, key, state)
    _home: list[tuple[Any, Any, Any]] = field(factory=list)

    def acquire(self, manager: ThreadManager, stage: Sharding, run: Run) -> bool:
        """Ask for workers unless there are some, and return whether there are; see `Line.acquire`."""
        if self.lost is not None:
            self.lost.throw()
        if self.size:
            self.settle(run)
        if manager.workers == "auto" and self.pace.cost is None:
            return False
        crew = Crew(manager, stage, manager.limit, self.pace.cost)
        if not crew.size:
            return False
        self._crew, self.size, self._run, self.limit = crew, crew.size, run, manager.limit
        self._waiting = [Part([], [], []) for _ in range(crew.size)]
        self._under_way = [deque() for _ in range(crew.size)]
        self._give_out(crew, run)
        return True

    def _give_out(self, crew: Crew, run: Run) -> None:
        """Send every slice to the worker of its key."""
        run.give(run.fresh() if self.values is None else self.values)
        slices: Any = run.processors[0]
        parts: list[dict[Any, Any]] = [{} for _ in range(crew.size)]
        for place, (key, values) in enumerate(slices.states.items()):
            parts[hash(key) % crew.size][key] = (0, place), values
        slices.states = {}
        self.values = run.take()
        for member, part in enumerate(parts):
            crew.send(member, ("give", part))

    def put(self, member: int, key: Any, event: Any) -> int:
        """Put an event with those that wait for a worker, and return their number."""
        numbers, keys, events = self._waiting[member]
        numbers.append(self.count)
        keys.append(key)
        events.append(event)
        self.queued += 1
        return len(events)

    def send(self, ahead: int | None = None) -> None:
        """Hand over what waits; take replies until no worker has more chunks than it may."""
        if self._crew is None:
            return
        now = perf_counter()
        self.pace.came(now - self._since, self.count - self._sent)
        self._since, self._sent = now, self.count
        for member, part in enumerate(self._waiting):
            if part.events:
                self._crew.send(member, ("events", tuple(part)))
                self._under_way[member].append(part)
                self._waiting[member] = Part([], [], [])
        if ahead is None:
            ahead = 0 if self.pace.is_slow else AHEAD
        while any(self._crew.pending(member) > ahead for member in range(self._crew.size)):
            self._receive(self._crew)
        self.length = self.pace.length(MOST)

    def _receive(self, crew: Crew) -> None:
        """Take one reply: what came of a chunk, or the slices of a worker."""
        member, reply = crew.receive_any()
        if isinstance(reply, Reply):
            self.queued -= len(self._under_way[member].popleft().events)
            self.pace.took(reply.seconds, reply.events)
            self.tape.came(member, reply.outputs)
        elif isinstance(reply, Failure):
            self.lost = reply
            if self._under_way[member]:
                part = self._under_way[member].popleft()
                self.queued -= len(part.events)
                events = zip(part.numbers, part.keys, strict=True)
                first, last = part.numbers[0] + self.offset, part.numbers[-1] + self.offset
                died = with_events(reply, first, last)
                self.tape.came(member, [lost(key, Failed(number, died)) for number, key in events])
        elif reply is not None:
            self._home += [(birth, key, values) for key, (birth, values) in reply.items()]

    def settle(self, run: Run) -> None:
        """Wait for everything; the slices come back here, in the order in which they began."""
        crew = self._crew
        if crew is None:
            return
        self.send(0)
        for member in range(crew.size):
            crew.send(member, ("take", None))
        while crew.is_busy:
            self._receive(crew)
        self.close()
        self.ready.extend(self.tape.take())
        run.give(run.fresh() if self.values is None else self.values)
        slices: Any = run.processors[0]
        slices.states = {key: values for _, key, values in sorted(self._home, key=itemgetter(0))}
        self._home = []
        self.values = run.take()

    def __copy__(self) -> Spread:
        """Return an independent copy with nothing under way."""
        if self._run is not None:
            self.settle(self._run)
        values = None if self.values is None else copied(self.values)
        return Spread(values, deque(map(list, self.ready)), self.count, self.offset, self.lost)

    def close(self) -> None:
        """Give the workers back, whatever they are doing."""
        if self._crew is not None:
            crew, self._crew, self.size, self.limit = self._crew, None, 0, None
            crew.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        spread = copy(self)
        return Spread, (spread.values, spread.ready, spread.count, spread.offset, spread.lost)
