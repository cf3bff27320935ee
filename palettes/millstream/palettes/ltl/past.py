"""Memories: what past operators keep. Constant time per event, whatever the bounds."""

from __future__ import annotations

from collections import deque
from math import inf

from attrs import define, field

from .bounds import Bounds


@define
class Previous:
    """``Y``: the last value."""

    last: bool = False

    def step(self, value: bool, time: float) -> bool:
        """Take the value at this position, return the one at the position before."""
        before, self.last = self.last, bool(value)
        return before


@define
class Since:
    """``a S b``: whether a ``b`` happened with ``a`` at all positions after it."""

    held: bool = False

    def step(self, a: bool, b: bool, time: float) -> bool:
        """Take both values at this position, return the value of the operator."""
        self.held = bool(b or (a and self.held))
        return self.held


@define
class BoundedSince:
    """``a S[low,high] b``: the youngest old enough ``b`` decides; those that are too young wait."""

    bounds: Bounds
    waiting: deque[float] = field(factory=deque)
    last: float | None = None

    def step(self, a: bool, b: bool, time: float) -> bool:
        """Take both values at this position, return the value of the operator."""
        waiting, reached = self.waiting, self.bounds.reached
        if not a:
            waiting.clear()
            self.last = None
        if b:
            waiting.append(time)
        while waiting and reached(time - waiting[0]):
            self.last = waiting.popleft()
        return self.last is not None and not self.bounds.passed(time - self.last)


@define
class CountedSince:
    """The same for bounds that count positions; `instant` writes its steps into the loop over events."""

    waiting: deque[int] = field(factory=deque)
    last: float = -inf


Memory = Previous | Since | BoundedSince | CountedSince
