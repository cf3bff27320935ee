"""Global states as single integers.

A global state is a vector of state numbers, one for each process. Packed into one integer with a guard bit
above each field, it is small (64 bytes for nine processes, less than half a tuple), hashes fast, moves to a
neighbour by one addition, and is compared with a vector clock, all components at once, by one subtraction: a
component that is too small borrows its guard bit.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

#: bits of a field, guard bit included
FIELD = 32
#: largest state number
LIMIT = (1 << (FIELD - 1)) - 1


@frozen
class Packing:
    """How the global states of n processes are packed.

    Examples
    --------
    >>> packing = Packing.of(3)
    >>> state = packing.pack((4, 0, 7))
    >>> packing.unpack(state + packing.units[1])
    (4, 1, 7)
    >>> packing.covers(state, packing.pack((4, 0, 6))), packing.covers(state, packing.pack((0, 1, 0)))
    (True, False)
    """

    shifts: tuple[int, ...]
    #: the step to the next state of each process
    units: tuple[int, ...]
    guards: int
    #: a clock that no state covers
    never: int

    @classmethod
    def of(cls, processes: int) -> Packing:
        """Return the packing for a number of processes."""
        shifts = tuple(FIELD * k for k in range(processes))
        units = tuple(1 << shift for shift in shifts)
        return cls(shifts, units, sum(units) << (FIELD - 1), sum(units) * LIMIT)

    def pack(self, numbers: Iterable[int]) -> int:
        """Pack state numbers."""
        state = 0
        for number, shift in zip(numbers, self.shifts, strict=True):
            if number >= LIMIT:
                raise ValueError(f"state number {number} is too large (limit {LIMIT})")
            state |= number << shift
        return state

    def unpack(self, state: int) -> tuple[int, ...]:
        """Return the state numbers."""
        return tuple([state >> shift & LIMIT for shift in self.shifts])

    def covers(self, state: int, clock: int) -> bool:
        """Tell whether each component of the state is at least that of the clock."""
        guards = self.guards
        return ((state | guards) - clock) & guards == guards
