"""Tally: the fold of the values of all slices, kept up to date as single values change.

A binary tree over places, each inner node being the fold of its two children: a change costs as many steps as
the tree is high. The fold need not have an inverse (a maximum may go down), and floats do not drift.
"""

from __future__ import annotations

from typing import Any

from millstream.palettes.windows import Monoid
from millstream.processors import MISSING, as_function

Held = list[Any]


class Tally:
    """The fold of a changing collection of values; what it knows is kept in the list that `empty` makes.

    >>> tally = Tally(Monoid(max))
    >>> held = tally.empty()
    >>> for key, value in [("a", 3), ("b", 5), ("b", 1), ("c", 2)]:
    ...     tally.set(held, key, value)
    >>> tally.value(held)
    3
    >>> tally.remove(held, "a")
    >>> tally.value(held)
    2
    """

    def __init__(self, monoid: Monoid) -> None:
        self.monoid = monoid
        self.combine = as_function(monoid.combine)
        self.lift = None if monoid.lift is None else as_function(monoid.lift)
        self.lower = None if monoid.lower is None else as_function(monoid.lower)

    @staticmethod
    def empty() -> Held:
        """Return the tree (its root is entry 1), the place of each key, and the places given back."""
        return [[MISSING, MISSING], {}, [0]]

    def set(self, held: Held, key: Any, value: Any) -> None:
        """Note that a key has a value."""
        tree, places, free = held
        place = places.get(key)
        if place is None:
            if not free:
                self._grow(held)
                tree, places, free = held
            place = places[key] = free.pop()
        self._put(tree, place, value if self.lift is None else self.lift(value))

    @staticmethod
    def keys(held: Held) -> dict[Any, int]:
        """Return the keys that have a value, with their places."""
        places: dict[Any, int] = held[1]
        return places

    def remove(self, held: Held, key: Any) -> None:
        """Forget a key, if it is known."""
        tree, places, free = held
        place = places.pop(key, None)
        if place is not None:
            free.append(place)
            self._put(tree, place, MISSING)

    def _put(self, tree: list[Any], place: int, value: Any) -> None:
        combine = self.combine
        at = len(tree) // 2 + place
        tree[at] = value
        at >>= 1
        while at:
            left, right = tree[2 * at], tree[2 * at + 1]
            tree[at] = right if left is MISSING else left if right is MISSING else combine(left, right)
            at >>= 1

    def _grow(self, held: Held) -> None:
        """Double the number of places."""
        tree = held[0]
        size = len(tree) // 2
        grown: list[Any] = [MISSING] * (4 * size)
        for width in (1 << k for k in range(size.bit_length())):
            grown[2 * width : 3 * width] = tree[width : 2 * width]
        grown[1] = tree[1]
        held[0] = grown
        held[2].extend(range(2 * size - 1, size - 1, -1))

    def value(self, held: Held) -> Any:
        """Return the fold of all values, MISSING if there are none."""
        total, start = held[0][1], self.monoid.start
        if total is MISSING:
            return MISSING
        total = total if start is MISSING else self.combine(start, total)
        return total if self.lower is None else self.lower(total)
