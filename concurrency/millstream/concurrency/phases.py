"""Which vertex may run in which phase: the scheduler of phased execution, as a plain state machine.

It is told that a phase starts and that a vertex has finished a phase; it answers with the vertex-phase
pairs that have become ready. It knows no threads, no clocks and no values, so that tests can drive it
through any schedule.

The paper's listing takes minima over all pairs at each step. Four facts make that unnecessary: within a
phase pairs become full in ascending order, so the lowest full pair is the head of a queue; partial pairs
are numbered higher than full ones, so a heap of them is asked only when the queue is empty; x_p depends
only on its own phase and x_{p-1}, so a change is passed on to later phases only as far as it changes
something; and the full phases of one vertex arrive in order, so that the ready one is the head of a queue.
A step costs about the number of its messages, and the logarithm of those that wait.

Zimmerman and Chandy, *A Parallel Algorithm for Correlating Event Streams*, Section 3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from attrs import define, field

Pair = tuple[int, int]  # (vertex index, phase number)


@define(eq=False)
class _Phase:
    #: all vertices up to x have finished this phase, or have nothing to do in it
    x: int
    #: vertices that can run or are running, ascending; finished ones leave when they come to the head
    full: deque[int]
    #: heap of the vertices with a message that may get more of them
    partial: list[int] = field(factory=list)
    #: all vertices that got a message, sources excepted
    informed: set[int] = field(factory=set)


class Phases:
    """The scheduler: `start` begins a phase, `finish` ends a pair; both return the pairs that become ready.

    Parameters
    ----------
    m : sequence of int
        m(0) to m(N) of a restricted numbering.

    Examples
    --------
    Two sources, 1 and 2, feed vertex 3. In phase 1 only vertex 1 has something to say, and vertex 3 must wait
    until it is known that vertex 2 has not.

    >>> phases = Phases([2, 2, 3, 3])
    >>> phases.start(), phases.finish(1, 1, [3]), phases.finish(2, 1, [])
    ([(1, 1), (2, 1)], [], [(3, 1)])
    """

    def __init__(self, m: Sequence[int]) -> None:
        self.m = m
        self.size = len(m) - 1
        #: the last phase that was started; all up to `completed` are over
        self.started = self.completed = 0
        self._phases: dict[int, _Phase] = {}
        #: the phases for which a vertex is full, ascending; the first one is ready
        self._turns: list[deque[int]] = [deque() for _ in m]
        #: the last phase that each vertex has run
        self._ran = [0] * len(m)

    @property
    def in_flight(self) -> int:
        """Return the number of phases that have started and are not complete."""
        return self.started - self.completed

    def start(self) -> list[Pair]:
        """Begin the next phase: every source has its signal."""
        self.started = phase = self.started + 1
        sources = range(1, self.m[0] + 1)
        self._phases[phase] = _Phase(0, deque(sources))
        ready = []
        for v in sources:
            self._turns[v].append(phase)
            if len(self._turns[v]) == 1:
                ready.append((v, phase))
        return ready

    def finish(self, vertex: int, phase: int, informed: Iterable[int] = ()) -> list[Pair]:
        """Take note that a ready pair has run and has sent messages to the vertices `informed`."""
        turns, current = self._turns[vertex], self._phases.get(phase)
        if current is None or not turns or turns[0] != phase:
            raise ValueError(f"vertex {vertex} is not ready in phase {phase}")
        turns.popleft()
        self._ran[vertex] = phase
        ready = [(vertex, turns[0])] if turns else []
        for w in informed:
            if w not in current.informed:
                current.informed.add(w)
                heappush(current.partial, w)
        if current.full[0] == vertex:
            self._advance(phase, ready)
        return ready

    def _advance(self, phase: int, ready: list[Pair]) -> None:
        """Bring x up to date, from one phase on as far as it changes; what becomes full joins its queue."""
        before = self._phases.get(phase - 1)
        limit = self.size if before is None else before.x
        current = self._phases.get(phase)
        while current is not None:
            x = min(self._lowest(phase, current) - 1, limit)
            if x == current.x:
                break
            current.x = limit = x
            self._fill(phase, current, ready)
            phase += 1
            current = self._phases.get(phase)
        self._retire()

    def _lowest(self, phase: int, current: _Phase) -> int:
        """Return the lowest vertex that still has to finish a phase, N + 1 if there is none."""
        full, ran = current.full, self._ran
        while full and ran[full[0]] >= phase:
            full.popleft()
        if full:
            return full[0]
        return current.partial[0] if current.partial else self.size + 1

    def _fill(self, phase: int, current: _Phase, ready: list[Pair]) -> None:
        partial, top = current.partial, self.m[current.x]
        while partial and partial[0] <= top:
            w = heappop(partial)
            current.full.append(w)
            turns = self._turns[w]
            turns.append(phase)
            if len(turns) == 1:
                ready.append((w, phase))

    def _retire(self) -> None:
        first = self._phases.get(self.completed + 1)
        while first is not None and first.x == self.size:
            self.completed += 1
            del self._phases[self.completed]
            first = self._phases.get(self.completed + 1)

    # -- the sets of the paper, for those who want to look

    def x(self, phase: int) -> int:
        """Return x_p: all vertices up to it have finished the phase."""
        if phase <= self.completed:
            return self.size
        return self._phases[phase].x if phase in self._phases else 0

    @property
    def partial(self) -> set[Pair]:
        """Return the pairs (9) that have a message but do not know all their inputs."""
        return {(v, p) for p, phase in self._phases.items() for v in phase.partial}

    @property
    def full(self) -> set[Pair]:
        """Return the pairs (7) that have a message and know all their inputs."""
        return {(v, p) for v, turns in enumerate(self._turns) for p in turns}

    @property
    def ready(self) -> set[Pair]:
        """Return the pairs (8) that may run now: of each vertex, the full pair of its lowest phase."""
        return {(v, turns[0]) for v, turns in enumerate(self._turns) if turns}
