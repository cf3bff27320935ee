"""Formulas about the present and the past only: the verdict of a position is known when it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import define, field

from millstream.processors import Mutable

from .base import Formula
from .instant import Instant
from .letters import Atoms, Leaves
from .past import Memory

LOOP = """
def loop(events, pending):
    m, n, last = pending.memories, pending.n - 1, pending.last
    {begin}
    for n, e in enumerate(events, pending.n):
{lines}
        yield bool({value})
    pending.n, pending.last = n + 1, last
"""
CLOCK = ["t = time(e)", "if last is not None and not t >= last: late(t, last)", "last = t"]


@define
class Memories(Mutable):
    """The state of a run."""

    memories: list[Memory]
    n: int = 0
    last: float | None = None


def late(now: float, last: float) -> None:
    """Refuse an event that is older than the one before."""
    raise ValueError(f"events must come in order of time: {now!r} after {last!r}; sort them first")


@define
class PastEngine:
    """One verdict per event, from one generated loop."""

    formula: Formula
    atoms: Atoms
    time: Any = None
    instant: Instant = field(init=False)
    _loop: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.instant = Instant(Leaves("Verdicts", self.atoms), self.time is None)
        value = self.instant.add(self.formula)
        first = ["t = n"] if self.time is None else CLOCK
        lines = "\n".join(f"        {line}" for line in [*first, *self.instant.lines])
        names = {"late": late, "time": self.time, **self.instant.leaves.names}
        begin = "; ".join(self.instant.begin) or "pass"
        exec(compile(LOOP.format(begin=begin, lines=lines, value=value), "<past>", "exec"), names)
        self._loop = names["loop"]

    def fresh(self) -> Memories:
        """Return the state before the first event."""
        return Memories(self.instant.fresh())

    def iterate(self, p: Memories, events: Iterator[Any]) -> Iterator[bool]:
        """Yield the verdicts for events."""
        return self._loop(events, p)  # type: ignore[no-any-return]

    def step(self, p: Memories, event: Any) -> list[tuple[bool, int]]:
        """Read one event; return its verdict as a run."""
        return [(value, 1) for value in self._loop((event,), p)]

    def end(self, p: Memories) -> list[tuple[bool, int]]:
        """Return the verdicts of pending positions: there are none."""
        return []

    def left(self, p: Memories) -> list[tuple[bool | None, int]]:
        """Return what is known of the pending positions: there are none."""
        return []
