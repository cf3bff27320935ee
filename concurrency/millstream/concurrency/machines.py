"""Finite-state monitors read in chunks: each piece of a trace becomes a map from states to states.

A worker does not know the state before its piece, so it follows all of them at once; states that meet are
followed as one from then on, which with most monitors happens soon. Maps compose, so the pieces need no
order to be computed, only to be put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

from attrs import frozen

from millstream.processors import processor, state, transient
from millstream.processors.errors import fail_parameter
from millstream.processors.processor import instance

from .chunks import Failed, Reply
from .failures import portable
from .offloaded import Offloaded

Table = Sequence[Sequence[int]]


@frozen
class Piece:
    """What a piece of a trace does: the path of each class of states, and the class and end of each state."""

    #: state before the piece -> path that it takes
    into: tuple[int, ...]
    #: for each path the states after each event; paths that met share the rest of the first of them
    paths: tuple[tuple[int, ...], ...]

    def states(self, before: int) -> tuple[int, ...]:
        """Return the states after each event, given the state before the first."""
        return self.paths[self.into[before]]


def read_piece(table: Table, letters: Sequence[int]) -> Piece:
    """Follow all states through a sequence of letters.

    >>> read_piece([[0, 1], [1, 1]], [0, 1, 0]).states(0)
    (0, 1, 1)
    """
    count = len(table)
    paths: list[list[int]] = [[] for _ in range(count)]
    #: path -> (the path it has met, and after how many events)
    met: dict[int, tuple[int, int]] = {}
    alive = [(s, s) for s in range(count)]
    for k, letter in enumerate(letters):
        alive = [(path, table[s][letter]) for path, s in alive]
        seen: dict[int, int] = {}
        for path, s in alive:
            paths[path].append(s)
            if s in seen:
                met[path] = seen[s], k + 1
            else:
                seen[s] = path
        if len(seen) < len(alive):
            alive = [(path, s) for path, s in alive if seen[s] == path]
    for path in sorted(met, key=lambda p: -met[p][1]):
        first, at = met[path]
        paths[path] += paths[first][at:]
    return Piece(tuple(range(count)), tuple(map(tuple, paths)))


@frozen(eq=False)
class Reading:
    """Makes what turns chunks of events into pieces."""

    table: Table
    letter: Callable[[], Callable[[Any], int]]

    def __call__(self) -> Callable[[Any], Reply]:
        letter = self.letter()

        def answer(request: Any) -> Reply:
            begun = perf_counter()
            letters: list[int] = []
            outputs: list[Any] = []
            for k, event in enumerate(request):
                try:
                    letters.append(letter(event))
                except Exception as error:
                    outputs += [read_piece(self.table, letters), Failed(k, portable(error))]
                    letters = []
            failed = bool(outputs)
            outputs.append(read_piece(self.table, letters))
            return Reply(outputs, failed, len(request), perf_counter() - begun)

        return answer


@frozen(eq=False)
class LettersOf:
    """Makes the function from events to letters that a monitor of temporal logic uses."""

    monitor: Any

    def __call__(self) -> Callable[[Any], int]:
        return instance(self.monitor).valuation  # type: ignore[attr-defined,no-any-return]


@processor
class ChunkedMonitor(Offloaded):
    """Say what a monitor says after each event, reading chunks of the trace at the same time.

    Parameters
    ----------
    inner
        A `Monitor` of temporal logic whose formula has a finite automaton.
    manager
        Lends the workers.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from millstream.palettes.ltl import Monitor
    >>> from millstream.processors import X
    >>> with ThreadManager(2) as manager:
    ...     list(ChunkedMonitor(Monitor("G a", atoms={"a": X == "a"}), manager)("aaba"))
    [UNKNOWN, UNKNOWN, FALSE, FALSE]
    """

    #: the state of the automaton after what has been emitted
    now: int = state(0)
    verdicts: tuple[Any, ...] = transient()
    read: Callable[[Any], Reply] = transient()

    def __attrs_post_init__(self) -> None:
        inner: Any = self.inner
        if not hasattr(inner, "automaton") or inner.explain:
            fail_parameter(self, "inner", "a Monitor without explanations", inner)
        inner.automaton()

    def make_stage(self) -> Reading:
        """Return what turns chunks into pieces."""
        inner: Any = self.inner
        automaton = inner.automaton()
        self.verdicts = automaton.verdicts
        stage = Reading(automaton.table, LettersOf(inner))
        self.read = stage()
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

    def finish(self) -> None:
        """Do nothing: a monitor says nothing at the end."""

    def deliver(self) -> None:
        """Put the pieces together, and emit the verdicts of the states on the way."""
        ready = self.line.ready
        while ready:
            piece = ready.popleft()
            if isinstance(piece, list):
                self._raise(*piece)
            for s in piece.states(self.now):
                self.now = s
                self.emit(self.verdicts[s])
        self.line.failed = False

    def _delivered(self, out: list[Any]) -> Iterator[Any]:
        try:
            self.deliver()
        finally:
            yield from out
            out.clear()
