"""Conjunctive predicates without the lattice: each process has its own condition, and all must hold.

*Possibly* is Garg and Waldecker's algorithm for weak conjunctive predicates (1994): keep for each process the
states where its condition holds, and drop a first candidate that happens before another process's first
candidate, because then it happens before all later ones as well. The window only moves forward, so nothing
dropped is ever needed again: O(n) amortised comparisons for each state and process.

*Definitely* is their algorithm for strong conjunctive predicates (1996): the conditions hold over intervals,
and a set of intervals cannot be avoided if each begins before any other has ended. The part of the
computation between C_min and C_max is a computation of its own, so an interval that is cut off by C_min
counts as begun, and one cut off by C_max as not ended. Both ends move with the window and may cut other
intervals each time, so the verdict is computed anew with each arrival: O(n^2 w) for C_min, C_max and the
intervals of n processes with w states each.
"""

from __future__ import annotations

from collections import deque

from attrs import define, field

from .cuts import Cut, Windows

Interval = tuple[int, int]


@define
class ConjunctivePossibly:
    """Is there a consistent global state in the window where every process's condition holds?"""

    windows: Windows
    #: numbers of the states that may still be part of an answer, for each process
    candidates: list[deque[int]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.candidates = [deque() for _ in self.windows.widths]

    def feed(self, k: int, clock: Cut, holds: bool) -> bool:
        """Take the next state of process k, where its condition holds or not; return the verdict."""
        self.windows.push(k, clock)
        mine = self.candidates[k]
        if holds:
            mine.append(clock[k])
        while mine and mine[0] < self.windows.low[k]:
            mine.popleft()
        return self._agree()

    def __copy__(self) -> ConjunctivePossibly:
        """Return an independent copy."""
        twin = ConjunctivePossibly(self.windows.copy())
        twin.candidates = [deque(queue) for queue in self.candidates]
        return twin

    def _agree(self) -> bool:
        """Drop first candidates that happen before another, until none does or one process has none left."""
        candidates, clocks = self.candidates, self.windows.clocks
        while all(candidates):
            known = [max(c) for c in zip(*(clocks[j][q[0]] for j, q in enumerate(candidates)), strict=True)]
            early = [k for k, queue in enumerate(candidates) if queue[0] < known[k]]
            if not early:
                return True
            for k in early:
                candidates[k].popleft()
        return False


@define
class ConjunctiveDefinitely:
    """Must every path through the window's lattice meet a state where every process's condition holds?"""

    windows: Windows
    #: whether the condition holds, for each process and state in its window
    truth: list[dict[int, bool]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.truth = [{} for _ in self.windows.widths]

    def feed(self, k: int, clock: Cut, holds: bool) -> bool:
        """Take the next state of process k, where its condition holds or not; return the verdict."""
        stale = self.windows.push(k, clock)
        self.truth[k][clock[k]] = holds
        if stale is not None:
            del self.truth[k][stale]
        least, greatest = self.windows.least(), self.windows.greatest()
        return least is not None and greatest is not None and self._overlap(least, greatest)

    def __copy__(self) -> ConjunctiveDefinitely:
        """Return an independent copy."""
        twin = ConjunctiveDefinitely(self.windows.copy())
        twin.truth = [dict(truth) for truth in self.truth]
        return twin

    def _overlap(self, least: Cut, greatest: Cut) -> bool:
        """Find one interval of each process such that each begins before any other has ended."""
        ends = enumerate(zip(least, greatest, strict=True))
        queues = [deque(self._intervals(k, first, last)) for k, (first, last) in ends]
        clocks, changed = self.windows.clocks, list(range(len(queues)))

        def avoidable(j: int, i: int) -> bool:
            """Tell whether process j's first interval can end before process i's begins."""
            end, begin = queues[j][0][1], queues[i][0][0]
            return end != greatest[j] and begin != least[i] and clocks[j][end + 1][i] < begin

        while changed and all(queues):
            k = changed.pop()
            others = [j for j in range(len(queues)) if j != k]
            over = [j for j in others if avoidable(j, k)]
            if any(avoidable(k, i) for i in others):
                over.append(k)
            for j in over:
                queues[j].popleft()
            changed += over
        return all(queues)

    def _intervals(self, k: int, first: int, last: int) -> list[Interval]:
        """Return the maximal runs of true states of a process between two state numbers."""
        found: list[Interval] = []
        begin, truth = None, self.truth[k]
        for number in range(first, last + 1):
            if truth[number]:
                begin = number if begin is None else begin
            elif begin is not None:
                found.append((begin, number - 1))
                begin = None
        if begin is not None:
            found.append((begin, last))
        return found
