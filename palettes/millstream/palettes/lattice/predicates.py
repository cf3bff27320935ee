"""Possibly and Definitely over the lattice of the window, maintained change by change.

*Possibly*: some consistent global state of the lattice satisfies the predicate. *Definitely*: every path from
C_min to C_max goes through one that does (Cooper and Marzullo). The predicate is evaluated once for each new
global state.

For Definitely, `open` holds the states that a path from C_min can reach while avoiding the predicate; the
verdict is whether C_max is not among them. New states are decided in topological order. When the window
moves, C_min moves: the new C_min opens (and what it reaches), and states which lost their last open
predecessor close (and what depends on them). The relation has no cycles, so both can be done in any order,
and the cost is that of the slab and of what really changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from .change import Change
from .packing import LIMIT

#: takes the values of one local state of each process, in order
Predicate = Callable[..., Any]


@define
class Values:
    """The values of the local states in the window, looked up by packed global state."""

    values: list[dict[int, Any]] = field(factory=list)

    def follow(self, change: Change) -> list[tuple[int, dict[int, Any]]]:
        """Learn the new local state; return (shift, values) for each process."""
        if not self.values:
            self.values = [{} for _ in change.processes]
        self.values[change.process][change.number] = change.value
        return list(zip(change.packing.shifts, self.values, strict=True))

    def copy(self) -> Values:
        """Return an independent copy."""
        return Values([dict(values) for values in self.values])

    def forget(self, change: Change) -> None:
        """Drop the value of the local state that left."""
        if change.stale is not None:
            del self.values[change.process][change.stale]


@define
class PossiblyCore:
    """Does some state of the lattice satisfy the predicate?"""

    values: Values = field(factory=Values)
    holds: set[int] = field(factory=set)

    def feed(self, change: Change, predicate: Predicate) -> bool:
        """Follow a change and return the verdict."""
        lookup, holds = self.values.follow(change), self.holds
        for state in change.added:
            if predicate(*[values[state >> shift & LIMIT] for shift, values in lookup]):
                holds.add(state)
        if holds:
            holds.difference_update(change.removed)
        self.values.forget(change)
        return bool(holds)

    def __copy__(self) -> PossiblyCore:
        """Return an independent copy."""
        return PossiblyCore(self.values.copy(), set(self.holds))


@define
class DefinitelyCore:
    """Does every path through the lattice meet the predicate?"""

    values: Values = field(factory=Values)
    #: states that do not satisfy the predicate
    avoiding: set[int] = field(factory=set)
    #: those of them that a path from C_min reaches through such states only
    open: set[int] = field(factory=set)

    def feed(self, change: Change, predicate: Predicate) -> bool:
        """Follow a change and return the verdict."""
        self._grow(change, predicate)
        if change.removed:
            self._prune(change)
        self.values.forget(change)
        return change.top is not None and change.top not in self.open

    def __copy__(self) -> DefinitelyCore:
        """Return an independent copy."""
        return DefinitelyCore(self.values.copy(), set(self.avoiding), set(self.open))

    def _grow(self, change: Change, predicate: Predicate) -> None:
        lookup = self.values.follow(change)
        units, avoiding, opened = change.packing.units, self.avoiding, self.open
        seed = change.added[0] if change.added and change.fresh else None
        for state in change.added:
            if predicate(*[values[state >> shift & LIMIT] for shift, values in lookup]):
                continue
            avoiding.add(state)
            if state == seed:
                opened.add(state)
                continue
            for unit in units:
                if state - unit in opened:
                    opened.add(state)
                    break

    def _prune(self, change: Change) -> None:
        self.avoiding.difference_update(change.removed)
        self.open.difference_update(change.removed)
        if change.bottom is None:
            return
        self._reopen(change.bottom, change.packing.units)
        unit = change.packing.units[change.process]
        edge = [state + unit for state in change.removed if state + unit in self.open]
        self._close(edge, change.bottom, change.packing.units)

    def _reopen(self, bottom: int, units: tuple[int, ...]) -> None:
        """Open C_min and what it reaches."""
        avoiding, opened = self.avoiding, self.open
        if bottom in opened or bottom not in avoiding:
            return
        opened.add(bottom)
        todo = [bottom]
        for state in todo:  # grows while we walk it
            for unit in units:
                above = state + unit
                if above in avoiding and above not in opened:
                    opened.add(above)
                    todo.append(above)

    def _close(self, suspects: list[int], bottom: int, units: tuple[int, ...]) -> None:
        """Close the suspects that no open state precedes, and then their successors."""
        opened = self.open
        for state in suspects:  # grows while we walk it
            if state == bottom or state not in opened or any(state - unit in opened for unit in units):
                continue
            opened.discard(state)
            suspects.extend(state + unit for unit in units if state + unit in opened)
