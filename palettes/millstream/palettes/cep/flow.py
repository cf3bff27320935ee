"""Flow: what a detector that runs on workers has instead of a memory.

Events are put into a network and carried to workers; between two events nothing is under way, though workers
keep the memories of their stations. A copy of a flow is plain data, and so is a saved state.
"""

from __future__ import annotations

from collections import deque
from math import floor, isfinite
from typing import Any

from attrs import define, field, frozen

from millstream.processors import MISSING, ClosedError
from millstream.processors.states import copied

from .carrier import Carrier, Sharing
from .forest import Analysis
from .network import Network
from .occurrence import Entry
from .operators import Memory
from .workshop import Failed, Workshop

STRATEGIES = ("sequential", "pps", "heartbeat", "ups", "hybrid", "auto")
#: events between the first heartbeats
BEAT = 16


@frozen(eq=False)
class Course:
    """How flows of a detector run; made once, and the same for all of them."""

    analysis: Analysis
    strategy: str
    manager: Any
    chunk: int
    limit: int | None
    full: str
    workshop: Workshop
    #: where in the memory of the sequential execution that of each operator stands
    slots: dict[int, slice]

    def network(self) -> Network:
        """Return a network in which nothing has happened."""
        beat = BEAT if self.strategy in ("heartbeat", "hybrid") else 0
        return Network.of(self.analysis, beat, self.chunk, self.limit, self.full)


@define(eq=False)
class Flow:
    """A detection under way on workers; belongs to the thread that feeds it."""

    course: Course
    network: Network
    #: events since the last time that work was carried to workers
    taken: int = 0
    #: the positions in the input of the events that are in the network, by their number there
    positions: dict[int, int | None] = field(factory=dict)
    #: what was found or failed and was not passed on
    ready: deque[Entry | Failed] = field(factory=deque)
    _carrier: Carrier | None = None
    #: the manager's limit when workers were lent
    _limit: int = 0
    #: why it cannot go on
    _lost: str = ""

    @staticmethod
    def of(course: Course, kept: Any = MISSING) -> Flow:
        """Return a flow that begins, or goes on from a copy, or from the memory of a sequential execution."""
        flow = Flow(course, course.network())
        if kept.__class__ is tuple:
            dumped, memories, flow.taken, flow.positions, flow.ready = kept
            flow.network.load(dumped)
        elif kept is not MISSING:
            memories = {
                k: [kept[0], *kept[course.slots[k]]] for k in flow.network.stations if k in course.slots
            }
        else:
            memories = {}
        for index, memory in memories.items():
            flow.network.stations[index].memory = memory
        return flow

    def put(self, kind: Any, time: Any, event: Any, position: int | None) -> None:
        """Take an event; carry it to the workers if a heart beats, or with others when there are enough."""
        self.positions[self.network.number] = position
        beaten = self.network.put(kind, time, event)
        self.taken += 1
        if beaten or (self.taken >= self.course.chunk and not self.network.hearts):
            self.work()

    def work(self, ends: bool = False) -> None:
        """Do everything that can be done; what has come out is then ready."""
        if self._lost:
            raise ClosedError(f"{self._lost}; load a saved state or reset the run")
        self.taken = 0
        if ends:
            self.network.end()
        elif self.course.strategy == "ups":
            self.network.beat()
        try:
            self._carry()
        except BaseException as error:
            self._lost = f"the workers were lost: {error}"
            self.close()
            raise
        self.ready.extend(self._placed(f) if isinstance(f, Failed) else f for f in self.network.found())
        if not any(map(len, self.network.merges.values())) and not self.network.failures:
            self.positions.clear()

    def _carry(self) -> None:
        if self._has_workers() and self._carrier is not None:
            self._carrier.run()
        else:
            self.network.run()

    def _has_workers(self) -> bool:
        """Ask for workers unless there are some; if their number has been changed, they go back first."""
        from millstream.concurrency import Crew

        manager = self.course.manager
        if self._carrier is not None and self._limit != manager.limit:
            self._carrier.recall()
            self._carrier = None
        if self._carrier is None:
            crew = Crew(manager, self.course.workshop, manager.limit)
            if not crew.size:
                return False
            self._limit = manager.limit
            self._carrier = Carrier(self.network, crew, Sharing.of(self.network, self.course.strategy))
        return True

    def _placed(self, failed: Failed) -> Failed:
        """Return a failure with the position of its event; what fails at the end of the trace has none."""
        number = failed.key[1]
        return failed._replace(position=self.positions.get(floor(number)) if isfinite(number) else None)

    def memories(self) -> dict[int, Memory]:
        """Return what all operators remember."""
        if self._carrier is not None:
            return self._carrier.memories()
        return {k: s.memory for k, s in self.network.stations.items()}

    def __copy__(self) -> Any:
        """Return everything that changes, as plain data."""
        if self._lost:
            raise ClosedError(f"{self._lost}; there is nothing to save")
        return copied((self.network.dump(), self.memories(), self.taken, self.positions, self.ready))

    def close(self) -> None:
        """Give the workers back, whatever they are doing."""
        carrier, self._carrier = self._carrier, None
        if carrier is not None:
            carrier.crew.close()

    def __del__(self) -> None:
        self.close()
