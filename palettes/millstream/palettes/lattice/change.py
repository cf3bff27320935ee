"""What `LatticeWindow` sends downstream: one immutable change for each local state.

A lattice can have tens of thousands of states, of which an arrival touches a slab. So the window sends what
came and what went; predicates keep their own account of it, and `Lattices` turns changes into whole lattices
for those who want to look at them.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from .cuts import Cut
from .packing import Packing


@frozen
class Change:
    """The effect of one local state on the lattice of the window; global states are packed integers."""

    processes: tuple[str, ...]
    packing: Packing
    #: the process (by index) whose state came, the state's number and its value
    process: int
    number: int
    value: Any
    #: the number of the state of the same process that left the window, if any
    stale: int | None
    #: new global states in topological order
    added: tuple[int, ...]
    removed: tuple[int, ...]
    #: whether the lattice was empty before
    fresh: bool
    bottom: int | None
    top: int | None
    #: oldest and newest state number in each process's window (newest -1: none yet)
    bounds: tuple[tuple[int, int], ...]
    #: global states in the lattice now
    size: int

    @property
    def least(self) -> Cut | None:
        """C_min as state numbers."""
        return None if self.bottom is None else self.packing.unpack(self.bottom)

    @property
    def greatest(self) -> Cut | None:
        """C_max as state numbers."""
        return None if self.top is None else self.packing.unpack(self.top)

    def __repr__(self) -> str:
        name = self.processes[self.process]
        return f"Change({name} {self.number}: +{len(self.added)} -{len(self.removed)} = {self.size})"
