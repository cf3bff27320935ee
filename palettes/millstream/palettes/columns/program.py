"""Program: a query as kernels, in the order in which frames flow through them.

The state of a program is a `Carry`: the states of all kernels, the frames that wait at joins, and how many
events each input has taken. A batch either runs through all kernels, or, if one of them is unfit for it,
event by event through the ordinary run, which starts from the same state and leaves the next one.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from attrs import define, evolve, field

from millstream.processors import Filter, Graph, Mutable, Query, QueryError, Router, Run, Saved, StreamError
from millstream.processors.errors import shorten
from millstream.processors.graph import flatten
from millstream.processors.plan import make_plan
from millstream.processors.processor import fields, is_state, overrides
from millstream.processors.states import copied

from .column import Unfit
from .evaluating import MissingColumn, NotColumnar
from .frame import Frame, joined, of_events
from .fusing import Fuser, Spot, Step
from .kernels import Kernel, kernel_of
from .kernels.rows import RowsKernel


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
class Layout:
    """What all programs of one query share: its kernels and how they are connected. Made once for a graph."""

    graph: Graph
    places: tuple[str, ...]
    kernels: list[Kernel]
    #: why the whole query must run event by event, if it must
    unfit: str | None
    problems: list[str]
    #: nodes behind joins, in the order of their queues in a saved state
    joins: tuple[int, ...]
    #: for each input of each node, what feeds it: (-1, entry) or (node, output)
    feeds: list[tuple[Spot, ...]]
    #: what is run for a batch, one step after the other, and what leaves the query
    steps: list[Step]
    exits: list[Spot]
    #: how many state fields each node has
    sizes: list[int]
    #: kernels that may become spent, if all events pass them
    stopping: list[int]
    #: whether something may come out at the end of the trace; the ordinary run then takes over for it
    ends: bool

    @classmethod
    def of(cls, query: Query) -> Layout:
        """Return the layout of a query."""
        plans = query.graph.plans
        if "columns" not in plans:
            plans["columns"] = cls._made(query)
        layout: Layout = plans["columns"]
        return layout

    @classmethod
    def _made(cls, query: Query) -> Layout:
        graph, places = flatten(query.graph)
        unfit = _obstacle(graph)
        problems, kernels = [] if unfit is None else [unfit], []
        for n, node in enumerate(graph.nodes):
            try:
                kernel = kernel_of(node)
            except NotColumnar as why:
                problems.append(f"{places[n]}: {why}")
                kernel = RowsKernel(node, str(why))
            kernels.append(kernel)
        sources = {e.target: e.source for e in graph.edges} | {
            spot: (-1, k) for k, spot in enumerate(graph.entries)
        }
        feeds = [tuple(sources[n, i] for i in range(node.arity[0])) for n, node in enumerate(graph.nodes)]
        joins = tuple(make_plan(query.graph, pulling=False).joins)
        line = len(graph.entries) == len(graph.exits) == 1 and len(graph.edges) == len(graph.nodes) - 1
        return cls(
            graph,
            places,
            kernels,
            unfit,
            problems,
            joins,
            feeds,
            *Fuser(graph, kernels, feeds, joins).steps(),
            [sum(map(is_state, fields(n))) for n in graph.nodes],
            [n for n, k in enumerate(kernels) if line and type(k).spent is not Kernel.spent],
            any(overrides(n, "end") and k.ends for n, k in zip(graph.nodes, kernels, strict=True)),
        )


def _obstacle(graph: Graph) -> str | None:
    """Return why no part of a query can run on columns."""
    if any(e.initial for e in graph.edges):
        return "a cycle goes round event by event"
    if any(isinstance(n, Router) for n in graph.nodes):
        return "a processor whose inputs are not synchronous needs the order of single events"
    return None


@define(eq=False)
class Program:
    """The kernels of a query and the ordinary run behind them."""

    query: Query
    mixed: bool
    on_error: Any = "raise"
    layout: Layout = field(init=False)
    kernels: list[Kernel] = field(init=False)
    steps: list[Step] = field(init=False)
    _outputs: list[list[Any]] = field(init=False)
    _run: Run | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        layout = self.layout = Layout.of(self.query)
        if layout.problems and not self.mixed:
            raise NotColumnarError(
                f"columnar: {shorten(self.query)} cannot run on columns alone: {'; '.join(layout.problems)}. "
                "With mixed=True these parts run event by event"
            )
        self.kernels = [k.alone() for k in layout.kernels]
        own = dict(zip(map(id, layout.kernels), self.kernels, strict=True))
        self.steps = [evolve(s, kernel=own.get(id(s.kernel), s.kernel)) for s in layout.steps]
        self._outputs = [[] for _ in layout.graph.exits]

    # -- state

    @property
    def run(self) -> Run:
        """The ordinary run, for batches that kernels are unfit for, and for the end of the trace."""
        if self._run is None:
            self._run = self.query.into(*self._outputs, on_error=self.on_error)
        return self._run

    def fresh(self) -> Carry:
        """Return the state before the first batch."""
        plans = self.query.graph.plans
        if "columns fresh" not in plans:  # making a run costs more than running many batches
            plans["columns fresh"] = self.run.fresh
        return self.entered(plans["columns fresh"](), (0,) * len(self.layout.graph.entries))

    def entered(self, values: tuple[Any, ...], positions: tuple[int, ...]) -> Carry:
        """Return the state for the values of an ordinary run's state."""
        states, at = [], 0
        for kernel, size in zip(self.kernels, self.layout.sizes, strict=True):
            states.append(kernel.enter(values[at : at + size]))
            at += size
        waiting = {}
        for n, queues in zip(self.layout.joins, values[at:], strict=True):
            ins = len(self.layout.feeds[n])
            held = [list(q) for q in queues] if queues else [[]] * ins
            waiting[n] = [of_events(q) if q else None for q in held]
        return Carry(states, waiting, positions)

    def left(self, carry: Carry) -> tuple[Any, ...]:
        """Return the values of an ordinary run's state."""
        values: list[Any] = []
        for kernel, state in zip(self.kernels, carry.states, strict=True):
            values += kernel.leave(state)
        for n in self.layout.joins:
            queues = [deque(f.events() if f is not None else ()) for f in carry.waiting[n]]
            values.append(queues if any(queues) else None)
        return tuple(values)

    def saved(self, carry: Carry, ended: bool = False) -> Saved:
        """Return the state as the ordinary run would save it."""
        return Saved(self.query.graph.fingerprint, carry.positions, ended, self.left(carry))

    # -- frames

    def take(self, carry: Carry, port: int, frame: Frame) -> list[Frame | None]:
        """Take a frame of one input; return the frames of the outputs. `carry` becomes the next state."""
        layout = self.layout
        if layout.unfit is not None:
            raise Unfit(layout.unfit)
        states, waiting = carry.states.copy(), carry.waiting.copy()
        made: dict[Spot, Frame | None] = {(-1, port): frame}
        for step in self.steps:
            n, front = step.node, tuple(map(made.get, step.feeds))
            if n in waiting:
                front = _joined(waiting, n, front)
            if None in front:
                continue
            try:
                outputs, states[n] = step.kernel.run(states[n], front)  # type: ignore[arg-type]
            except MissingColumn:
                raise self._missing(step, front, carry.positions[port]) from None
            made.update(zip(step.outputs, outputs, strict=True))
        carry.states, carry.waiting = states, waiting
        before = carry.positions
        carry.positions = (*before[:port], before[port] + frame.length, *before[port + 1 :])
        return [made.get(spot) for spot in layout.exits]

    def _missing(self, step: Step, front: Any, position: int) -> StreamError:
        """Return the failure of the processor among those of a step that misses a column."""
        layout, entered = self.layout, front
        for n in step.members:
            if n == step.node and len(step.members) > 1:
                front = entered if type(layout.graph.nodes[n]) is Filter else front
            try:
                front = layout.kernels[n].run((), front)[0]
            except MissingColumn as why:
                return StreamError(repr(layout.graph.nodes[n]), layout.places[n], "", position, str(why))
        raise AssertionError(f"no processor of {step} misses a column")

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
        """Return whether nothing can come out any more: a kernel that all events pass is spent."""
        stopping = self.layout.stopping
        return bool(stopping) and any(self.kernels[n].spent(carry.states[n]) for n in stopping)


def _joined(waiting: dict[int, list[Frame | None]], n: int, new: tuple[Frame | None, ...]) -> Any:
    """Return the front of a node behind a join, after what waits there; the rest waits on."""
    queues = []
    for pair in zip(waiting[n], new, strict=True):
        frames = [f for f in pair if f is not None]
        queues.append(joined(frames) if frames else None)
    if None in queues:
        waiting[n] = queues
        return (None,)
    length = min(q.length for q in queues if q is not None)
    waiting[n] = [_rest(q, length) for q in queues if q is not None]
    return tuple(q.slice(0, length) for q in queues if q is not None)


def _rest(frame: Frame, length: int) -> Frame | None:
    return None if frame.length == length else frame.slice(length, frame.length)
