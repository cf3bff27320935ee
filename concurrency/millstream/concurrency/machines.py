"""Finite-state processors read in chunks: each piece of a trace becomes a map from states to outputs.

A worker does not know the state before its piece, so it follows all of them at once; states that meet are
followed as one from then on, which with most monitors happens soon. Maps compose, so the pieces need no
order to be computed, only to be put together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from time import perf_counter
from typing import Any, Protocol

from attrs import frozen

from millstream.processors import MISSING, Run, processor, state, transient
from millstream.processors.errors import fail_parameter
from millstream.processors.processor import instance

from .chunks import Chunk, Failed, Located, Reply
from .failures import portable
from .line import Line
from .offloaded import Offloaded
from .stages import named, surface


class Machine(Protocol):
    """A processor with finitely many states, which are numbered."""

    count: int
    start: int

    def advance(self, event: Any, states: Sequence[int]) -> list[tuple[int, Any]]:
        """Return where an event leads from each of some states, and the output; MISSING if there is none."""

    def move(self, event: Any, s: int) -> tuple[int, Any]:
        """Do the same for one state."""

    def put(self, run: Run, number: int) -> None:
        """Put the state with a number into a run of the processor."""

    def number(self, run: Run) -> int:
        """Return the number of the state that a run of the processor is in."""


class Automaton:
    """A monitor of temporal logic: what an event is to it is found once for all states."""

    start = 0

    def __init__(self, monitor: Any) -> None:
        automaton, self.monitor = monitor.automaton(), monitor
        self.table, self.verdicts = automaton.table, automaton.verdicts
        self.letter = instance(monitor).valuation  # type: ignore[attr-defined]
        self.count = len(self.table)

    def advance(self, event: Any, states: Sequence[int]) -> list[tuple[int, Any]]:
        """Return where an event leads from each of some states, and the verdict."""
        letter = self.letter(event)
        following = [self.table[s][letter] for s in states]
        return [(s, self.verdicts[s]) for s in following]

    def move(self, event: Any, s: int) -> tuple[int, Any]:
        """Return where an event leads from a state, and the verdict."""
        following = self.table[s][self.letter(event)]
        return following, self.verdicts[following]

    def put(self, run: Run, number: int) -> None:
        """Put a state into the monitor that goes on like the one with this number."""
        run.processors[0].now = next(now for now, n in self._walk() if n == number)  # type: ignore[attr-defined]

    def number(self, run: Run) -> int:
        """Return the number of the monitor's state."""
        here = run.processors[0].now  # type: ignore[attr-defined]
        return next(n for now, n in self._walk() if now == here)

    def _walk(self) -> Iterator[tuple[Any, int]]:
        """Yield the states of the monitor with their numbers: those that go on alike have the same."""
        found = {self.monitor.machine().start(): self.start}
        queue = deque(found)
        while queue:
            now = queue.popleft()
            yield now, found[now]
            for letter, n in enumerate(self.table[found[now]]):
                following = now.step(letter)
                if following not in found:
                    found[following] = n
                    queue.append(following)


class Moore:
    """A Moore machine without variables: every state has guards of its own."""

    def __init__(self, machine: Any) -> None:
        self.run = machine.into()
        self.machine: Any = self.run.processors[0]
        self.states = machine.states
        self.index = {s: k for k, s in enumerate(self.states)}
        self.count, self.start = len(self.states), self.index[machine.start]

    def advance(self, event: Any, states: Sequence[int]) -> list[tuple[int, Any]]:
        """Return where an event leads from each of some states, and the symbol; a failure leads nowhere."""
        return [self.move(event, s) for s in states]

    def put(self, run: Run, number: int) -> None:
        """Put a state into the machine."""
        run.processors[0].at = self.states[number]  # type: ignore[attr-defined]

    def number(self, run: Run) -> int:
        """Return the number of the machine's state."""
        return self.index[run.processors[0].at]  # type: ignore[attr-defined]

    def move(self, event: Any, s: int) -> tuple[int, Any]:
        """Return where an event leads from a state, and the symbol."""
        machine = self.machine
        machine.at = self.states[s]
        try:
            y = machine.move(event)
        except Exception as error:
            return s, Failed(0, portable(named(self.run, error)), event)
        return self.index[machine.at], y


def machine_of(query: Any) -> Machine | None:
    """Return a query as a finite-state machine; None if it is none that is known, or explains itself."""
    if hasattr(query, "automaton"):
        return None if query.explain else Automaton(query)
    if hasattr(query, "transitions") and hasattr(query, "move"):
        return None if query.variables else Moore(query)
    return None


@frozen
class Piece(Located):
    """What a piece of a trace does: for each state before it the outputs until all states have met, and the
    state after it; then the outputs that are common to all."""

    outputs: tuple[list[Any], ...]
    ends: tuple[int, ...]
    common: list[Any]


def read_piece(machine: Machine, events: Sequence[Any]) -> tuple[Piece, bool]:
    """Follow all states through some events; tell as well whether something failed on the way."""
    paths = Paths(machine)
    remaining = enumerate(events)
    while len(paths.states) > 1 and (item := next(remaining, None)) is not None:
        paths.follow(*item)
    common, failed, s, move = [], paths.failed, paths.states[0], machine.move
    for k, event in remaining:
        try:
            s, y = move(event, s)
        except Exception as error:
            y = Failed(k, portable(error), event)
        if y.__class__ is Failed:
            y, failed = Failed(k, y.failure, event), True
        common.append(y)
    if common:
        paths.states = [s]
    return Piece(*paths.whole(), common), failed


