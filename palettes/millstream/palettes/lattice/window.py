"""Lat-Win: the lattice of consistent global states in an n-dimensional sliding window (Algorithms 1 to 3).

When a state of process k arrives, the lattice *grows* by the global states that contain it, and is *pruned*
of those that contain the state which leaves the window. Both sets are slabs of the lattice (component k is
fixed), and each slab is a lattice itself, so it is walked upward from its least element, level by level: no
recursion, each state is reached once, and the list of new states is in topological order. Neighbours differ
by one unit of a packed integer and edges are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field, frozen

from .cuts import Cut, Windows
from .packing import LIMIT, Packing


@frozen
class Growth:
    """What one arrival did to the lattice: packed states that came (in topological order) and that went."""

    added: list[int]
    removed: list[int]
    #: the number of the local state that left the window, if any
    stale: int | None
    #: whether the lattice was empty before
    fresh: bool
    bottom: int | None
    top: int | None


@define
class LatWin:
    """The lattice of a window, kept up to date.

    Examples
    --------
    >>> lattice = LatWin.of([3, 3])
    >>> for k, clock in [(0, (0, 0)), (1, (0, 0)), (1, (0, 1)), (0, (1, 1))]:
    ...     change = lattice.arrive(k, clock)
    >>> lattice.cuts()
    [(0, 0), (0, 1), (1, 1)]
    """

    windows: Windows
    packing: Packing
    states: set[int] = field(factory=set)
    #: for each process and state number in the window, its packed clock
    needs: list[dict[int, int]] = field(init=False)
    bottom: int | None = None
    top: int | None = None

    def __attrs_post_init__(self) -> None:
        self.needs = [{} for _ in self.windows.widths]

    @classmethod
    def of(cls, widths: Sequence[int | None]) -> LatWin:
        """Return an empty lattice for windows of these widths (None: unbounded)."""
        return cls(Windows(widths), Packing.of(len(widths)))

    def __len__(self) -> int:
        return len(self.states)

    def __copy__(self) -> LatWin:
        """Return an independent copy."""
        twin = LatWin(self.windows.copy(), self.packing, set(self.states), bottom=self.bottom, top=self.top)
        twin.needs = [dict(needs) for needs in self.needs]
        return twin

    def arrive(self, k: int, clock: Cut) -> Growth:
        """Take the next state of process k: grow, then prune."""
        fresh = not self.states
        stale = self.windows.push(k, clock)
        self.needs[k][clock[k]] = self.packing.pack(clock)
        added = self._grow(k, clock[k])
        removed = [] if stale is None else self._prune(k, stale)
        return Growth(added, removed, stale, fresh, self.bottom, self.top)

    def cuts(self) -> list[Cut]:
        """Return the global states as vectors of state numbers, sorted."""
        return sorted(map(self.packing.unpack, self.states))

    def can_grow(self, k: int, number: int) -> bool:
        """Tell whether the new state of process k occurs in a consistent global state (Theorem 4)."""
        packing = self.packing
        if self.top is None:
            return self.windows.least({k: number}) is not None
        if self.top >> packing.shifts[k] & LIMIT != number - 1:
            return False
        return packing.covers(self.top + packing.units[k], self.needs[k][number])

    def _grow(self, k: int, number: int) -> list[int]:
        """Add the slab of the new state (Algorithm 2); its ends are the new anchors (Theorem 5)."""
        if not self.can_grow(k, number):
            return []
        least = self.windows.least({k: number})
        assert least is not None, "a slab that can grow has a least element"
        start = self.packing.pack(least)
        added = self._climb(start, k)
        self.top = added[-1]
        if self.bottom is None:
            self.bottom = start
        return added

    def _climb(self, start: int, k: int) -> list[int]:
        """Add the consistent states above `start` with the same component k, level by level."""
        states, guards, never = self.states, self.packing.guards, self.packing.never
        others = [
            (unit, shift, self.needs[j].get)
            for j, (unit, shift) in enumerate(zip(self.packing.units, self.packing.shifts, strict=True))
            if j != k
        ]
        states.add(start)
        order = [start]
        for state in order:  # grows while we walk it
            for unit, shift, need in others:
                above = state + unit
                if (
                    above not in states
                    and ((above | guards) - need(above >> shift & LIMIT, never)) & guards == guards
                ):
                    states.add(above)
                    order.append(above)
        return order

    def _prune(self, k: int, stale: int) -> list[int]:
        """Remove the slab of the state that left the window (Algorithm 3, Theorems 6 and 7)."""
        del self.needs[k][stale]
        shift = self.packing.shifts[k]
        if self.bottom is None or self.top is None or self.bottom >> shift & LIMIT != stale:
            return []
        if self.top >> shift & LIMIT == stale:
            removed = list(self.states)
            self.states.clear()
            self.bottom = self.top = None
            return removed
        removed = self._drop(self.bottom, k)
        least = self.windows.least()
        assert least is not None, "what is left of the lattice has a least element"
        self.bottom = self.packing.pack(least)
        return removed

    def _drop(self, bottom: int, k: int) -> list[int]:
        """Remove the states above `bottom` with the same component k."""
        states = self.states
        others = [unit for j, unit in enumerate(self.packing.units) if j != k]
        states.discard(bottom)
        removed = [bottom]
        for state in removed:  # grows while we walk it
            for unit in others:
                if state + unit in states:
                    states.discard(state + unit)
                    removed.append(state + unit)
        return removed
