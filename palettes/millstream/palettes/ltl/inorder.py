"""Verdicts in order of positions, for formulas without long bounds: from an event to what it makes known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

from attrs import define, field

from millstream.processors import Mutable

from .backlog import Backlog, advance, close_backlog, open_backlog, pending
from .base import Formula
from .configs import ALL, BEGIN, MELT, NOW, Config, start
from .letters import Atoms, Leaves, branch, shared
from .machine import Machine, State, machine

Runs = list[tuple[bool, int]]


@define
class Pending(Mutable):
    """The state of a run: either a config with the beginnings of its runs, or a backlog."""

    row: Config
    starts: list[int] = field(factory=list)
    n: int = 0
    log: Backlog | None = None


LOOP = """
def loop(events, pending, slow):
    row, starts, n = pending.row, pending.starts, pending.n - 1
    for n, e in enumerate(events, pending.n):
        {reads}
        edge = {branch}
        if edge is None:
            pending.row, pending.n = row, n
            for value, count in slow(pending, {valuation}):
                yield from repeat(value, count)
            if pending.log is not None:
                return
            row, starts = pending.row, pending.starts
            continue
        row = edge.to
        act = edge.act
        if act:
            if act == {begin}:
                starts.append(n)
            elif act == {melt}:
                del starts[1:]
            elif act == {now}:
                yield edge.value
            elif act == {all}:
                yield from repeat(edge.value, n + 1 - starts[0])
                starts.clear()
            else:
                for value, count in edge.apply(starts, n):
                    if count == 1:
                        yield value
                    else:
                        yield from repeat(value, count)
    pending.row, pending.n = row, n + 1
"""


@define
class InOrder:
    """Verdicts in order through the machine of a formula."""

    formula: Formula
    finite: bool
    atoms: Atoms
    machine: Machine = field(init=False)
    valuation: Callable[[Any], int] = field(init=False)
    _loop: Any = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.machine = machine(self.formula, self.finite)
        leaves = Leaves("Verdicts", self.atoms)
        self.valuation = leaves.function(leaves.valuation(self.machine.letters))

    def fresh(self) -> Pending:
        """Return the state before the first event."""
        return Pending(start(self.formula, self.finite))

    def step(self, p: Pending, event: Any) -> Runs:
        """Read one event; return the verdicts that leave, as runs."""
        return self.read(p, self.valuation(event))

    def read(self, p: Pending, valuation: int) -> Runs:
        """Read the valuation of one event."""
        if p.log is not None:
            return self._crowded(p, valuation)
        edge = p.row.step(valuation)
        if edge is None:
            p.log = open_backlog(p.row, p.starts, p.n)
            return self._crowded(p, valuation)
        n, p.n, p.row = p.n, p.n + 1, edge.to
        return edge.apply(p.starts, n) if edge.act else []  # type: ignore[union-attr]

    def _crowded(self, p: Pending, valuation: int) -> Runs:
        assert p.log is not None
        p.log, out = advance(self.machine, p.log, valuation)
        p.n += 1
        few = close_backlog(self.machine, p.log, p.n)
        if few is not None:
            p.row, p.starts = few
            p.log = None
        return out

    def iterate(self, p: Pending, events: Iterator[Any]) -> Iterator[bool]:
        """Yield the verdicts for events, fast."""
        while True:
            yield from self.loop()(events, p, self.read)
            if p.log is None:
                return
            for event in events:
                for value, count in self.step(p, event):
                    yield from repeat(value, count)
                if p.log is None:
                    break
            else:
                return

    def end(self, p: Pending) -> Runs:
        """Return the verdicts of pending positions if the trace ends now."""
        return [(s.final, count) for s, count in self.pending(p)]

    def left(self, p: Pending) -> list[tuple[bool | None, int]]:
        """Return what is known of the pending positions."""
        return [(s.verdict, count) for s, count in self.pending(p)]

    @staticmethod
    def pending(p: Pending) -> list[tuple[State, int]]:
        """Return the states of the pending positions, as runs."""
        if p.log is not None:
            return pending(p.log)
        ends = [*p.starts, p.n][1:]
        return [(s, b - a) for s, a, b in zip(p.row.runs, p.starts, ends, strict=True)]

    def loop(self) -> Any:
        """Return the generated loop over events."""
        if self._loop is None:
            leaves = Leaves("Verdicts", self.atoms)
            reads, tests = shared([leaves.leaf(f) for f in self.machine.letters], "e", "k{}")
            text = LOOP.format(
                reads="; ".join(reads) or "pass",
                branch=branch(tests, "row"),
                valuation=leaves.valuation(self.machine.letters),
                begin=BEGIN,
                melt=MELT,
                now=NOW,
                all=ALL,
            )
            names = {"repeat": repeat, **leaves.names}
            exec(compile(text, "<verdicts>", "exec"), names)
            self._loop = names["loop"]
        return self._loop