class Paths:
    """The paths that begin in each of the states, as long as they have not met."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.failed = machine, False
        self.outputs: list[list[Any]] = [[] for _ in range(machine.count)]
        #: path -> (the path it has met, and after how many events)
        self.met: dict[int, tuple[int, int]] = {}
        self.paths, self.states = list(range(machine.count)), list(range(machine.count))

    def follow(self, k: int, event: Any) -> None:
        """Take all paths one event further."""
        try:
            moved = self.machine.advance(event, self.states)
        except Exception as error:
            moved = [(s, Failed(k, portable(error), event)) for s in self.states]
        seen: dict[int, int] = {}
        for path, (s, y) in zip(self.paths, moved, strict=True):
            if isinstance(y, Failed):
                y, self.failed = Failed(k, y.failure, event), True
            self.outputs[path].append(y)
            if seen.setdefault(s, path) != path:
                self.met[path] = seen[s], k + 1
        self.paths, self.states = list(seen.values()), list(seen)

    def whole(self) -> tuple[tuple[list[Any], ...], tuple[int, ...]]:
        """Return the outputs of each path, also those since it has met another one, and where it ends."""
        ends = dict(zip(self.paths, self.states, strict=True))
        for path in sorted(self.met, key=lambda p: -self.met[p][1]):
            first, at = self.met[path]
            self.outputs[path] += self.outputs[first][at:]
            ends[path] = ends[first]
        return tuple(self.outputs), tuple(ends[p] for p in range(len(self.outputs)))


@frozen(eq=False)
class Reading:
    """Makes what turns chunks of events into pieces."""

    query: Any

    def __call__(self) -> Callable[[Any], Reply]:
        machine = machine_of(self.query)
        assert machine is not None

        def answer(request: Any) -> Reply:
            begun = perf_counter()
            piece, failed = read_piece(machine, request)
            return Reply([piece], failed, len(request), perf_counter() - begun)

        return answer


@processor
class ChunkedMonitor(Offloaded):
    """Say what a finite-state monitor says after each event, reading chunks of the trace at the same time.

    Parameters
    ----------
    inner
        A `Monitor` of temporal logic whose formula has a finite automaton, or a `MooreMachine` without
        variables. A machine is read once for each state until states meet, so it should be one in which they
        do.
    manager
        Lends the workers.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from millstream.palettes.fsm import MooreMachine
    >>> from millstream.palettes.ltl import Monitor
    >>> from millstream.processors import X
    >>> toggle = MooreMachine.from_table("off", {"off": {"push": "on"}, "on": {"push": "off"}})
    >>> with ThreadManager(2) as manager:
    ...     print(list(ChunkedMonitor(Monitor("G a", atoms={"a": X == "a"}), manager)("aaba")))
    ...     print(list(ChunkedMonitor(toggle, manager)(["push"] * 3)))
    [UNKNOWN, UNKNOWN, FALSE, FALSE]
    ['on', 'off', 'on']
    """

    #: the number of the state after what has been emitted; None before the first event
    now: int | None = state(None)
    start: int = transient()
    read: Callable[[Any], Reply] = transient()

    def __attrs_post_init__(self) -> None:
        if machine_of(self.inner) is None:
            wanted = "a Monitor without explanations or a MooreMachine without variables"
            fail_parameter(self, "inner", wanted, self.inner)

    def make_stage(self) -> Reading:
        """Return what turns chunks into pieces."""
        stage, machine = Reading(self.inner), machine_of(self.inner)
        assert machine is not None
        self.read, self.start = stage(), machine.start
        return stage

    def acquire(self) -> bool:
        """Return whether there are workers."""
        return self.line.acquire(self.manager, self.stage, self.manager.limit, keeps=False)

    def request(self, events: list[Any]) -> Any:
        """Return a chunk as workers take it."""
        return events

    def compute(self, events: list[Any]) -> Reply:
        """Read a chunk here."""
        return self.read(events)

    def bring_back(self) -> Any:
        """Return the state of the monitor that the machine's state stands for."""
        self.complete()
        self.line.settle()
        self.deliver()
        machine = machine_of(self.inner)
        assert machine is not None
        self.run.give(self.run.fresh())
        machine.put(self.run, self.start if self.now is None else self.now)
        return self.run.take()

    def go_on(self, values: Any) -> None:
        """Go on with a state of the monitor."""
        machine = machine_of(self.inner)
        assert machine is not None
        self.run.give(values)
        self.line, self.now = Line(), machine.number(self.run)

    def finish(self) -> None:
        """Do nothing: such monitors say nothing at the end."""

    def deliver(self) -> None:
        """Put the pieces together, and emit the outputs of the states on the way."""
        ready = self.line.ready
        while ready:
            item = ready.popleft()
            chunk, piece = item if type(item) is list else (Chunk(None, None, 0), item)
            if isinstance(piece, Failed):
                surface(self, chunk.position(piece.index), piece)
                continue
            before = self.start if self.now is None else self.now
            self.now = piece.ends[before]
            for y in chain(piece.outputs[before], piece.common):
                if isinstance(y, Failed):
                    surface(self, chunk.position(y.index), y)
                elif y is not MISSING:
                    self.emit(y)
        self.line.failed = False

    def delivered(self, out: list[Any]) -> Iterator[Iterable[Any]]:
        """Yield what is ready; raise a failure when it is its turn."""
        try:
            self.deliver()
        finally:
            yield out.copy()
            out.clear()
