"""The operators of a network of verdict streams.

Each takes runs of verdicts on its sides (``push``), keeps what it cannot decide, and sends runs on to its
targets. All state is plain data, so that a network can be copied and pickled.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from attrs import define, field

from .bounds import Bounds
from .past import Memory


@define(eq=False)
class Operator:
    """Base: sends runs to its targets."""

    targets: list[tuple[Operator, int]] = field(factory=list, init=False, repr=False)
    #: whether it stands under an even number of negations
    positive: bool = field(default=True, init=False)

    def send(self, value: bool, count: int) -> None:
        """Pass a run on."""
        if count:
            for target, side in self.targets:
                target.push(side, value, count)

    def push(self, side: int, value: bool, count: int) -> None:
        """Take a run."""
        raise NotImplementedError

    def tick(self, time: float) -> None:
        """Take the time of the next position."""

    def finish(self, n: int, hope: bool | None) -> None:
        """Decide what is left when the trace has ended after n events and all operands are known.

        Without `hope` what should still happen does not; else all that is open makes the whole formula true
        (`hope`), or false.
        """


@define(eq=False)
class Out(Operator):
    """Where the verdicts leave."""

    runs: list[tuple[bool, int]] = field(factory=list)

    def push(self, side: int, value: bool, count: int) -> None:
        self.runs.append((value, count))

    def take(self) -> list[tuple[bool, int]]:
        """Return what has come since the last time."""
        runs, self.runs = self.runs, []
        return runs


@define(eq=False)
class Flip(Operator):
    """``!``."""

    def push(self, side: int, value: bool, count: int) -> None:
        self.send(not value, count)


@define(eq=False)
class Join(Operator):
    """``&`` and ``|``: the absorbing value on one side decides; the other's verdict is skipped later."""

    absorbing: bool = False
    queues: tuple[deque[list[Any]], deque[list[Any]]] = field(factory=lambda: (deque(), deque()))
    skip: list[int] = field(factory=lambda: [0, 0])

    def push(self, side: int, value: bool, count: int) -> None:
        skipped = min(count, self.skip[side])
        self.skip[side] -= skipped
        if count == skipped:
            return
        enqueue(self.queues[side], value, count - skipped)
        left, right = self.queues
        while left and right:
            value = self.absorbing if self.absorbing in (left[0][0], right[0][0]) else not self.absorbing
            self.send(value, dequeue(left, right))
        for one, other in ((0, 1), (1, 0)):
            queue = self.queues[one]
            if queue and queue[0][0] == self.absorbing:
                _, known = queue.popleft()
                self.skip[other] += known
                self.send(self.absorbing, known)


@define(eq=False)
class Next(Operator):
    """``X``: the stream from its second verdict on."""

    dropped: bool = False

    def push(self, side: int, value: bool, count: int) -> None:
        self.send(value, count - (not self.dropped))
        self.dropped = True

    def finish(self, n: int, hope: bool | None) -> None:
        self.send(hope is not None and hope == self.positive, min(n, 1))


@define(eq=False)
class Previously(Operator):
    """``Y`` over a stream: false, then the stream; a verdict waits until its position exists."""

    queue: deque[list[Any]] = field(factory=lambda: deque([[False, 1]]))
    #: positions that exist and have no verdict
    room: int = 0

    def tick(self, time: float) -> None:
        self.room += 1
        self.flow()

    def push(self, side: int, value: bool, count: int) -> None:
        enqueue(self.queue, value, count)
        self.flow()

    def flow(self) -> None:
        """Send what has a position."""
        while self.room and self.queue:
            run = self.queue[0]
            count = min(run[1], self.room)
            self.room -= count
            run[1] -= count
            if not run[1]:
                self.queue.popleft()
            self.send(run[0], count)


def enqueue(queue: deque[list[Any]], value: bool, count: int) -> None:
    """Append a run, melting it into the last one if it can be."""
    if queue and queue[-1][0] == value:
        queue[-1][1] += count
    else:
        queue.append([value, count])


def dequeue(*queues: deque[list[Any]]) -> int:
    """Remove from all queues as much as the shortest first run has; return how much."""
    count = min(q[0][1] for q in queues)
    for q in queues:
        if q[0][1] == count:
            q.popleft()
        else:
            q[0][1] -= count
    return int(count)


