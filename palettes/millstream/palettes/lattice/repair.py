"""Sequence numbers repair the order of a channel that is not FIFO.

The own component of a state's clock counts the states of its process, so it is its sequence number. A state
that comes early is held until the ones before it have come (Algorithm 1, lines 5 to 8). The wait is bounded:
when more than `patience` states of a process are held, the missing ones are lost, and the gap policy says
what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import define, field

from .clocks import LocalState

Gap = Literal["raise", "fill"]
Duplicate = Literal["raise", "drop"]


@define
class SequenceRepair:
    """Bring the states of each process into the order of their sequence numbers, and check them.

    Examples
    --------
    >>> repair = SequenceRepair(["p", "q"])
    >>> (
    ...     repair.arrive(LocalState("p", (1, 0), "later")),
    ...     repair.arrive(LocalState("p", (0, 0), "sooner"))[0].value,
    ... )
    ([], 'sooner')
    """

    processes: Sequence[str]
    first: int = 0
    patience: int = 1000
    gap: Gap = "raise"
    duplicate: Duplicate = "raise"
    index: dict[str, int] = field(init=False)
    expected: list[int] = field(init=False)
    held: list[dict[int, LocalState]] = field(init=False)
    latest: list[LocalState | None] = field(init=False)

    def __attrs_post_init__(self) -> None:
        n = len(self.processes)
        self.index = {name: k for k, name in enumerate(self.processes)}
        self.expected, self.held, self.latest = [self.first] * n, [{} for _ in range(n)], [None] * n

    def __copy__(self) -> SequenceRepair:
        """Return an independent copy."""
        twin = SequenceRepair(self.processes, self.first, self.patience, self.gap, self.duplicate)
        twin.expected, twin.held, twin.latest = (
            list(self.expected),
            [dict(h) for h in self.held],
            list(self.latest),
        )
        return twin

    def arrive(self, state: LocalState) -> list[LocalState]:
        """Take a state; return those that are in order now."""
        k, seq = self.check(state)
        held = self.held[k]
        if seq < self.expected[k] or seq in held:
            return self._repeated(state, seq)
        held[seq] = state
        out = self._next(k)
        if len(held) > self.patience:
            out += self._lost(k)
        return out

    def check(self, state: LocalState) -> tuple[int, int]:
        """Return process number and sequence number of a state that makes sense."""
        try:
            k = self.index[state.process]
        except KeyError:
            known = ", ".join(map(repr, self.processes))
            raise ValueError(f"unknown process {state.process!r} (processes: {known})") from None
        if len(state.clock) != len(self.processes):
            raise ValueError(
                f"clock of process {state.process!r} has {len(state.clock)} components,"
                f" expected {len(self.processes)}: {tuple(state.clock)}"
            )
        if min(state.clock) < 0:
            raise ValueError(f"clock of process {state.process!r} is negative: {tuple(state.clock)}")
        return k, state.clock[k]

    def end(self) -> list[LocalState]:
        """End the streams: what is still held has lost its predecessors."""
        out: list[LocalState] = []
        for k, held in enumerate(self.held):
            while held:
                out += self._lost(k)
        return out

    def _next(self, k: int) -> list[LocalState]:
        held, out = self.held[k], []
        while (state := held.pop(self.expected[k], None)) is not None:
            out.append(self._follow(k, state))
        return out

    def _follow(self, k: int, state: LocalState) -> LocalState:
        """Accept the next state of a process; what it knows may not shrink."""
        before = self.latest[k]
        if before is not None and any(a > b for a, b in zip(before.clock, state.clock, strict=True)):
            raise ValueError(
                f"clock of process {state.process!r} went backwards:"
                f" {tuple(state.clock)} after {tuple(before.clock)}"
            )
        self.latest[k] = state
        self.expected[k] += 1
        return state

    def _repeated(self, state: LocalState, seq: int) -> list[LocalState]:
        if self.duplicate == "drop":
            return []
        raise ValueError(f"process {state.process!r} sent sequence number {seq} twice (or duplicate='drop')")

    def _lost(self, k: int) -> list[LocalState]:
        """Give up waiting for the states before the earliest one that is held."""
        name, wanted, have = self.processes[k], self.expected[k], min(self.held[k])
        if self.gap == "raise":
            lost = f"{wanted}" if have == wanted + 1 else f"{wanted} to {have - 1}"
            raise ValueError(
                f"process {name!r}: sequence number {lost} did not come;"
                f" {len(self.held[k])} later states are held (patience {self.patience}; or gap='fill')"
            )
        return [self._follow(k, self._stand_in(k, seq)) for seq in range(wanted, have)] + self._next(k)

    def _stand_in(self, k: int, seq: int) -> LocalState:
        """Make a state for one that was lost: the process has moved on, but nothing else is known."""
        before = self.latest[k]
        clock = [0] * len(self.processes) if before is None else list(before.clock)
        clock[k] = seq
        return LocalState(self.processes[k], tuple(clock), None if before is None else before.value)
