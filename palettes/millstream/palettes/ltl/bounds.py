"""Bounds of temporal operators: an interval of distances, in positions or in time units."""

from __future__ import annotations

from math import inf
from typing import Any

import attrs

from millstream.processors import ParameterError


@attrs.frozen
class Bounds:
    """The distances from ``low`` to ``high``, each end open or closed.

    >>> Bounds(0, 100)
    [0,100]
    >>> Bounds(0, 5, low_open=True).contains(0)
    False
    >>> Bounds(3)
    [3,inf)
    """

    low: float = 0
    high: float = inf
    low_open: bool = False
    high_open: bool = False

    def __attrs_post_init__(self) -> None:
        for end in (self.low, self.high):
            if type(end) not in (int, float) or end != end:  # NaN; a large int has no float
                raise ParameterError(f"Bounds: an end must be a number, got {end!r}")
        if self.low < 0:
            raise ParameterError(f"Bounds: the lower end must not be negative, got {self}")
        if (
            self.low == inf
            or self.high < self.low
            or (self.high == self.low and (self.low_open or self.high_open))
        ):
            raise ParameterError(f"Bounds: no distance lies within {self}")

    def __repr__(self) -> str:
        left = "(" if self.low_open else "["
        right = ")" if self.high_open or self.high == inf else "]"
        return f"{left}{_number(self.low)},{_number(self.high)}{right}"

    @property
    def unbounded(self) -> bool:
        """Whether there is no upper end."""
        return self.high == inf

    def contains(self, distance: float) -> bool:
        """Whether the distance lies within."""
        return self.reached(distance) and not self.passed(distance)

    def reached(self, distance: float) -> bool:
        """Whether the distance is not below the lower end."""
        return distance > self.low or (distance == self.low and not self.low_open)

    def passed(self, distance: float) -> bool:
        """Whether the distance is beyond the upper end."""
        return distance > self.high or (distance == self.high and self.high_open)

    def whole(self) -> tuple[int, int | None]:
        """First and last whole distance within (``None``: no last), for bounds that count positions."""
        low = int(self.low) + (self.low_open or self.low != int(self.low))
        if self.high == inf:
            return low, None
        high = int(self.high) - (self.high_open and self.high == int(self.high))
        if high < low:
            raise ParameterError(f"Bounds: no whole number of positions lies within {self}")
        return low, high


def _number(value: Any) -> str:
    return "inf" if value == inf else repr(value)
