"""SlidingFold: a window over an associative fold, in constant time per event whatever its width.

Two stacks (Tangwongsan, Hirzel and Schneider, "In-order sliding-window aggregation in worst-case constant
time", The VLDB Journal, 2021, describe them before they improve their worst case). For a fixed width they
turn over exactly every `width` events, so a block of events is enough::

    ... [ a b c d ][ e f . . ]        front: c+d, d (what the window still needs of the finished block)
            ^-window-^                total: e+f; the window is (c+d) + (e+f)

Nothing is ever subtracted, so floats do not drift and the operation needs no inverse. Sums of ints, which
have an exact one, are in `sums`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any, ClassVar

from millstream.processors import MISSING, Inline, Processor, as_function, processor, state, transient
from millstream.processors.lineage import Block, Latest, Tracker

from .monoid import combination

Combine = Callable[[Any, Any], Any]


def suffixes(function: Any) -> Callable[[list[Any]], list[Any]]:
    """Return a function that folds all the suffixes of a list, the shortest first.

    >>> from operator import add
    >>> suffixes(add)(["a", "b", "c"])
    ['c', 'bc', 'abc']
    """
    try:
        fold: Callable[[list[Any]], list[Any]] = _suffixes(function)
    except TypeError:  # an unhashable callable
        fold = _suffixes.__wrapped__(function)
    return fold


@lru_cache(maxsize=256)
def _suffixes(function: Any) -> Any:
    code, names = combination(function, "x", "total")
    text = (
        "def fold(values):\n"
        "    found = values[-1:]\n"
        "    for total in found: break\n"
        "    for x in values[-2::-1]:\n"
        f"        total = {code.format(f='f')}\n"
        "        found.append(total)\n"
        "    return found\n"
    )
    exec(text, names)
    return names["fold"]


@processor
class SlidingFold(Processor):
    """Fold the last `width` events, giving a value for each event, or for each `every` of them.

    Parameters
    ----------
    function
        An associative function of two arguments, or an expression of X and Y.
    width
        Number of events in a window.
    every
        An output comes every so many events, from the first full window on.
    start
        Combined with the left end of each window, if given.
    partial
        Whether the end of the trace closes the windows that are not full yet.

    Examples
    --------
    >>> list(SlidingFold(max, 3)([4, 1, 2, 3, 0]))
    [4, 3, 3]
    >>> list(SlidingFold(max, 3, partial=True)([4, 1, 2]))
    [4, 2, 2]
    """

    icon: ClassVar[str] = "▭"
    function: Any
    width: int
    every: int = 1
    start: Any = MISSING
    partial: bool = False
    combine: Combine = transient()
    #: folds of the suffixes of the finished block that windows still need, the longest last
    front: list[Any] = state(of=lambda self: [])
    #: the events of the block under way, and their fold
    back: list[Any] = state(of=lambda self: [])
    total: Any = state(MISSING)
    #: events until the next output; 0 right after one
    due: int = state(of=lambda self: self.width)

    def prepare(self) -> None:
        self.combine = as_function(self.function)

    def step(self, x: Any) -> None:
        """Add the event; emit the value of the window if it is full and its turn has come."""
        value = self.added(x)
        self.due = (self.due or self.every) - 1
        if not self.due:
            self._give(value)

    def added(self, x: Any) -> Any:
        """Add the event, and return the fold of the window; MISSING if it is not full yet."""
        self.total = value = self.combine(self.total, x) if self.back else x
        self.back.append(x)
        if self.front:
            older = self.front.pop()
            try:
                return self.combine(older, value)
            except BaseException:
                self.undo(older)
                raise
        if len(self.back) < self.width:
            return MISSING
        self.front, self.back = suffixes(self.function)(self.back[1:]), []
        return value

    def undo(self, older: Any) -> None:
        """Take back an event that could not be combined with what is older, so that others can follow it."""
        self.front.append(older)
        self.back.pop()
        self.total = reduce(self.combine, self.back) if self.back else MISSING

    def end(self) -> None:
        """Close the windows that have begun, if that is wanted."""
        if self.partial and (self.front or self.back):
            older = [self.combine(f, self.total) if self.back else f for f in reversed(self.front)]
            open_windows = older + suffixes(self.function)(self.back)[::-1]
            for value in open_windows[
                (self.due or self.every) - self.width + len(open_windows) :: self.every
            ]:
                self._give(value)

    def _give(self, value: Any) -> None:
        self.emit(value if self.start is MISSING else self.combine(self.start, value))

    def inline(self) -> Inline | None:
        """Return the step as statements."""
        if self.partial:
            return None
        added, names = combination(self.function, "{me}.total", "{0}")
        joined, _ = combination(self.function, "{older}", "{y0}")
        whole, _ = combination(self.function, "{start}", "{y0}")
        each = self.every == 1
        do = (
            "{back} = {me}.back",
            f"{{y0}} = {{me}}.total = {added} if {{back}} else {{0}}",
            "{back}.append({0})",
            "if {me}.front:",
            "    {older} = {me}.front.pop()",
            "    try:",
            f"        {{y0}} = {joined}",
            "    except BaseException:",
            "        {me}.undo({older})",
            "        raise",
            f"elif len({{back}}) == {self.width}:",
            "    {me}.front = {suffixes}({back}[1:])",
            "    {me}.back = []",
            *(
                ("else:", "    {y0} = {nothing}")
                if each
                else (f"{{me}}.due = ({{me}}.due or {self.every}) - 1",)
            ),
        )
        names |= {
            "back": None,
            "older": None,
            "suffixes": suffixes(self.function),
            "nothing": MISSING,
            "start": self.start,
        }
        out = "{y0}" if self.start is MISSING else whole
        return Inline(
            do=do, out=(out,), when="{y0} is not {nothing}" if each else "not {me}.due", names=names
        )

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the events in the window."""
        return Latest(limit, self.width)


