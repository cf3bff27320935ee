"""Temporal operators as processors over Boolean streams, one verdict per position, in order.

They mix with all other processors: an operand is any query that gives true or false. Pending positions are
a number. A verdict that only the end of the trace can give is given with ``at_end="finite"``.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any, ClassVar

from attrs import field
from attrs.validators import in_

from millstream.processors import Processor, Uniform, processor, state
from millstream.processors.lineage import Answers, Tracker


@processor
class _Waiting(Processor):
    """Base: positions wait, and are decided together."""

    at_end: str | None = field(default=None, kw_only=True, validator=in_((None, "finite")))
    pending: int = state(0)
    #: the verdict of what is pending when a finite trace ends
    final: ClassVar[bool] = False

    def decide(self, verdict: bool) -> None:
        """Give all pending positions, and the current one, the same verdict."""
        count, self.pending = self.pending + 1, 0
        emit = self.emit
        for _ in repeat(None, count):
            emit(verdict)

    def end(self) -> None:
        if self.at_end is not None:
            for _ in repeat(None, self.pending):
                self.emit(self.final)
            self.pending = 0

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the position that gets its verdict, and of what came since."""
        return Answers(limit)


@processor
class Eventually(_Waiting):
    """``F``: true as soon as the operand is true at this position or a later one.

    >>> list(Eventually()([True, False, False, True, False]))
    [True, True, True, True]
    """

    def step(self, x: Any) -> None:
        if x:
            self.decide(True)
        else:
            self.pending += 1


@processor
class Globally(_Waiting):
    """``G``: false as soon as the operand is false at this position or a later one.

    >>> list(Globally()([False, True, True, False, True]))
    [False, False, False, False]
    >>> list(Globally(at_end="finite")([False, True]))
    [False, True]
    """

    final: ClassVar[bool] = True

    def step(self, x: Any) -> None:
        if x:
            self.pending += 1
        else:
            self.decide(False)


@processor
class Next(_Waiting):
    """``X``: the operand's verdict at the following position.

    >>> list(Next()([True, False, False]))
    [False, False]
    """

    def step(self, x: Any) -> None:
        if self.pending:
            self.emit(bool(x))
        self.pending = 1


@processor
class Until(_Waiting):
    """``U``: the left operand holds until the right one does, which happens.

    >>> list(Until()([True, True, False, True, True], [False, False, False, False, True]))
    [False, False, False, True, True]
    """

    ins: ClassVar[int] = 2

    def step(self, left: Any, right: Any) -> None:
        if right:
            self.decide(True)
        elif not left:
            self.decide(False)
        else:
            self.pending += 1


@processor
class WeakUntil(Until):
    """``W``: the left operand holds until the right one does, or for ever.

    >>> list(WeakUntil(at_end="finite")([False, True], [False, False]))
    [False, True]
    """

    final: ClassVar[bool] = True


@processor
class Release(_Waiting):
    """``R``: the right operand holds up to and including the position where the left one does, or for ever.

    >>> list(Release()([False, True, False], [True, True, False]))
    [True, True, False]
    """

    ins: ClassVar[int] = 2
    final: ClassVar[bool] = True

    def step(self, left: Any, right: Any) -> None:
        if not right:
            self.decide(False)
        elif left:
            self.decide(True)
        else:
            self.pending += 1


@processor
class Previous(Uniform):
    """``Y``: the operand's value at the preceding position, false at the first.

    >>> list(Previous()([True, False]))
    [False, True]
    """

    last: bool = state(False)

    def step(self, x: Any) -> bool:
        before, self.last = self.last, bool(x)
        return before


@processor
class Once(Uniform):
    """``O``: whether the operand was true at this position or an earlier one.

    >>> list(Once()([False, True, False]))
    [False, True, True]
    """

    seen: bool = state(False)

    def step(self, x: Any) -> bool:
        self.seen = self.seen or bool(x)
        return self.seen


@processor
class Historically(Uniform):
    """``H``: whether the operand was true at this position and all earlier ones.

    >>> list(Historically()([True, False, True]))
    [True, False, False]
    """

    held: bool = state(True)

    def step(self, x: Any) -> bool:
        self.held = self.held and bool(x)
        return self.held


@processor
class Since(Uniform):
    """``S``: the right operand was true, and the left one at all positions after it.

    >>> list(Since()([True, True, False], [False, True, False]))
    [False, True, False]
    """

    ins: ClassVar[int] = 2
    held: bool = state(False)

    def step(self, left: Any, right: Any) -> bool:
        self.held = bool(right or (left and self.held))
        return self.held
