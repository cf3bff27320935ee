"""A lattice as a value: its states, its edges, meet and join, and its picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from .cuts import Cut


@frozen
class Lattice:
    """The consistent global states in a window, as vectors of state numbers.

    Examples
    --------
    >>> lattice = Lattice(("p", "q"), ((0, 1), (0, 1)), frozenset({(0, 0), (0, 1), (1, 1)}))
    >>> len(lattice), lattice.bottom, lattice.top, (1, 0) in lattice
    (3, (0, 0), (1, 1), False)
    >>> list(lattice.edges())
    [((0, 0), (0, 1)), ((0, 1), (1, 1))]
    """

    processes: tuple[str, ...]
    #: oldest and newest state number in each process's window
    bounds: tuple[tuple[int, int], ...]
    states: frozenset[Cut]
    #: values of the local states by number, for each process
    values: tuple[Mapping[int, Any], ...] = field(default=(), eq=False, repr=False)

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, state: object) -> bool:
        return state in self.states

    def __iter__(self) -> Iterator[Cut]:
        return iter(sorted(self.states))

    @property
    def bottom(self) -> Cut | None:
        """C_min, the state from which all others can be reached, or None if the lattice is empty."""
        return min(self.states, key=sum, default=None)

    @property
    def top(self) -> Cut | None:
        """C_max, the state that can be reached from all others, or None if the lattice is empty."""
        return max(self.states, key=sum, default=None)

    def successors(self, state: Cut) -> list[Cut]:
        """Return the states that follow when one process advances by one state."""
        return [above for k in range(len(state)) if (above := _moved(state, k, 1)) in self.states]

    def predecessors(self, state: Cut) -> list[Cut]:
        """Return the states that precede by one state of one process."""
        return [below for k in range(len(state)) if (below := _moved(state, k, -1)) in self.states]

    def edges(self) -> Iterator[tuple[Cut, Cut]]:
        """Yield each state with each of its successors."""
        for state in self:
            for above in self.successors(state):
                yield state, above

    def meet(self, a: Cut, b: Cut) -> Cut:
        """Return the greatest state from which both can be reached."""
        return self._member(tuple(map(min, self._member(a), self._member(b))))

    def join(self, a: Cut, b: Cut) -> Cut:
        """Return the least state that can be reached from both."""
        return self._member(tuple(map(max, self._member(a), self._member(b))))

    def local(self, state: Cut) -> tuple[Any, ...]:
        """Return the values of the local states of a global state."""
        return tuple(values[number] for values, number in zip(self.values, self._member(state), strict=True))

    def svg(self) -> str:
        """Draw the lattice of two processes."""
        from .picture import draw

        return draw(self)

    def _repr_svg_(self) -> str | None:
        return self.svg() if len(self.processes) == 2 else None

    def _member(self, state: Cut) -> Cut:
        if state not in self.states:
            raise ValueError(f"{state} is not a consistent global state of this lattice")
        return state


def _moved(state: Cut, k: int, by: int) -> Cut:
    return (*state[:k], state[k] + by, *state[k + 1 :])
