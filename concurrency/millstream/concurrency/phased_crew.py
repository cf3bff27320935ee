"""Phased execution by a crew of workers: who runs which task, and the loop that carries tasks and results.

Every worker has computations of its own for all vertices. Stateless ones may run anywhere; one with state
is run by the worker that ran it first. Tasks are handed over in chunks, two of them for each worker, so
that it has something to do while its results travel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from .crew import Crew
from .failures import Failure, portable
from .phased_state import Phase, PhasedState, Task
from .vertices import Computation, Vertex

#: chunks for a worker at one time, and the greatest number of tasks in one
AHEAD, LARGEST = 2, 64
Request = list[tuple[int, tuple[Any, ...]]]


@frozen
class Computations:
    """Makes, in a worker, what runs chunks of tasks: ``(vertex, front)`` in, results or failures out."""

    vertices: tuple[Vertex, ...]

    def __call__(self) -> Callable[[Request], list[Any]]:
        made: dict[int, Computation] = {}

        def answer(request: Request) -> list[Any]:
            results: list[Any] = []
            for v, front in request:
                try:
                    if v not in made:
                        made[v] = self.vertices[v - 1].computation()
                    results.append(made[v](*front))
                except Exception as error:
                    results.append(portable(error))
            return results

        return answer


class Dispatch:
    """Decides which worker runs which tasks.

    >>> dispatch = Dispatch(2, pinned={1, 2})
    >>> dispatch.add([Task(1, 1, ()), Task(2, 1, ()), Task(3, 1, ())])
    >>> [[task.vertex for task in dispatch.take(member)] for member in (0, 1, 0)]
    [[1, 3], [2], []]
    """

    def __init__(self, members: int, pinned: set[int]) -> None:
        self._pinned = pinned
        self._owner: dict[int, int] = {}
        self._owned = [0] * members
        #: tasks that only one worker can run, and those that any can
        self._own: list[deque[Task]] = [deque() for _ in range(members)]
        self._shared: deque[Task] = deque()

    def add(self, tasks: Iterable[Task]) -> None:
        """Take tasks that may run."""
        for task in tasks:
            if task.vertex in self._pinned:
                self._own[self._owner_of(task.vertex)].append(task)
            else:
                self._shared.append(task)

    def _owner_of(self, vertex: int) -> int:
        if vertex not in self._owner:
            member = self._owned.index(min(self._owned))
            self._owner[vertex] = member
            self._owned[member] += 1
        return self._owner[vertex]

    def take(self, member: int) -> list[Task]:
        """Return the next tasks for a worker: its own first, then a fair part of the shared ones."""
        own, members = self._own[member], len(self._own)
        chunk = [own.popleft() for _ in range(min(len(own), LARGEST))]
        part = -(-len(self._shared) // (AHEAD * members)) if len(chunk) < LARGEST else 0
        chunk += [self._shared.popleft() for _ in range(min(part, LARGEST - len(chunk)))]
        return chunk


def run_by_crew(
    state: PhasedState, given: Iterator[tuple[Any, Mapping[str, Any]]], crew: Crew, ahead: int
) -> Iterator[Phase]:
    """Yield the phases of an execution whose tasks are done by a crew."""
    vertices = enumerate(state.plan.vertices, 1)
    dispatch = Dispatch(crew.size, {v for v, vertex in vertices if vertex.has_state})
    under_way: list[deque[list[Task]]] = [deque() for _ in range(crew.size)]
    more = True
    while more or state.in_flight:
        while more and state.failure is None and state.in_flight < ahead:
            phase = next(given, None)
            if phase is None:
                more = False
            else:
                dispatch.add(state.start(*phase))
        for member in range(crew.size):
            while crew.pending(member) < AHEAD and (chunk := _wanted(state, dispatch, member)):
                crew.send(member, [(task.vertex, task.front) for task in chunk])
                under_way[member].append(chunk)
        if crew.is_busy:
            member, results = crew.receive()
            _report(state, dispatch, under_way[member].popleft(), results)
        yield from state.take()
        if state.has_failed:
            assert state.failure is not None
            raise state.failure


def _wanted(state: PhasedState, dispatch: Dispatch, member: int) -> list[Task]:
    """Return the next tasks for a worker, without those that a failure has made needless."""
    while chunk := dispatch.take(member):
        wanted = [task for task in chunk if state.is_wanted(task)]
        for task in chunk:
            if not state.is_wanted(task):
                dispatch.add(state.done(task, None))
        if wanted:
            return wanted
    return []


def _report(state: PhasedState, dispatch: Dispatch, chunk: list[Task], results: list[Any]) -> None:
    for task, result in zip(chunk, results, strict=True):
        if isinstance(result, Failure):
            try:
                result.throw()
            except Exception as error:
                dispatch.add(state.fail(task, error))
        else:
            dispatch.add(state.done(task, result))
