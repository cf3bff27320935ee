"""The push engine: a run takes events one at a time and calls its sinks.

Regions are compiled to plain functions (`codegen`); a processor's `emit` is the function of the region behind
it, so an event runs through the whole query by ordinary calls. Very deep queries (hundreds of emitting
processors in a row) would exhaust Python's stack: every `DEPTH` levels the call is deferred to a list that
the run works off before `push` returns.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import compress, repeat
from operator import length_hint
from types import BuiltinMethodType, TracebackType
from typing import Any, NoReturn, Self

from more_itertools import consume

from .codegen import Source, push_source, target
from .errors import ClosedError, QueryError, StreamError
from .graph import Graph
from .joins import Join
from .plan import Plan, Region, make_plan
from .processor import Processor, Router, overrides
from .sinks import as_sink, discard
from .states import Saved, Slots, State
from .statistics import Flow, Statistics
from .wiring import Options, Wiring, check_arity

DEPTH = 100


class Run:
    """A query that is running: push events, end it, save and load its state.

    Made by `Query.into`. As a context manager it ends when the block is left without an exception.

    Attributes
    ----------
    push : callable
        ``push(event)`` or ``push(event, port)``: take one event.
    entry : callable
        The same for the first input, without counting positions or naming failures: for processors that host
        a run.
    take, give, fresh : callable
        Move the whole state out, put one in, make an initial one: a copy of the query is a state. For hosting
        processors.
    """

    __slots__ = (
        "_closed",
        "_counts",
        "_enders",
        "_entries",
        "_graph",
        "_joins",
        "_late",
        "_outer",
        "_pending",
        "_settling",
        "_slots",
        "_ticks",
        "_wiring",
        "entry",
        "fresh",
        "give",
        "push",
        "take",
    )  # fmt: skip

    push: Callable[..., None]
    entry: Callable[..., Any]
    take: Callable[[], State]
    give: Callable[[State], None]
    fresh: Callable[[], State]

    def __init__(self, graph: Graph, sinks: tuple[Any, ...], options: Options) -> None:
        if sinks:
            check_arity("output", graph, len(graph.exits), len(sinks))
        else:
            sinks = (discard,) * len(graph.exits)
        plan = make_plan(graph, pulling=False)
        source, code = _compiled(plan, graph, options)
        wiring = self._wiring = Wiring(plan, source.lines, options)
        self._graph = graph
        self._pending: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        self._counts = [[0, 0] for _ in wiring.nodes]
        self._joins = {n: _join(plan, n, initial, options) for n, initial in plan.joins.items()}
        self._bind(plan, [as_sink(s) for s in sinks])
        wiring.run(code)
        self._connect(plan, options)
        wiring.position = self._position
        wiring.prepare()
        self._slots = Slots([*wiring.nodes, *self._joins.values()])
        self.take, self.give, self.fresh = self._slots.take, self._slots.give, self._slots.fresh
        self._enders = [n.end for n in wiring.nodes if overrides(n, "end")]
        #: processors that may emit later than they are stepped; order between ports of a router would suffer
        routed = any(isinstance(n, Router) for n in wiring.nodes)
        self._late: list[Any] = [] if routed else [n for n in wiring.nodes if hasattr(n, "complete")]
        #: one iterator per input that counts the events taken; exhausted when the run is closed
        self._ticks: list[Any] = [repeat(True, sys.maxsize) for _ in graph.entries]
        #: why no more events are taken, with the positions reached
        self._closed: tuple[str, tuple[int, ...]] | None = None
        #: the input that is taking an event
        self._outer = 0
        self._settling = self._undecided()
        self.push = self._make_push()

    # -- wiring

    def _bind(self, plan: Plan, sinks: list[Callable[[Any], Any]]) -> None:
        """Give the generated code the functions that values leave by."""
        names = self._wiring.names
        names["counts"] = self._counts
        for k, sink in enumerate(sinks):
            names[f"sink_{k}"] = sink
        for n, join in self._joins.items():
            for i in range(len(join.initial)):
                names[f"join_{n}_{i}"] = join.port(i)
        for n, node in enumerate(self._wiring.nodes):
            if isinstance(node, Router):
                for i in range(node.arity[0]):
                    names[f"port_{n}_{i}"] = partial(node.receive, i)

    def _connect(self, plan: Plan, options: Options) -> None:
        """Hand the function of each region to whatever feeds it."""
        nodes, entries = self._wiring.nodes, {}
        routed: dict[int, list[Callable[[Any], Any]]] = {}
        for region in plan.regions:
            function = self._function(region, options)
            if region.depth and region.depth % DEPTH == 0:
                function = partial(self._defer, function)
            kind, n = region.root[:2]
            if kind == "input":
                entries[n] = function
            elif kind == "join":
                self._joins[n].push = function
            elif kind == "node":
                nodes[n].emit = function
            else:
                routed.setdefault(n, []).append(function)
        for n, functions in routed.items():
            router = nodes[n]
            assert isinstance(router, Router)
            router.ports = tuple(functions)
        deep = any(region.depth >= DEPTH for region in plan.regions)
        self._entries = [self._draining(entries[k]) if deep else entries[k] for k in sorted(entries)]
        self.entry = self._entries[0] if self._entries else discard

    def _function(self, region: Region, options: Options) -> Callable[..., Any]:
        """Return the region's function, or what it would merely call."""
        send, names = region.only_send, self._wiring.names
        if send is not None and not options.tolerant and not options.counting:
            function = names[target(send)]
            if send.kind != "sink" or isinstance(function, BuiltinMethodType):
                return function  # type: ignore[no-any-return]
        return names[f"r{region.index}"]  # type: ignore[no-any-return]

    def _defer(self, function: Callable[..., Any], *values: Any) -> None:
        self._pending.append((function, values))

    def _draining(self, entry: Callable[[Any], Any]) -> Callable[[Any], None]:
        def push(event: Any) -> None:
            entry(event)
            self._drain()

        return push

    def _drain(self) -> None:
        pending = self._pending
        while pending:
            function, values = pending.popleft()
            function(*values)

    # -- taking events

    def _undecided(self) -> Any:
        """Return the only processor, if it is one that may find something to take events in its stead."""
        nodes, options = self._wiring.nodes, self._wiring.options
        plain = len(nodes) == 1 and not options.tolerant and not options.counting
        return nodes[0] if plain and hasattr(nodes[0], "successor") else None

    def _settle(self) -> bool:
        """Let the successor of the only processor take events from now on, if it has one."""
        successor = self._settling.successor()
        if successor is None:
            return False
        self._entries[0], self._settling = successor, None
        self.push = self._make_push()
        return True

    def _make_push(self) -> Callable[..., None]:
        ticks, entries = self._ticks, self._entries
        if self._settling is not None:

            def push_first(event: Any) -> None:
                self.push_all((event,))

            return push_first
        if len(entries) == 1:
            entry = entries[0]

            def push(event: Any, port: int = 0) -> None:
                if port:
                    self._check_port(port)
                if next(ticks[0], None) is None:
                    self._refuse()
                try:
                    entry(event)
                except BaseException as error:
                    self._fail(error, 0)

            return push

        def push_port(event: Any, port: int = 0) -> None:
            self._check_port(port)
            if next(ticks[port], None) is None:
                self._refuse()
            try:
                entries[port](event)
            except BaseException as error:
                self._fail(error, port)

        return push_port

    def push_all(self, events: Iterable[Any], port: int = 0) -> None:
        """Take all events of an iterable, in order."""
        self._check_port(port)
        if self._closed:
            self._refuse()
        try:
            taken = compress(events, self._ticks[port])
            if self._settling is not None:
                for event in taken:
                    self.entry(event)
                    if self._settle():
                        break
            consume(map(self._entries[port], taken))
        except BaseException as error:
            self._fail(error, port)

    def push_fast(self, event: Any, port: int = 0) -> None:
        """Take one event; what it gives may come later, at the latest when `wait_for` is called."""
        for node in self._late:
            node.late = True
        try:
            self.push(event, port) if port else self.push(event)
        finally:
            for node in self._late:
                node.late = False

    def pull_fast(self, events: Iterator[Any], port: int = 0) -> bool:
        """Take the next event of an iterator as `push_fast` does, and return whether there was one."""
        for event in events:
            self.push_fast(event, port)
            return True
        return False

    def wait_for(self) -> None:
        """Wait until everything has come out that the events taken so far give."""
        try:
            for node in self._late:
                node.complete()
        except BaseException as error:
            self._fail(error, 0)

    @property
    def defers(self) -> bool:
        """Return whether steps can be started now and waited for later: `each` then does many at a time."""
        return any(hasattr(n, "step_copies") for n in self._late)

    def each(self, copies: Iterable[tuple[State, Any]]) -> Iterator[State]:
        """Give an event to each of several copies: for processors that host a run.

        Takes pairs of state and event; yields the new state of each, in order, when its outputs are out.
        """
        if not self._late:
            for values, event in copies:
                self.give(values)
                self.entry(event)
                yield self.take()
            return
        if len(self._wiring.nodes) == 1 and hasattr(self._late[0], "step_copies"):
            yield from self._late[0].step_copies(copies)
            return
        begun = []
        for values, event in copies:
            self.give(values)
            self.push_fast(event)
            begun.append(self.take())
        for values in begun:
            self.give(values)
            self.wait_for()
            yield self.take()

    def explain(self, output: int = -1, port: int = 0) -> Any:
        """Return where an output comes from; only runs made with ``into(..., explain=True)`` know."""
        raise QueryError("this run does not remember where outputs come from: use into(..., explain=True)")

    def end(self) -> None:
        """Come to the end of the trace; once ended, further calls do nothing."""
        if self._closed:
            return
        try:
            self.finish()
        except BaseException as error:
            self._fail(error, -1)
        self._close("ended")

    def finish(self) -> None:
        """End the processors, without bookkeeping: for processors that host a run."""
        for end in self._enders:
            end()
            if self._pending:
                self._drain()

    def _check_port(self, port: int) -> None:
        if not 0 <= port < len(self._entries):
            raise QueryError(f"{self._graph!r} has {len(self._entries)} inputs, there is no port {port}")

    def _refuse(self) -> NoReturn:
        reason = self._closed[0] if self._closed else "ended"
        raise ClosedError(
            f"this run has {reason}; load a saved state, reset it, or start another with into(...)"
        )

    def _fail(self, error: BaseException, port: int) -> NoReturn:
        """Close the run and raise what names the failing processor.

        An iterable of events that fails is not the run's fault and does not close it.
        """
        self._outer = port
        if not isinstance(error, Exception):
            self._close(f"been interrupted by {type(error).__name__}")
            raise error
        if isinstance(error, StreamError):
            self._close("failed")
            raise error
        failure = self._wiring.blame(error)
        if failure.place == "input":
            raise error
        self._close("failed")
        self._pending.clear()
        raise failure from error

    def _close(self, reason: str) -> None:
        self._closed = reason, self.positions
        self._ticks[:] = [iter(()) for _ in self._ticks]

    # -- state

    @property
    def positions(self) -> tuple[int, ...]:
        """Return how many events each input has taken."""
        if self._closed:
            return self._closed[1]
        return tuple(sys.maxsize - length_hint(t) for t in self._ticks)

    @property
    def ended(self) -> bool:
        """Return whether the trace has come to its end."""
        return self._closed is not None and self._closed[0] == "ended"

    def _position(self) -> int | None:
        return self.positions[self._outer] - 1 if self._outer >= 0 and self._entries else None

    def save(self) -> Saved:
        """Return a copy of the whole state; it pickles if the events and values in it do."""
        if self._closed and self._closed[0] != "ended":
            raise ClosedError(f"this run has {self._closed[0]}; its state cannot be saved")
        return Saved(
            self._graph.fingerprint, self.positions, self._closed is not None, self._slots.copy(self.take())
        )

    def load(self, saved: Saved) -> None:
        """Continue exactly where a state was saved, whatever this run has done since."""
        saved = self._slots.check(saved, self._graph.fingerprint)
        self.give(self._slots.copy(saved.values))
        self._reopen(saved.positions)
        if saved.ended:
            self._close("ended")

    def reset(self) -> None:
        """Start again from the beginning."""
        self.give(self.fresh())
        self._wiring.skipped = 0
        for count in self._counts:
            count[:] = 0, 0
        self._reopen((0,) * len(self._ticks))

    def _reopen(self, positions: tuple[int, ...]) -> None:
        self._closed = None
        self._settling = self._undecided()
        if self._settling is not None:
            self._entries[0] = self.entry
            self.push = self._make_push()
        self._pending.clear()
        self._ticks[:] = [repeat(True, sys.maxsize - p) for p in positions]

    def statistics(self) -> Statistics:
        """Return positions, skipped failures, and for each processor events in and out and queue lengths."""
        counting = self._wiring.options.counting
        flows = []
        for n, place in enumerate(self._wiring.plan.places):
            taken, emitted = self._counts[n] if counting else (None, None)
            waiting = self._joins[n].lengths() if n in self._joins else self._wiring.nodes[n].queued()
            flows.append(Flow(place, taken, emitted, waiting))
        return Statistics(self.positions, self._wiring.skipped, tuple(flows))

    @property
    def processors(self) -> tuple[Processor, ...]:
        """Return the running instances, in the order of `Statistics.processors`."""
        return tuple(self._wiring.nodes)

    @property
    def owners(self) -> list[tuple[Processor, Join | None]]:
        """Return what holds the state: the running instances, each with the join in front of it, if any."""
        return [(node, self._joins.get(n)) for n, node in enumerate(self._wiring.nodes)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if kind is None:
            self.end()


def _join(plan: Plan, n: int, initial: list[tuple[Any, ...]], options: Options) -> Join:
    return Join(plan.places[n], tuple(initial), options.capacity, options.full)


def _compiled(plan: Plan, graph: Graph, options: Options) -> tuple[Source, Any]:
    """Return source and code of a plan, made once for each kind of run."""
    key = "push", options.tolerant, options.counting
    if key not in graph.plans:
        source = push_source(plan, options.tolerant, options.counting)
        graph.plans[key] = source, compile("\n".join(source.text) + "\n", f"<{graph!r:.60}>", "exec")
    return graph.plans[key]  # type: ignore[no-any-return]
