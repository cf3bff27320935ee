"""Program: a query as kernels, in the order in which frames flow through them.

The state of a program is a `Carry`: the states of all kernels, the frames that wait at joins, and how many
events each input has taken. A batch either runs through all kernels, or, if one of them is unfit for it,
event by event through the ordinary run, which starts from the same state and leaves the next one.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from attrs import define, field

from millstream.processors import Graph, Mutable, Query, QueryError, Router, Run, Saved, StreamError
from millstream.processors.errors import shorten
from millstream.processors.graph import flatten
from millstream.processors.plan import make_plan
from millstream.processors.processor import fields, is_state, overrides
from millstream.processors.states import copied

from .column import Unfit
from .evaluating import MissingColumn, NotColumnar
from .frame import Frame, joined, of_events
from .kernels import Kernel, kernel_of
from .kernels.rows import RowsKernel

Spot = tuple[int, int]


class NotColumnarError(QueryError):
    """A query of which some part has no columnar form; names the parts, and what to do."""


@define
class Carry(Mutable):
    """The state of a columnar run."""

    states: list[Any]
    #: node -> the frames that wait at each of its inputs
    waiting: dict[int, list[Frame | None]]
    positions: tuple[int, ...]

    def __copy__(self) -> Carry:
        return Carry(copied(self.states), {n: list(w) for n, w in self.waiting.items()}, self.positions)


@define(eq=False)
class Program:
    """The kernels of a query and the ordinary run behind them."""

    query: Query
    mixed: bool
    on_error: Any = "raise"
    graph: Graph = field(init=False)
    places: tuple[str, ...] = field(init=False)
    kernels: list[Kernel] = field(init=False)
    #: why the whole query must run event by event, if it must
    unfit: str | None = field(init=False, default=None)
    #: what each output port feeds, and the entries and exits by spot
    _targets: dict[Spot, list[Spot]] = field(init=False)
    _joins: tuple[int, ...] = field(init=False)
    _outputs: list[list[Any]] = field(init=False)
    _run: Run | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.graph, self.places = flatten(self.query.graph)
        self._joins = tuple(make_plan(self.query.graph, pulling=False).joins)
        self._targets = {}
        for e in self.graph.edges:
            self._targets.setdefault(e.source, []).append(e.target)
        self._outputs = [[] for _ in self.graph.exits]
        self._compile()

    def _compile(self) -> None:
        problems = []
        self.kernels = []
        if any(e.initial for e in self.graph.edges):
            self.unfit = "a cycle goes round event by event"
        elif any(isinstance(n, Router) for n in self.graph.nodes):
            self.unfit = "a processor whose inputs are not synchronous needs the order of single events"
        if self.unfit is not None:
            problems.append(self.unfit)
        for n, node in enumerate(self.graph.nodes):
            try:
                kernel = kernel_of(node)
            except NotColumnar as why:
                problems.append(f"{self.places[n]}: {why}")
                kernel = RowsKernel(node, str(why))
            self.kernels.append(kernel)
        if problems and not self.mixed:
            raise NotColumnarError(
                f"columnar: {shorten(self.query)} cannot run on columns alone: {'; '.join(problems)}. "
                "With mixed=True these parts run event by event"
            )

    # -- state

    @property
    def run(self) -> Run:
        """The ordinary run, for batches that kernels are unfit for, and for the end of the trace."""
        if self._run is None:
            self._run = self.query.into(*self._outputs, on_error=self.on_error)
        return self._run

    def _sizes(self) -> list[int]:
        return [sum(map(is_state, fields(n))) for n in self.graph.nodes]

    def fresh(self) -> Carry:
        """Return the state before the first batch."""
        return self.entered(self.run.fresh(), (0,) * len(self.graph.entries))

    def entered(self, values: tuple[Any, ...], positions: tuple[int, ...]) -> Carry:
        """Return the state for the values of an ordinary run's state."""
        states, at = [], 0
        for kernel, size in zip(self.kernels, self._sizes(), strict=True):
            states.append(kernel.enter(values[at : at + size]))
            at += size
        waiting = {}
        for n, queues in zip(self._joins, values[at:], strict=True):
            ins = self.graph.nodes[n].arity[0]
            held = [list(q) for q in queues] if queues else [[]] * ins
            waiting[n] = [of_events(q) if q else None for q in held]
        return Carry(states, waiting, positions)

    def left(self, carry: Carry) -> tuple[Any, ...]:
        """Return the values of an ordinary run's state."""
        values: list[Any] = []
        for kernel, state in zip(self.kernels, carry.states, strict=True):
            values += kernel.leave(state)
        for n in self._joins:
            queues = [deque(f.events() if f is not None else ()) for f in carry.waiting[n]]
            values.append(queues if any(queues) else None)
        return tuple(values)

    def saved(self, carry: Carry, ended: bool = False) -> Saved:
        """Return the state as the ordinary run would save it."""
        return Saved(self.query.graph.fingerprint, carry.positions, ended, self.left(carry))

    # -- frames

    def take(self, carry: Carry, port: int, frame: Frame) -> list[Frame | None]:
        """Take a frame of one input; return the frames of the outputs. `carry` becomes the next state."""
        if self.unfit is not None:
            raise Unfit(self.unfit)
        states, waiting = list(carry.states), dict(carry.waiting)
        given: dict[Spot, Frame | None] = {self.graph.entries[port]: frame}
        made: dict[Spot, Frame | None] = {}
        with np.errstate(all="ignore"):
            for n, kernel in enumerate(self.kernels):
                front = self._front(n, given, waiting)
                if front is None:
                    continue
                try:
                    outputs, states[n] = kernel.run(states[n], front)
                except MissingColumn as why:
                    raise self._missing(n, str(why), carry.positions[port]) from None
                for o, output in enumerate(outputs):
                    made[n, o] = output
                    for target in self._targets.get((n, o), ()):
                        given[target] = output
        carry.states, carry.waiting = states, waiting
        self._moved(carry, port, frame.length)
        return [made.get(spot) for spot in self.graph.exits]

    def _front(
        self, n: int, given: dict[Spot, Frame | None], waiting: dict[int, list[Frame | None]]
    ) -> tuple[Frame, ...] | None:
        """Return what a node takes, None if nothing has come for it."""
        new = [given.get((n, i)) for i in range(self.graph.nodes[n].arity[0])]
        if n in waiting:
            queues = [
                joined([f for f in pair if f is not None]) if any(f is not None for f in pair) else None
                for pair in zip(waiting[n], new, strict=True)
            ]
            if any(q is None for q in queues):
                waiting[n] = queues
                return None
            length = min(q.length for q in queues if q is not None)
            waiting[n] = [_rest(q, length) for q in queues if q is not None]
            new = [q.slice(0, length) for q in queues if q is not None]
        return None if any(f is None for f in new) else tuple(f for f in new if f is not None)

    def _missing(self, n: int, why: str, position: int) -> StreamError:
        return StreamError(repr(self.graph.nodes[n]), self.places[n], "", position, why)

    @staticmethod
    def _moved(carry: Carry, port: int, length: int) -> None:
        before = carry.positions
        carry.positions = (*before[:port], before[port] + length, *before[port + 1 :])

    # -- events

    def take_events(
        self, carry: Carry, port: int, events: list[Any]
    ) -> tuple[list[list[Any]], Exception | None]:
        """Take the events of one input one by one; return the outputs, and the failure that ended them."""
        self.run.load(self.saved(carry))
        failure = None
        try:
            self.run.push_all(events, port)
        except StreamError as error:
            failure = error
        outputs = self._drained()
        if failure is None:
            after = self.run.save()
            following = self.entered(after.values, after.positions)
            carry.states, carry.waiting = following.states, following.waiting
            carry.positions = following.positions
        return outputs, failure

    @property
    def ends(self) -> bool:
        """Whether something may come out at the end of the trace."""
        return any(overrides(n, "end") for n in self.graph.nodes)

    def end(self, carry: Carry) -> list[list[Any]]:
        """Come to the end of the trace; return the outputs."""
        self.run.load(self.saved(carry))
        try:
            self.run.end()
        finally:
            outputs = self._drained()
        after = self.run.save()
        carry.states = self.entered(after.values, after.positions).states
        return outputs

    def _drained(self) -> list[list[Any]]:
        outputs = [list(out) for out in self._outputs]
        for out in self._outputs:
            out.clear()
        return outputs

    def spent(self, carry: Carry) -> bool:
        """Return whether nothing can come out any more: some kernel that all events pass is spent."""
        chained = all(len(t) == 1 for t in self._targets.values()) and len(self.graph.exits) == 1
        if not chained or len(self.graph.entries) != 1:
            return False
        return any(k.spent(s) for k, s in zip(self.kernels, carry.states, strict=True))


def _rest(frame: Frame, length: int) -> Frame | None:
    return None if frame.length == length else frame.slice(length, frame.length)