@processor
class BlockFold(Processor):
    """Fold `width` events at a time, one value for each block; blocks begin `every` events apart.

    >>> from operator import add
    >>> list(BlockFold(add, 2, 3)([1, 2, 9, 3, 4, 9, 5]))
    [3, 7]
    >>> list(BlockFold(add, 2, 3, partial=True)([1, 2, 9, 3]))
    [3, 3]
    """

    icon: ClassVar[str] = "▭"
    function: Any
    width: int
    every: int
    start: Any = MISSING
    partial: bool = False
    combine: Combine = transient()
    total: Any = state(MISSING)
    #: how many of the `every` events from one block to the next have come
    count: int = state(0)

    def prepare(self) -> None:
        self.combine = as_function(self.function)

    def step(self, x: Any) -> None:
        """Add the event, unless it falls between two blocks; emit at the end of a block."""
        count = self.count
        if count < self.width:
            before = self.start if count == 0 else self.total
            self.total = x if before is MISSING else self.combine(before, x)
            if count == self.width - 1:
                self.emit(self.total)
        self.count = (count + 1) % self.every

    def end(self) -> None:
        """Close the block that has begun, if that is wanted."""
        if self.partial and 0 < self.count < self.width:
            self.emit(self.total)

    def inline(self) -> Inline | None:
        """Return the step as statements."""
        if self.partial or self.every != self.width:
            return None
        added, names = combination(self.function, "{me}.total", "{0}")
        first = "{0}" if self.start is MISSING else combination(self.function, "{start}", "{0}")[0]
        do = (
            f"{{y0}} = {{me}}.total = {added} if {{me}}.count else {first}",
            f"{{me}}.count = {{me}}.count + 1 if {{me}}.count < {self.width - 1} else 0",
        )
        return Inline(do=do, out=("{y0}",), when="not {me}.count", names={**names, "start": self.start})

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the events in the block."""
        return Block(limit, self.width, self.every)