@define(eq=False)
class Pairs(Operator):
    """Base of operators that need both operands of a position; with one side, the left operand is true."""

    sides: int = 2
    queues: tuple[deque[list[Any]], deque[list[Any]]] = field(factory=lambda: (deque(), deque()))

    def push(self, side: int, value: bool, count: int) -> None:
        if self.sides == 1:
            self.pair(True, value, count)
            return
        enqueue(self.queues[side], value, count)
        left, right = self.queues
        while left and right:
            a, b = left[0][0], right[0][0]
            self.pair(a, b, dequeue(left, right))

    def pair(self, a: bool, b: bool, count: int) -> None:
        """Take the operands' values of the next positions."""
        raise NotImplementedError


@define(eq=False)
class Past(Pairs):
    """``S``, ``O``, ``H`` over streams."""

    memory: Memory = field(kw_only=True)
    timed: bool = field(kw_only=True)
    flip: bool = field(kw_only=True)
    j: int = 0
    times: deque[float] = field(factory=deque)

    def tick(self, time: float) -> None:
        self.times.append(time)

    def pair(self, a: bool, b: bool, count: int) -> None:
        for _ in range(count):
            t = self.times.popleft() if self.timed else self.j
            self.j += 1
            memory: Any = self.memory
            self.send(memory.step(a, b != self.flip, t) != self.flip, 1)


@define(eq=False)
class Until(Pairs):
    """``U`` and ``F``, and as their negations ``R`` and ``G``."""

    bounds: Bounds = field(kw_only=True)
    timed: bool = field(kw_only=True)
    flip: bool = field(kw_only=True)
    open: bool = field(kw_only=True)
    #: next position to be read, first position without verdict, times from the latter on
    j: int = 0
    head: int = 0
    times: deque[float] = field(factory=deque)

    def tick(self, time: float) -> None:
        if not self.open:
            self.times.append(time)

    def decide(self, value: bool, upto: int) -> None:
        """Give the verdict of all pending positions before `upto`."""
        count = upto - self.head
        if count > 0:
            self.head = upto
            if self.timed and not self.open:
                for _ in range(count):
                    self.times.popleft()
            self.send(value != self.flip, count)

    def pair(self, a: bool, b: bool, count: int) -> None:
        if self.flip:
            b = not b
            a = not a if self.sides == 2 else a
        if self.open:
            self.j += count
            if b or not a:
                self.decide(b, self.j)
            return
        for _ in range(count):
            self.one(a, b)

    def one(self, a: bool, b: bool) -> None:
        """Read one position."""
        j = self.j
        self.j += 1
        if self.timed and not self.bounds.unbounded:
            self.decide(False, self._too_old(j))
        if b:
            self.decide(True, self._old_enough(j))
        if not a:
            self.decide(False, j + 1)
        elif not self.timed and not self.bounds.unbounded:
            self.decide(False, self._too_old(j + 1))

    def _old_enough(self, j: int) -> int:
        """Return the first pending position for which j is too near."""
        position, reached = self.head, self.bounds.reached
        while position <= j and reached(self._distance(position, j)):
            position += 1
        return position

    def _too_old(self, j: int) -> int:
        """Return the first pending position whose bounds may still contain j or a later one."""
        position, passed = self.head, self.bounds.passed
        while position < self.j and passed(self._distance(position, j)):
            position += 1
        return position

    def _distance(self, position: int, j: int) -> float:
        if not self.timed:
            return j - position
        return self.times[j - self.head] - self.times[position - self.head]

    def due(self) -> float | None:
        """Return when the oldest pending position is decided if no event comes; None if others decide it."""
        complete = self.j == self.head + len(self.times)
        return self.times[0] + self.bounds.high if self.times and complete else None

    def pass_time(self, now: float) -> None:
        """Decide the positions whose bounds no event after `now` can reach."""
        while (due := self.due()) is not None and due <= now:
            self.decide(False, self.head + 1)

    def finish(self, n: int, hope: bool | None) -> None:
        self.decide(hope is not None and (hope == self.positive) != self.flip, n)
