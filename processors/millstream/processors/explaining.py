"""Runs that can be asked where an output comes from.

`explained` turns a query into one over traced events (see `lineage`): every processor is followed by a
tracker, or says itself how it does its work with traced events. `ExplainedRun` puts the causes on at the
inputs and takes them off before the sinks. So nothing of this stands on the path of ordinary runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from copy import copy
from html import escape
from typing import Any, ClassVar

from attrs import frozen

from .errors import QueryError, shorten
from .graph import Edge, Graph, flatten
from .lineage import NOTHING, Accumulated, Cause, Lineage, Traced, Tracker
from .processor import Processor, Router, Uniform, fields, instance, is_state, overrides, processor, state
from .processor import transient as transient_field
from .push import Run
from .query import Query
from .sinks import as_sink
from .states import Slots
from .wiring import Options

#: how many outputs are remembered, and how many causes of each, unless told otherwise
LIMIT = 1000


def explained(query: Query, limit: int = LIMIT) -> Graph:
    """Return a query that does the same with traced events."""
    graph, _ = flatten(query.graph)
    nodes = tuple(node.explained(limit) or follow(node, tracker_of(node, limit)) for node in graph.nodes)
    edges = tuple(Edge(e.source, e.target, tuple(Traced(x, NOTHING) for x in e.initial)) for e in graph.edges)
    return Graph(nodes, edges, graph.entries, graph.exits)


def tracker_of(node: Processor, limit: int) -> Tracker:
    """Return the tracker that a processor chooses, or else the default."""
    chosen: Tracker | None = node.tracker(limit)
    if chosen is not None:
        return chosen
    return Accumulated(limit) if any(map(is_state, fields(node))) else Tracker(limit)


def follow(node: Processor, tracker: Tracker) -> Processor:
    """Return a processor that does the same as another with traced events, as a tracker says."""
    if isinstance(node, Router):
        return FollowedRouter(node, tracker)
    if isinstance(node, Uniform) and not overrides(node, "end"):
        return FollowedUniform(node, tracker)
    return Followed(node, tracker)


@processor
class Followed(Processor):
    """A processor with a tracker, for traced events."""

    node: Processor
    tracked: Tracker
    live: Processor = transient_field()
    slots: Slots = transient_field()
    #: state of the processor, None if it is the initial one
    values: tuple[Any, ...] | None = state(None)
    following: Tracker = state(of=lambda self: copy(self.tracked))

    @property
    def arity(self) -> tuple[int, int]:
        """Return the arity of the processor."""
        return self.node.arity

    @property
    def name(self) -> str:
        """Return the name of the processor."""
        return self.node.name

    def prepare(self) -> None:
        """Make a processor to run here."""
        self.live = instance(self.node)
        self.live.emit = self.got
        self.live.prepare()
        self.slots = Slots([self.live])

    def got(self, *outputs: Any) -> None:
        """Take an output, and send it with where it comes from."""
        self.emit(*(Traced(y, self.following.give(y)) for y in outputs))

    def step(self, *front: Traced) -> None:
        """Give the values to the processor."""
        _resume(self)
        self.following.take(front)
        self.live.step(*(t.value for t in front))
        _pause(self)

    def end(self) -> None:
        """Let the processor come to its end."""
        _resume(self)
        self.live.end()
        _pause(self)


@processor
class FollowedUniform(Uniform):
    """A uniform processor with a tracker, for traced events."""

    node: Uniform
    tracked: Tracker
    live: Processor = transient_field()
    slots: Slots = transient_field()
    values: tuple[Any, ...] | None = state(None)
    following: Tracker = state(of=lambda self: copy(self.tracked))

    @property
    def arity(self) -> tuple[int, int]:
        """Return the arity of the processor."""
        return self.node.arity

    @property
    def name(self) -> str:
        """Return the name of the processor."""
        return self.node.name

    def prepare(self) -> None:
        """Make a processor to run here."""
        self.live = instance(self.node)
        self.live.prepare()
        self.slots = Slots([self.live])

    def step(self, *front: Traced) -> Any:
        """Give the values to the processor."""
        _resume(self)
        self.following.take(front)
        result = self.live.step(*(t.value for t in front))
        lineage = self.following.give(result)
        _pause(self)
        if self.arity[1] == 1:
            return Traced(result, lineage)
        return tuple(Traced(y, lineage) for y in result)


@processor
class FollowedRouter(Router):
    """A router with a tracker, for traced events."""

    node: Router
    tracked: Tracker
    live: Any = transient_field()
    slots: Slots = transient_field()
    values: tuple[Any, ...] | None = state(None)
    following: Tracker = state(of=lambda self: copy(self.tracked))

    @property
    def arity(self) -> tuple[int, int]:
        """Return the arity of the router."""
        return self.node.arity

    @property
    def name(self) -> str:
        """Return the name of the router."""
        return self.node.name

    def prepare(self) -> None:
        """Make a router to run here."""
        self.live = instance(self.node)
        self.live.ports = tuple(map(self._port, range(self.arity[1])))
        self.live.prepare()
        self.slots = Slots([self.live])

    def _port(self, port: int) -> Callable[[Any], None]:
        return lambda y: self.send(port, Traced(y, self.following.give(y)))

    def receive(self, port: int, event: Traced) -> None:
        """Give the value to the router."""
        _resume(self)
        self.following.take((event,))
        self.live.receive(port, event.value)
        _pause(self)

    def end(self) -> None:
        """Let the router come to its end."""
        _resume(self)
        self.live.end()
        _pause(self)


def _resume(me: Any) -> None:
    """Put the state into the processor that does the work."""
    me.slots.give(me.slots.fresh() if me.values is None else me.values)


def _pause(me: Any) -> None:
    """Take the state out again, and tell the tracker whether it is the initial one."""
    values = me.slots.take()
    initial = _same(values, me.slots.fresh())
    me.values = None if initial else values
    me.following.settle(initial)


def _same(values: Any, initial: Any) -> bool:
    try:
        return bool(values == initial)
    except Exception:  # values that cannot be compared are not the initial ones
        return False


class ExplainedRun(Run):
    """A run that can be asked where an output comes from; made by ``query.into(..., explain=True)``."""

    __slots__ = ("_counted", "_kept", "_limit", "_query")

    def __init__(self, graph: Graph, sinks: tuple[Any, ...], options: Options, limit: int) -> None:
        self._query, self._limit = graph, limit
        #: for each output port, the last outputs, and how many there have been
        self._kept: list[deque[Traced]] = [deque(maxlen=limit) for _ in graph.exits]
        self._counted = [0] * len(graph.exits)
        targets = [as_sink(s) for s in sinks] or [_discard] * len(graph.exits)
        super().__init__(
            explained(graph, limit), tuple(self._sink(k, t) for k, t in enumerate(targets)), options
        )

    def _sink(self, port: int, target: Callable[[Any], Any]) -> Callable[[Traced], None]:
        def sink(output: Traced) -> None:
            self._kept[port].append(output)
            self._counted[port] += 1
            target(output.value)

        return sink

    def _traced(self, event: Any, port: int) -> Traced:
        return Traced(event, Lineage((Cause(port, self.positions[port], event),)))

    def _make_push(self) -> Callable[..., None]:
        plain, single = super()._make_push(), len(self._entries) == 1

        def push(event: Any, port: int = 0) -> None:
            traced = self._traced(event, port)
            plain(traced) if single else plain(traced, port)

        return push

    def push_all(self, events: Iterable[Any], port: int = 0) -> None:
        """Take all events of an iterable, in order."""
        super().push_all((self._traced(event, port) for event in events), port)

    def explain(self, output: int = -1, port: int = 0) -> Explanation:
        """Return where an output comes from.

        Parameters
        ----------
        output
            Its number, counted from 0; from the end if negative.
        port
            Of which output of the query.
        """
        kept, count = self._kept[port], self._counted[port]
        number = output + count if output < 0 else output
        if not 0 <= number < count:
            raise QueryError(f"there is no output {output}: there have been {count}")
        place = number - count + len(kept)
        if place < 0:
            raise QueryError(
                f"output {number} is forgotten, the last {len(kept)} are remembered; "
                f"remember more with into(..., explain={2 * self._limit})"
            )
        return Explanation(number, kept[place].value, kept[place].lineage, repr(self._query))


def _discard(_: Any) -> None:
    """Take an output and forget it."""


@frozen
class Explanation:
    """Where an output comes from: prints as text, and notebooks show its picture.

    Attributes
    ----------
    number, output
        Which output, and its value.
    lineage
        The input events it comes from, and how many older ones have been left out.
    query
        What it went through.
    """

    WIDTH: ClassVar[int] = 44
    number: int
    output: Any
    lineage: Lineage
    query: str

    @property
    def positions(self) -> list[int]:
        """Return the positions of the input events."""
        return [cause.position for cause in self.lineage.causes]

    @property
    def events(self) -> list[Any]:
        """Return the input events, oldest first."""
        return [cause.event for cause in self.lineage.causes]

    def __str__(self) -> str:
        lines = [f"output {self.number}: {shorten(self.output)}"]
        lines += [f"  from {text}" for text in self._causes(120)]
        return "\n".join([*lines, f"  by {shorten(self.query)}"])

    def _causes(self, width: int) -> list[str]:
        older = [f"{self.lineage.omitted} older events"] if self.lineage.omitted else []
        several = any(cause.port for cause in self.lineage.causes)
        return older + [
            f"event {c.position}{f' of input {c.port}' if several else ''}: {shorten(c.event, width)}"
            for c in self.lineage.causes
        ]

    @property
    def svg(self) -> str:
        """Return a picture: the events on the left, what they became on the right."""
        causes, row = self._causes(self.WIDTH), 30
        middle, height = len(causes) * row / 2 + 10, max(len(causes), 1) * row + 20
        boxes = [_box(10, 10 + k * row, text) for k, text in enumerate(causes)]
        lines = [
            f'<path d="M 430 {22 + k * row} C 480 {22 + k * row} 470 {middle} 518 {middle}"/>'
            for k in range(len(causes))
        ]
        output = _box(520, middle - 12, f"output {self.number}: {shorten(self.output, self.WIDTH)}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 950 {height}" '
            f'width="950" height="{height}" '
            'font-family="sans-serif" font-size="13"><g fill="none" stroke="#888">'
            f"{''.join(lines)}</g>{''.join(boxes)}{output}</svg>"
        )

    def _repr_svg_(self) -> str:
        return self.svg


def _box(x: float, y: float, text: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="420" height="24" rx="4" fill="#f4f6f8" stroke="#667"/>'
        f'<text x="{x + 8}" y="{y + 16}" fill="#222">{escape(text)}</text>'
    )
