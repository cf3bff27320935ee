"""The pull engine: iterators over the outputs of a query, computed on demand.

Each region becomes one generator (`codegen`). Demand is exact: an input is read only when an output needs it.
A region that several others read from (a fork whose branches run at different clocks) keeps what one of them
has not asked for yet, like `itertools.tee`. Where generators would nest too deeply for Python's stack, a push
run is driven instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, compress, count, repeat
from operator import length_hint
from sys import maxsize
from typing import Any

from attrs import NOTHING, define, field

from .codegen import Source, pull_source, target
from .errors import BufferFullError, QueryError, StreamError, shorten
from .graph import Graph
from .plan import Plan, Region, make_plan
from .processor import Router, overrides
from .push import DEPTH, Run
from .states import Saved, Slots, State
from .wiring import HOLE, Options, Wiring, check_arity

#: yields what the first events give; returns the state to go on from, or None if nothing is left to do
Opening = Callable[[Iterator[Any]], Generator[Any, None, State | None]]
#: iterators whose position can be read off them
COUNTED: tuple[type, ...] = (type(iter([])), type(iter(())), type(iter(range(0))))


def pull(
    graph: Graph,
    sources: Sequence[Iterable[Any]],
    on_error: Any = "raise",
    capacity: int | None = None,
    begun: tuple[int, State | None] = (0, None),
    opening: Opening | None = None,
) -> list[Iterator[Any]]:
    """Return one iterator for each output of a graph.

    For graphs with one input and one output, and without joins: with `begun` it goes on after so many events,
    from a state; what `opening` yields comes first, and nothing of it is in the way of what comes after.
    """
    check_arity("input", graph, len(graph.entries), len(sources))
    for source in sources:
        if not isinstance(source, Iterable):
            raise QueryError(f"{shorten(graph)} is called on iterables of events, got {shorten(source)}")
    options = Options(on_error, capacity=capacity)
    plan = make_plan(graph, pulling=True)
    if any(region.depth > DEPTH for region in plan.regions):
        return _through_push(graph, sources, options, begun, opening)
    return _Puller(graph, plan, sources, options, begun, opening).outputs()


@define(eq=False)
class _Hub:
    """Several readers of one sequence of steps: each step fills the queues, each reader empties its own."""

    steps: Iterator[Any]
    running: bool = False

    def read(self, queue: deque[Any]) -> Iterator[Any]:
        """Yield the events of one queue, making steps as they are needed."""
        while True:
            while queue:
                yield queue.popleft()
            if self.running:
                return  # a cycle that has run dry
            self.running = True
            try:
                done = next(self.steps, NOTHING) is NOTHING
            finally:
                self.running = False
            if done:
                while queue:
                    yield queue.popleft()
                return


@define(eq=False)
class _Puller:
    """Wires one plan: `_exits` maps what leaves a region, (kind, node, port), to its iterator."""

    graph: Graph
    plan: Plan
    sources: Sequence[Iterable[Any]]
    options: Options
    begun: tuple[int, State | None]
    opening: Opening | None
    _wiring: Wiring = field(init=False)
    _exits: dict[tuple[str, int, int], Iterator[Any]] = field(factory=dict, init=False)
    _inputs: list[Iterator[Any]] = field(factory=list, init=False)
    _positions: list[Callable[[], int]] = field(factory=list, init=False)
    _routed: dict[int, list[Iterator[Any]]] = field(factory=dict, init=False)

    def outputs(self) -> list[Iterator[Any]]:
        """Return the iterators of the graph's outputs."""
        source, code = _compiled(self.plan, self.graph, self.options, self.opening is not None)
        self._wiring = Wiring(self.plan, source.lines, self.options)
        self._wiring.position = self._position
        if self.opening is not None:
            self._wiring.names["opened"] = self._opened
        self._inputs = [self._counted(source) for source in self.sources]
        queues = self._queues()
        self._wiring.run(code)
        self._wiring.prepare()
        if self.begun[1] is not None:
            Slots(self._wiring.nodes).give(self.begun[1])
        for region in self.plan.regions:
            self._add(region, queues)
        exits = [self._exits["sink", k, 0] for k in range(len(self.graph.exits))]
        if self.opening is None or any(r.is_last and not self._passes(r) for r in self.plan.regions):
            return exits  # the last region has begun with the opening
        return [self._opened_before(exits[0])]

    def _opened(self) -> Generator[Any, None, bool]:
        """Yield what the opening gives, and return whether that was all."""
        assert self.opening is not None
        values = yield from self.opening(self._inputs[0])
        if values is not None:
            Slots(self._wiring.nodes).give(values)
        return values is None

    def _opened_before(self, events: Iterator[Any]) -> Iterator[Any]:
        if not (yield from self._opened()):
            yield from events

    def _queues(self) -> dict[int, list[deque[Any]]]:
        """Make the queues that code fills: of emitting processors, and of each exit of a shared region."""
        names = self._wiring.names
        queues: dict[int, list[deque[Any]]] = {}
        for n, node in enumerate(self._wiring.nodes):
            emitted: deque[Any] = deque()
            names[f"emitted_{n}"], names[f"take_{n}"] = emitted, emitted.popleft
            outs = node.arity[1]
            node.emit = emitted.append if outs == 1 else lambda *ys, put=emitted.append: put(ys)
        for region in self.plan.regions:
            if len(region.sends) != 1:
                queues[region.index] = [deque() for _ in region.sends]
                for send, queue in zip(region.sends, queues[region.index], strict=True):
                    names[f"queue_{target(send)}"] = self._put(queue, send.node)
        return queues

    def _put(self, queue: deque[Any], node: int) -> Callable[[Any], None]:
        capacity = self.options.capacity
        if capacity is None:
            return queue.append

        def put(event: Any) -> None:
            if len(queue) >= capacity:
                raise BufferFullError(
                    f"{self.plan.places[node]}: a fork holds back {len(queue)} events for it while another "
                    "branch is read; raise capacity, or read the branches at the same pace"
                )
            queue.append(event)

        return put

    def _add(self, region: Region, queues: dict[int, list[deque[Any]]]) -> None:
        """Start one region: find its feed, and record what leaves it."""
        feed = self._feed(region)
        sends = region.sends
        if region.only_send is not None and self._passes(region):
            self._exits[_key(sends[0])] = feed
            return
        steps = self._wiring.names[f"r{region.index}"](feed)
        if len(sends) == 1:
            self._exits[_key(sends[0])] = steps
            return
        hub = _Hub(steps)
        for send, queue in zip(sends, queues[region.index], strict=True):
            self._exits[_key(send)] = hub.read(queue)

    def _passes(self, region: Region) -> bool:
        """Return whether the region's feed, of which it sends on every event, can take its place."""
        if region.root[0] == "node":
            return not self.options.tolerant and overrides(self._wiring.nodes[region.root[1]], "batches")
        return region.sends[0].kind != "sink"

    def _feed(self, region: Region) -> Iterator[Any]:
        kind, n = region.root[:2]
        if kind == "input":
            events: Iterator[Any] = self._inputs[n]
            return events
        if kind == "router":
            out: int = region.root[2]
            return self._router(n)[out]
        node = self._wiring.nodes[n]
        if kind == "node" and not overrides(node, "iterate"):
            return self._exits["step", n, 0]
        inputs = [self._input(n, i, initial) for i, initial in enumerate(self.plan.joins[n])]
        if kind == "join":
            return zip(*inputs, strict=False)
        if self.options.tolerant:
            inputs = [(x for x in feed if x is not HOLE) for feed in inputs]
        if overrides(node, "batches"):
            return chain.from_iterable(self._blamed(node.batches(*inputs), n))
        return self._blamed(node.iterate(*inputs), n)

    def _blamed(self, events: Iterator[Any], n: int) -> Iterator[Any]:
        """Name a processor that pulls by itself as the one that failed."""
        try:
            yield from events
        except StreamError:
            raise
        except Exception as error:
            raise self._wiring.blame(error, otherwise=n) from error

    def _input(self, n: int, i: int, initial: tuple[Any, ...]) -> Iterator[Any]:
        key = "join", n, i
        return self._exits[key] if not initial else chain(initial, self._later(key))

    def _later(self, key: tuple[str, int, int]) -> Iterator[Any]:
        yield from self._exits[key]

    def _router(self, n: int) -> list[Iterator[Any]]:
        if n not in self._routed:
            node = self._wiring.nodes[n]
            assert isinstance(node, Router)
            outs = [deque[Any]() for _ in range(node.arity[1])]
            node.ports = tuple(q.append for q in outs)
            hub = _Hub(self._steps(node, [self._exits["port", n, i] for i in range(node.arity[0])]))
            self._routed[n] = [hub.read(q) for q in outs]
        return self._routed[n]

    @staticmethod
    def _steps(node: Router, inputs: Sequence[Iterator[Any]]) -> Iterator[None]:
        for port, event in node.order(inputs):
            node.receive(port, event)
            yield
        node.end()

    def _counted(self, source: Iterable[Any]) -> Iterator[Any]:
        """Return the source as an iterator whose position can be told when something fails."""
        events = iter(source)
        if isinstance(events, COUNTED):
            start = length_hint(events) + self.begun[0]
            self._positions.append(lambda: start - length_hint(events))
            return events
        ticks = repeat(True, maxsize)
        self._positions.append(lambda: maxsize - length_hint(ticks) + self.begun[0])
        return compress(events, ticks)

    def _position(self) -> int | None:
        return max((p() for p in self._positions), default=0) - 1


