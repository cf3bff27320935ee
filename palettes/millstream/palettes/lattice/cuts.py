"""The windows of all processes, and their least and greatest consistent global states.

This is what can be said about the lattice without enumerating it: a consistent state exists between two
bounds exactly if repeatedly raising (or lowering) the components that violate a clock ends inside the bounds,
and then the result is the least (greatest) one. That takes O(n^2 w) steps for n processes and windows of w
states.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

Cut = tuple[int, ...]


@define
class Windows:
    """For each process the newest states: numbers `low` to `high`, and their clocks.

    Examples
    --------
    >>> windows = Windows([2, None])
    >>> for k, clock in [(0, (0, 0)), (1, (0, 0)), (1, (0, 1)), (0, (1, 1))]:
    ...     stale = windows.push(k, clock)
    >>> windows.least(), windows.greatest(), windows.least({0: 1})
    ((0, 0), (1, 1), (1, 1))
    """

    widths: Sequence[int | None]
    low: list[int] = field(init=False)
    high: list[int] = field(init=False)
    clocks: list[dict[int, Cut]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        n = len(self.widths)
        self.low, self.high, self.clocks = [0] * n, [-1] * n, [{} for _ in range(n)]

    def copy(self) -> Windows:
        """Return an independent copy."""
        twin = Windows(self.widths)
        twin.low, twin.high, twin.clocks = list(self.low), list(self.high), [dict(c) for c in self.clocks]
        return twin

    def push(self, k: int, clock: Cut) -> int | None:
        """Take the next state of a process; return the number of the state that leaves its window, if any."""
        number, clocks, width = clock[k], self.clocks[k], self.widths[k]
        if not clocks:
            self.low[k] = number
        self.high[k] = number
        clocks[number] = clock
        if width is None or len(clocks) <= width:
            return None
        stale = self.low[k]
        del clocks[stale]
        self.low[k] = stale + 1
        return stale

    def least(self, fixed: dict[int, int] | None = None) -> Cut | None:
        """Return the least consistent global state in the windows, with some components fixed, or None."""
        if not all(self.clocks):
            return None
        cut, top = list(self.low), list(self.high)
        for k, number in (fixed or {}).items():
            cut[k] = top[k] = number
        todo = list(range(len(cut)))
        while todo:
            k = todo.pop()
            for i, known in enumerate(self.clocks[k][cut[k]]):
                if known > cut[i]:
                    if known > top[i]:
                        return None
                    cut[i] = known
                    todo.append(i)
        return tuple(cut)

    def greatest(self) -> Cut | None:
        """Return the greatest consistent global state in the windows, or None."""
        if not all(self.clocks):
            return None
        cut, todo = list(self.high), list(range(len(self.high)))
        while todo:
            i = todo.pop()
            for k, clocks in enumerate(self.clocks):
                before = cut[k]
                while clocks[cut[k]][i] > cut[i]:
                    if cut[k] == self.low[k]:
                        return None
                    cut[k] -= 1
                if cut[k] < before:
                    todo.append(k)
        return tuple(cut)
