"""SlidingSum: a window over a sum, which for ints subtracts the event that leaves.

That is exact for ints, and saves the folds of the suffixes; `SlidingFold` would give the same. As long as
every event has been an int, `front` holds the events of the finished block instead of their folds::

    ... [ a b c d ][ e f . . ]        front: d, c
            ^-window-^                total: c+d+e+f, of which c is subtracted as soon as the value is out

The first event that is not an int (a bool is not) turns `front` into folds, from which `SlidingFold` goes on
for good: floats are never subtracted, and texts have no difference.
"""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import Any

from millstream.processors import MISSING, Inline, processor, state
from millstream.processors.expressions import Binary, Input

from .sliding import SlidingFold


def is_sum(function: Any) -> bool:
    """Return whether a fold is a sum.

    >>> from millstream.processors import X, Y
    >>> is_sum(operator.add), is_sum(X + Y), is_sum(max)
    (True, True, False)
    """
    match function:
        case Binary("+", Input(0, _), Input(1, _)):
            return True
    return function is operator.add


@processor
class SlidingSum(SlidingFold):
    """Sum the last `width` events; parameters as in `SlidingFold`.

    >>> list(SlidingSum(operator.add, 2)([1, 2, 3, 0.5, 4]))
    [3, 5, 3.5, 4.5]
    """

    #: whether all events have been ints; `total` is then the sum of all of `front` and `back`
    ints: bool = state(True)
    total: Any = state(0)

    def added(self, x: Any) -> Any:
        """Add the event, and return the sum of the window; MISSING if it is not full yet."""
        if not self.ints or type(x) is not int:
            self._turn()
            return SlidingFold.added(self, x)
        self.total = value = self.total + x
        self.back.append(x)
        if self.front:
            self.total = value - self.front.pop()
        elif len(self.back) < self.width:
            return MISSING
        else:
            self.total = value - self.back[0]
            self.front, self.back = self.back[:0:-1], []
        return value

    def _turn(self) -> None:
        """Go on without subtracting."""
        if self.ints:
            self.ints = False
            self.front, self.total = list(accumulate(self.front)), sum(self.back)

    def end(self) -> None:
        """Close the windows that have begun, if that is wanted."""
        self._turn()
        SlidingFold.end(self)

    def inline(self) -> Inline | None:
        """Return the step as statements."""
        stacks = SlidingFold.inline(self)
        if stacks is None:
            return None
        fold = len(stacks.do) if self.every == 1 else -1  # the rest counts down to the next output
        do = (
            "if not {me}.ints:",
            *(f"    {line}" for line in stacks.do[:fold]),
            "elif {0}.__class__ is int:",
            "    {y0} = {me}.total + {0}",
            "    {back} = {me}.back",
            "    {back}.append({0})",
            "    if {me}.front:",
            "        {me}.total = {y0} - {me}.front.pop()",
            f"    elif len({{back}}) == {self.width}:",
            "        {me}.total = {y0} - {back}[0]",
            "        {me}.front = {back}[:0:-1]",
            "        {me}.back = []",
            "    else:",
            "        {me}.total = {y0}",
            "        {y0} = {nothing}",
            "else:",
            "    {y0} = {me}.added({0})",
            *stacks.do[fold:],
        )
        return Inline(do=do, out=stacks.out, when=stacks.when, names=stacks.names)
