"""Runs that can be asked where an output comes from.

`explained` turns a query into one over traced events (see `lineage`): every processor is followed by a
tracker, or says itself how it does its work with traced events. `ExplainedRun` puts the causes on at the
inputs and takes them off before the sinks. So nothing of this stands on the path of ordinary runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any
from zlib import crc32

from .compiling import as_function
from .errors import QueryError
from .explanation import Explanation
from .expressions import Expression
from .graph import Edge, Graph, flatten
from .lineage import NOTHING, Accumulated, Cause, Lineage, Traced, Tracker
from .processor import (
    Processor,
    Router,
    Uniform,
    configuration,
    fields,
    instance,
    is_state,
    overrides,
    processor,
    state,
)
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
    made = Graph(nodes, edges, graph.entries, graph.exits)
    made.plans["fingerprint"] = crc32(repr((limit, query.graph.fingerprint)).encode())
    return made


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


class Following:
    """What processors with a tracker have in common: another processor, which does the work on the values."""

    __slots__ = ()

    node: Any
    tracked: Tracker
    live: Any
    slots: Slots
    #: state of the processor, None if it is the initial one
    values: tuple[Any, ...] | None
    following: Tracker

    @property
    def arity(self) -> tuple[int, int]:
        """Return the arity of the processor."""
        return self.node.arity  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """Return the name of the processor."""
        return self.node.name  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return repr(self.node)

    def prepare(self) -> None:
        """Make a processor to run here; expressions are compiled once and not with each event."""
        self.live = instance(self.node)
        for name, value in configuration(self.live).items():
            if isinstance(value, Expression):
                setattr(self.live, name, as_function(value))
        self.connect(self.live)
        self.live.prepare()
        self.slots = Slots([self.live])  # type: ignore[misc]

    def connect(self, live: Any) -> None:
        """Take what the processor puts out, unless it returns that."""

    def resume(self) -> None:
        """Put the state into the processor that does the work."""
        self.slots.give(self.slots.fresh() if self.values is None else self.values)

    def pause(self) -> None:
        """Take the state out again, and tell the tracker whether it is the initial one."""
        values = self.slots.take()
        initial = _same(values, self.slots.fresh())
        self.values = None if initial else values  # type: ignore[misc]
        self.following.settle(initial)


@processor
class Followed(Following, Processor):
    """A processor with a tracker, for traced events."""

    node: Processor
    tracked: Tracker
    live: Processor = transient_field()
    slots: Slots = transient_field()
    values: tuple[Any, ...] | None = state(None)
    following: Tracker = state(of=lambda self: copy(self.tracked))

    def connect(self, live: Any) -> None:
        """Send outputs with where they come from."""
        live.emit = lambda *ys: self.emit(*(Traced(y, self.following.give(y)) for y in ys))

    def step(self, *front: Traced) -> None:
        """Give the values to the processor."""
        self.resume()
        self.following.take(front)
        self.live.step(*(t.value for t in front))
        self.pause()

    def end(self) -> None:
        """Let the processor come to its end."""
        self.resume()
        self.live.end()
        self.pause()


@processor
class FollowedUniform(Following, Uniform):
    """A uniform processor with a tracker, for traced events."""

    node: Uniform
    tracked: Tracker
    live: Processor = transient_field()
    slots: Slots = transient_field()
    values: tuple[Any, ...] | None = state(None)
    following: Tracker = state(of=lambda self: copy(self.tracked))
    single: bool = transient_field()

    def connect(self, live: Any) -> None:
        """Find out whether there is one output."""
        self.single = self.arity[1] == 1

    def step(self, *front: Traced) -> Any:
        """Give the values to the processor."""
        self.resume()
        self.following.take(front)
        result = self.live.step(*(t.value for t in front))
        lineage = self.following.give(result)
        self.pause()
        if self.single:
            return Traced(result, lineage)
        return tuple(Traced(y, lineage) for y in result)


@processor
class FollowedRouter(Following, Router):
    """A router with a tracker, for traced events."""

    node: Router
    tracked: Tracker
    live: Any = transient_field()
    slots: Slots = transient_field()
    values: tuple[Any, ...] | None = state(None)
    following: Tracker = state(of=lambda self: copy(self.tracked))

    def connect(self, live: Any) -> None:
        """Send outputs with where they come from."""
        live.ports = tuple(map(self._port, range(self.arity[1])))

    def _port(self, port: int) -> Callable[[Any], None]:
        return lambda y: self.send(port, Traced(y, self.following.give(y)))

    def receive(self, port: int, event: Traced) -> None:
        """Give the value to the router."""
        self.resume()
        self.following.take((event,))
        self.live.receive(port, event.value)
        self.pause()

    def end(self) -> None:
        """Let the router come to its end."""
        self.resume()
        self.live.end()
        self.pause()


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