def _key(send: Any) -> tuple[str, int, int]:
    return send.kind, send.node, send.port


def _compiled(plan: Plan, graph: Graph, options: Options, opening: bool) -> tuple[Source, Any]:
    key = "pull", options.tolerant, opening
    if key not in graph.plans:
        source = pull_source(plan, options.tolerant, opening)
        graph.plans[key] = source, compile("\n".join(source.text) + "\n", f"<{graph!r:.60}>", "exec")
    return graph.plans[key]  # type: ignore[no-any-return]


def _through_push(
    graph: Graph,
    sources: Sequence[Iterable[Any]],
    options: Options,
    begun: tuple[int, State | None],
    opening: Opening | None,
) -> list[Iterator[Any]]:
    """Pull by pushing one front at a time: for queries too deep to nest generators."""
    queues = [deque[Any]() for _ in graph.exits]
    run = Run(graph, tuple(queues), options)
    if begun[1] is not None:
        run.load(Saved(graph.fingerprint, begun[:1], False, begun[1]))
    if opening is not None:
        return [_opened_deep(graph, iter(sources[0]), options, opening)]

    def steps() -> Iterator[None]:
        for front in zip(*sources, strict=False):
            for port, event in enumerate(front):
                run.push(event, port) if port else run.push(event)
            yield
        run.end()

    hub = _Hub(steps())
    return [hub.read(q) for q in queues]


def _opened_deep(graph: Graph, events: Iterator[Any], options: Options, opening: Opening) -> Iterator[Any]:
    """Pull what the opening gives, and then the rest."""
    taken = count()
    values = yield from opening(x for x, _ in zip(events, taken, strict=False))
    if values is not None:
        yield from _through_push(graph, [events], options, (next(taken), values), None)[0]
