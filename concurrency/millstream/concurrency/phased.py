"""PhasedGraph: vertices that compute in phases, several of them at a time, as if one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from millstream.processors import MISSING
from millstream.processors.errors import QueryError

from .crew import Crew
from .manager import ThreadManager
from .numbering import Numbering
from .phased_crew import Computations, run_by_crew
from .phased_state import Phase, PhasedState, Plan, Task
from .vertices import Vertex

#: a phase as it comes from outside: its time, and values by the name of their source
Given = tuple[Any, Mapping[str, Any]]


class PhasedGraph:
    """A directed acyclic graph of computations that correlate event streams.

    All that happens at one time is a phase. In a phase a vertex computes only if one of its inputs has
    changed, and uses previous values for the rest; what returns nothing sends nothing, so that the absence
    of a message is information. The results are those of one phase at a time, whatever runs at the same
    time.

    Examples
    --------
    >>> graph = PhasedGraph()
    >>> graph.add("temperature")
    >>> graph.add("smoke")
    >>> graph.add("hot", lambda t: t > 30, "temperature")
    >>> graph.add("fire", lambda hot, smoke: hot and smoke, "hot", "smoke")
    >>> streams = {"temperature": [(1, 20), (5, 40)], "smoke": [(1, False), (3, True)]}
    >>> for phase in graph.run(by_time(streams)):
    ...     print(phase.time, phase.values)
    1 {'fire': False}
    3 {'fire': False}
    5 {'fire': True}

    References
    ----------
    Zimmerman and Chandy, *A Parallel Algorithm for Correlating Event Streams*.
    """

    def __init__(self, vertices: Iterable[Vertex] = ()) -> None:
        self._vertices: dict[str, Vertex] = {}
        self._plan: Plan | None = None
        for vertex in vertices:
            self._add(vertex)

    def add(
        self, name: str, what: Any = None, *inputs: str | tuple[str, int], initial: Any = MISSING
    ) -> None:
        """Add a vertex; see `Vertex` for the parameters.

        A vertex without inputs is a source: with nothing that computes, its values come from outside; with a
        function, that is called with the time of each phase.
        """
        self._add(Vertex(name, what, inputs, initial))

    def _add(self, vertex: Vertex) -> None:
        if vertex.name in self._vertices:
            raise QueryError(f"there are two vertices named {vertex.name!r}")
        self._vertices[vertex.name] = vertex
        self._plan = None

    @property
    def plan(self) -> Plan:
        """Return the vertices by index, and where their results go."""
        if self._plan is None:
            self._plan = Plan.of(list(self._vertices.values()))
        return self._plan

    @property
    def numbering(self) -> Numbering:
        """Return the restricted numbering of the vertices, with S(v) and m(v)."""
        return self.plan.numbering

    def run(
        self, phases: Iterable[Given] | int, manager: ThreadManager | None = None, ahead: int = 64
    ) -> Iterator[Phase]:
        """Return an iterator over the phases with the values that their sinks sent.

        Parameters
        ----------
        phases
            ``(time, {source: value})`` for each phase, as `by_time` makes them of streams; or how many phases
            there are, if no source takes values from outside.
        manager
            A `ThreadManager` that lends workers; without one, or if it lends none, all happens here.
        ahead
            How many phases may be in flight.
        """
        given = ((k, {}) for k in range(1, phases + 1)) if isinstance(phases, int) else iter(phases)
        if ahead < 1:
            raise QueryError(f"PhasedGraph.run: ahead must be an integer of at least 1, got {ahead}")
        return self._run_by_workers(given, manager, ahead) if manager else self._run_here(given)

    def _run_by_workers(self, given: Iterator[Given], manager: ThreadManager, ahead: int) -> Iterator[Phase]:
        """Run several phases at a time, on as many workers as there are to have."""
        with Crew(manager, Computations(self.plan.vertices), manager.limit) as crew:
            if crew.size:
                yield from run_by_crew(PhasedState(self.plan), given, crew, ahead)
            else:
                yield from self._run_here(given)

    def _run_here(self, given: Iterator[Given]) -> Iterator[Phase]:
        """Run one phase at a time: the definition of what every other way of running gives."""
        state = PhasedState(self.plan)
        computations = [v.what and v.computation() for v in self.plan.vertices]
        for time, values in given:
            tasks = deque(state.start(time, values))
            while tasks:
                task = tasks.popleft()
                tasks += run_task(state, task, computations[task.vertex - 1])
            yield from state.take()
            if state.has_failed:
                assert state.failure is not None
                raise state.failure


def run_task(state: PhasedState, task: Task, compute: Any) -> list[Task]:
    """Run a task where we are, and return those that become possible."""
    if not state.is_wanted(task):
        return state.done(task, None)
    try:
        result = compute(*task.front)
    except Exception as error:
        return state.fail(task, error)
    return state.done(task, result)


def by_time(streams: Mapping[str, Iterable[tuple[Any, Any]]]) -> Iterator[Given]:
    """Merge streams of ``(time, value)`` into phases: all that has one time is one phase.

    >>> list(by_time({"a": [(1, "x"), (2, "y")], "b": [(2, "z")]}))
    [(1, {'a': 'x'}), (2, {'a': 'y', 'b': 'z'})]
    """
    last: Any = None
    timed = merge(*(_named(*stream) for stream in streams.items()), key=itemgetter(0))
    for time, group in groupby(timed, key=itemgetter(0)):
        if last is not None and time < last:
            raise ValueError(f"time goes backwards, from {last!r} to {time!r}")
        last = time
        given: dict[str, Any] = {}
        for _, name, value in group:
            if name in given:
                raise ValueError(f"source {name!r} has two values at time {time!r}")
            given[name] = value
        yield time, given


def _named(name: str, events: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, str, Any]]:
    for time, value in events:
        yield time, name, value
