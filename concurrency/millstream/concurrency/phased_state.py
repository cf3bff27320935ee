"""Phased execution with values, still without threads: tasks out, results in.

`PhasedState` adds to the scheduler (`phases`) what flows: messages, previous values, outputs of phases,
failures. Whoever drives it runs the tasks that it returns, in any order and anywhere, and reports each
result. Outputs come in the order of phases, and are the same whatever the order of the tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from millstream.processors import MISSING, StreamError
from millstream.processors.errors import QueryError, shorten

from .numbering import Numbering, number
from .phases import Pair, Phases
from .vertices import Vertex


@frozen
class Phase:
    """What a phase gave: its number, its time, and the values that sinks sent; a silent sink is not there."""

    number: int
    time: Any
    values: dict[str, Any]


@frozen
class Task:
    """A vertex to be run in a phase, on a front of values."""

    vertex: int
    phase: int
    front: tuple[Any, ...]

    @property
    def pair(self) -> tuple[int, int]:
        """Return phase and vertex: one task at a time would run in the order of these."""
        return self.phase, self.vertex


@frozen
class Plan:
    """Vertices by index, and where results go: for each vertex (target, input, part of the result)."""

    vertices: tuple[Vertex, ...]
    numbering: Numbering
    targets: tuple[tuple[tuple[int, int, int | None], ...], ...]
    sinks: frozenset[int]

    @classmethod
    def of(cls, vertices: Sequence[Vertex]) -> Plan:
        """Return the plan of named vertices."""
        if not vertices:
            raise QueryError("a phased graph needs at least one vertex")
        edges = [(name, v.name) for v in vertices for name, _ in v.inputs]
        numbering = number([v.name for v in vertices], edges)
        named = {v.name: v for v in vertices}
        ordered = tuple(named[str(name)] for name in numbering.order)
        targets: list[list[tuple[int, int, int | None]]] = [[] for _ in range(len(ordered) + 1)]
        for w, vertex in enumerate(ordered, 1):
            for port, (name, part) in enumerate(vertex.inputs):
                targets[numbering.index[name]].append((w, port, part))
        sinks = frozenset(v for v in range(1, len(ordered) + 1) if not targets[v])
        return cls(ordered, numbering, tuple(map(tuple, targets)), sinks)


class PhasedState:
    """The state of a phased execution: `start` and `done` return tasks, `take` the phases that are over."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.phases = Phases(plan.numbering.m)
        #: the first failure, in the order of one phase at a time
        self.failure: StreamError | None = None
        self._failed: tuple[int, int] | None = None
        #: the last value of each input of each vertex
        self._values: list[list[Any]] = [
            [], *([v.initial] * len(v.inputs) for v in plan.vertices)]  # fmt: skip
        #: (vertex, phase) -> the values that were sent to it, by input
        self._mail: dict[Pair, list[tuple[int, Any]]] = {}
        #: phases from the first that is not taken: time, values from outside, values of sinks
        self._open: dict[int, tuple[Any, Mapping[str, Any], dict[str, Any]]] = {}
        self._taken = 0

    @property
    def in_flight(self) -> int:
        """Return the number of phases that have started and are not complete."""
        return self.phases.in_flight

    def start(self, time: Any, given: Mapping[str, Any]) -> list[Task]:
        """Begin a phase with values from outside, by the name of their source."""
        index, vertices = self.plan.numbering.index, self.plan.vertices
        for name in given:
            if name not in index or vertices[index[name] - 1].what is not None:
                raise QueryError(f"there is no source {name!r} that takes values from outside")
        self._open[self.phases.started + 1] = time, given, {}
        return self._tasks(self.phases.start())

    def done(self, task: Task, result: Any) -> list[Task]:
        """Take the result of a task."""
        return self._tasks(self._finish(task.vertex, task.phase, result))

    def fail(self, task: Task, error: Exception) -> list[Task]:
        """Take note that a task failed; what comes earlier goes on, what comes later does not matter."""
        if self._failed is None or task.pair < self._failed:
            self._failed, self.failure = task.pair, self._describe(task, error)
        return self._tasks(self.phases.finish(task.vertex, task.phase))

    def is_wanted(self, task: Task) -> bool:
        """Return whether a task comes before the first failure; others need not run."""
        return self._failed is None or task.pair < self._failed

    def take(self) -> list[Phase]:
        """Return the phases that are over, in order, up to the first failure."""
        over = []
        while self._taken < self.phases.completed:
            if self._failed is not None and self._failed[0] == self._taken + 1:
                break
            self._taken += 1
            time, _, values = self._open.pop(self._taken)
            over.append(Phase(self._taken, time, values))
        return over

    @property
    def has_failed(self) -> bool:
        """Return whether all that comes before the first failure has been taken."""
        return self._failed is not None and self._failed[0] == self._taken + 1 <= self.phases.completed

    def _finish(self, v: int, p: int, result: Any) -> list[Pair]:
        """Send a result on, and return the pairs that become ready."""
        if result is None:
            return self.phases.finish(v, p)
        informed = []
        for w, port, part in self.plan.targets[v]:
            value = result if part is None else result[part]
            if value is not None:
                self._mail.setdefault((w, p), []).append((port, value))
                informed.append(w)
        if v in self.plan.sinks:
            self._open[p][2][self.plan.vertices[v - 1].name] = result
        return self.phases.finish(v, p, informed)

    def _tasks(self, ready: list[Pair]) -> list[Task]:
        """Return the tasks of ready pairs; what needs no computation is finished here."""
        tasks = []
        for v, p in ready:
            vertex = self.plan.vertices[v - 1]
            if vertex.what is None:
                ready += self._finish(v, p, self._open[p][1].get(vertex.name))
            elif not vertex.inputs:
                tasks.append(Task(v, p, (self._open[p][0],)))
            else:
                values = self._values[v]
                for port, value in self._mail.pop((v, p)):
                    values[port] = value
                if any(value is MISSING for value in values):
                    ready += self._finish(v, p, None)
                else:
                    tasks.append(Task(v, p, tuple(values)))
        return tasks

    def _describe(self, task: Task, error: Exception) -> StreamError:
        vertex = self.plan.vertices[task.vertex - 1]
        event = ", ".join(map(shorten, task.front))
        if isinstance(error, StreamError):
            reason, cause = error.reason, error.__cause__ or error
        else:
            reason, cause = f"{type(error).__name__}: {error}", error
        failure = StreamError(
            shorten(vertex.what), f"vertex {vertex.name!r}", event, task.phase - 1, reason
        )  # fmt: skip
        failure.__cause__ = cause
        return failure
