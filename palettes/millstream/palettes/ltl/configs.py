"""Verdicts of all positions at once: the pending positions, oldest first, as runs of equal machine states.

Positions whose states are equal stay equal, so the pending ones form a few runs, each known by where it
begins. A `Config` is the row of their states (without the beginnings). What an event does to the row
depends on the event's valuation only and is computed once: an `Edge` says where it leads and which runs
were born, melted together or decided. A step that changes nothing but states is the next config itself.

Where runs become many (verdicts known early but held back by an older position), `backlog` takes over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from weakref import WeakValueDictionary

from .base import Formula
from .machine import Entries, Machine, Spots, State, machine

#: rows longer than this are not tabulated
LONGEST: Final = 6

#: what an edge does, if it is one of the frequent things: begin a run, melt all runs into the first, decide
#: the only position, decide all positions alike
BEGIN, MELT, NOW, ALL, OTHER = 1, 2, 3, 4, 5


class Edge:
    """A step with an effect on the beginnings of runs."""

    __slots__ = ("act", "born", "decided", "kept", "to", "value")

    def __init__(
        self, to: Config, born: bool, decided: tuple[tuple[bool, int], ...], kept: list[int]
    ) -> None:
        self.to, self.born = to, born
        #: (verdict, index of the first beginning that is not decided by it)
        self.decided = decided
        self.kept = kept
        self.act, self.value = self.kind(), bool(decided and decided[0][0])

    def kind(self) -> int:
        """Return which of the frequent things this edge does."""
        if not self.decided:
            grows = self.born and self.kept == list(range(len(self.kept)))
            return BEGIN if grows else MELT if self.kept == [0] and not self.born else OTHER
        if self.kept or len(self.decided) > 1:
            return OTHER
        return NOW if self.born and self.decided[0][1] == 1 else ALL

    def apply(self, starts: list[int], n: int) -> list[tuple[bool, int]]:
        """Update the beginnings; return the verdicts that leave, as runs."""
        if self.born:
            starts.append(n)
        starts.append(n + 1)
        out = [
            (value, starts[i] - starts[j]) for (value, i), j in zip(self.decided, self.froms(), strict=True)
        ]
        starts[:] = [starts[i] for i in self.kept]
        return out

    def froms(self) -> Iterator[int]:
        """Yield where each decided stretch begins."""
        before = 0
        for _, i in self.decided:
            yield before
            before = i


class Config(Entries):
    """The states of the pending runs, and what is known of the past."""

    __slots__ = ("__weakref__", "act", "machine", "past", "runs", "to")

    def __init__(self, machine: Machine, past: Spots, runs: tuple[State, ...]) -> None:
        super().__init__()
        self.machine, self.past, self.runs = machine, past, runs
        self.act, self.to = 0, self

    def __repr__(self) -> str:
        return f"Config{self.runs}"

    def __copy__(self) -> Config:
        return self

    def __deepcopy__(self, memo: object) -> Config:
        return self

    def __reduce__(self) -> Any:
        return restore, (self.machine.formula, self.machine.finite, self.past, self.runs)

    def step(self, valuation: int) -> Config | Edge | None:
        """Return what a valuation does; None if the row becomes too long for a table."""
        found = self.row.get(valuation)
        if found is None and len(self.runs) < LONGEST:
            found = self.compute(valuation)
            if self.machine.remembers(len(self.runs) + 1):
                self.enter(valuation, found)
        return found

    def compute(self, valuation: int) -> Config | Edge:
        """Work out what a valuation does."""
        m = self.machine
        fresh = m.start(self.past).step(valuation)
        states = [s.step(valuation) for s in self.runs]
        born = not states or states[-1] is not fresh
        if born:
            states.append(fresh)
        first = next((i for i, s in enumerate(states) if s.verdict is None), len(states))
        decided = _stretches(states[:first])
        kept = [i for i in range(first, len(states)) if i == first or states[i] is not states[i - 1]]
        past = m.tableau.step(self.past, valuation)
        to = config(m, past, tuple(states[i] for i in kept))
        if not decided and not born and len(kept) == len(self.runs):
            return to
        return Edge(to, born, decided, kept)


def _stretches(states: list[State]) -> tuple[tuple[bool, int], ...]:
    out: list[tuple[bool, int]] = []
    for i, s in enumerate(states):
        assert s.verdict is not None
        if out and out[-1][0] == s.verdict:
            out[-1] = (s.verdict, i + 1)
        else:
            out.append((s.verdict, i + 1))
    return tuple(out)


_configs: WeakValueDictionary[tuple[Machine, Spots, tuple[State, ...]], Config] = WeakValueDictionary()


def config(m: Machine, past: Spots, runs: tuple[State, ...]) -> Config:
    """Return the one config of these states."""
    key = m, past, runs
    found = _configs.get(key)
    return found if found is not None else _configs.setdefault(key, Config(m, past, runs))


def start(formula: Formula, finite: bool) -> Config:
    """Return the config before the first event."""
    m = machine(formula, finite)
    return config(m, m.origin, ())


def restore(formula: Formula, finite: bool, past: Spots, runs: tuple[State, ...]) -> Config:
    """Return a saved config."""
    return config(machine(formula, finite), past, runs)
