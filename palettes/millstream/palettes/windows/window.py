"""Window and Tumbling: windows of a number of events.

`Window` describes what is wanted; which processor does it is decided when it is built, and can be seen in its
picture (``Window(...).draw()``) and as ``Window(...).query``.
"""

from __future__ import annotations

from math import gcd
from typing import Any, ClassVar

from attrs import field

from millstream.processors import Group, Processor, Query, processor
from millstream.processors.errors import at_least, fail_parameter
from millstream.processors.lists import spread

from .contents import check_inner
from .counted import Blocks, Sliding
from .monoid import Monoid, monoid_of
from .pending import Pending
from .recognise import monoid_query, with_folds
from .sliding import BlockFold, SlidingFold
from .sums import SlidingSum, is_sum

#: stepping a copy costs so many times as much as replaying one event
COPY = 8


@processor
class Window(Group):
    """Run a query on every window of `width` events, and give its last output on each.

    Windows begin `step` events apart. The first output comes at event number `width`. Each window is a whole
    trace for the inner query, which comes to its end with it; a window on which it says nothing gives no
    output.

    Parameters
    ----------
    inner
        A query with one input and one output; a `Monoid`; or a function or expression of the whole window (a
        tuple).
    width
        Number of events in a window.
    step
        Number of events from the beginning of one window to that of the next.
    exact
        Run the query over each window from left to right, even where it is an associative fold that could be
        computed in another order. It matters for floats, whose last digits depend on the order; it is slow.
    partial
        Whether the end of the trace closes the windows that have begun but are not full.

    Examples
    --------
    >>> from operator import add
    >>> from statistics import fmean
    >>> from millstream.processors import Cumulate
    >>> list(Window(Cumulate(add), 3)([1, 2, 3, 4, 5]))
    [6, 9, 12]
    >>> list(Window(fmean, 2)([1, 2, 4]))
    [1.5, 3.0]
    >>> list(Window(Cumulate(add), 3, step=2, partial=True)([1, 2, 3, 4, 5, 6]))
    [6, 12, 11]
    """

    icon: ClassVar[str] = "▭"
    inner: Any
    width: int = field(validator=at_least(1))
    every: Any = field(default=1, alias="step")
    exact: bool = False
    partial: bool = False
    query: Query = field(init=False)
    label: str = field(init=False, default="Window")

    def __attrs_post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            fail_parameter(self, "step", "an integer of at least 1", self.every)
        check_inner(self, self.inner)
        self.query = self._chosen()

    def _chosen(self) -> Query:
        """Return what computes the windows."""
        fold = None if self.exact else self._folding()
        if fold is not None:
            return fold
        inner = _as_function(self.inner)
        if self.every >= self.width:
            return Blocks(inner, self.width, self.every, self.partial)
        if isinstance(inner, Query):
            sliding = spread(inner, lambda plain: Sliding(plain, self.width, self.every, self.partial))
            if sliding is not None:
                return sliding
        limit = min(self.width // self.every // COPY, 64)
        if isinstance(inner, Query) and limit >= 4:
            return Pending(inner, self.width, limit, self.every, self.partial)
        return Sliding(inner, self.width, self.every, self.partial)

    def _folding(self) -> Query | None:
        if isinstance(self.inner, Query):
            return with_folds(self.inner, self._fold)
        monoid = monoid_of(self.inner)
        return None if monoid is None else monoid_query(monoid, self._fold)

    def _fold(self, function: Any, start: Any) -> Processor:
        """Return the windows over an associative fold: of blocks that no window divides, if there are any."""
        if self.every >= self.width:
            return BlockFold(function, self.width, self.every, start, self.partial)
        block = gcd(self.width, self.every)
        kind = SlidingSum if is_sum(function) else SlidingFold
        sliding = kind(function, self.width // block, self.every // block, start, self.partial)
        if block == 1:
            return sliding
        return Group(BlockFold(function, block, block, partial=self.partial) | sliding)


def _as_function(inner: Any) -> Any:
    return inner.fold if isinstance(inner, Monoid) else inner


@processor
class Tumbling(Window):
    """Run a query on one window after the other: each event is in exactly one.

    >>> from operator import add
    >>> from millstream.processors import Cumulate
    >>> list(Tumbling(Cumulate(add), 2)([1, 2, 3, 4, 5]))
    [3, 7]
    >>> list(Tumbling(Cumulate(add), 2, partial=True)([1, 2, 3, 4, 5]))
    [3, 7, 5]
    """

    every: Any = field(init=False)
    label: str = field(init=False, default="Tumbling")

    def __attrs_post_init__(self) -> None:
        self.every = self.width
        Window.__attrs_post_init__(self)
