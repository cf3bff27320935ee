"""Windows of a number of events over any query or function: for `Window` where no fold can be used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar

from millstream.processors import MISSING, Inline, Processor, Query, as_function, processor, state, transient
from millstream.processors.expressions import Expression

from .contents import Contents, Replay, Whole, contents
from .traced import traced_inner


@processor
class Sliding(Processor):
    """Value the last `width` events: a query is run on them, or a function called with them.

    >>> from millstream.processors import Filter, X
    >>> list(Sliding(Filter(X % 2 == 0), 2)([1, 3, 4, 5, 7]))
    [4, 4]
    >>> list(Sliding(list, 2, partial=True)("abc"))
    [['a', 'b'], ['b', 'c'], ['c']]
    """

    icon: ClassVar[str] = "▭"
    inner: Any
    width: int
    every: int = 1
    partial: bool = False
    contents: Contents = transient()
    held: deque[Any] = state(of=lambda self: deque())
    #: events until the next output
    due: int = state(of=lambda self: self.width)

    def prepare(self) -> None:
        """Wire the inner query."""
        if isinstance(self.inner, Query):
            self.contents = Replay(self, self.inner)
        else:
            self.contents = Whole(as_function(self.inner))

    def step(self, x: Any) -> None:
        """Add the event, and emit the value of the window if its turn has come."""
        self.held.append(x)
        self.due = due = self.due - 1
        if not due:
            self.due = self.every
            self.close()

    def close(self) -> None:
        """Emit the value of the window."""
        value = self.value()
        if value is not MISSING:
            self.emit(value)

    def value(self) -> Any:
        """Return the value of the window, MISSING if it has none, and let events leave."""
        try:
            return self.contents.value(self.held)
        finally:
            self.leave()

    def leave(self) -> None:
        """Let the events leave that the next window does not have."""
        held = self.held
        for _ in range(min(self.every, len(held))):
            held.popleft()

    def end(self) -> None:
        """Close the windows that have begun, if that is wanted."""
        while self.partial and self.held:
            self.close()

    def inline(self) -> Inline | None:
        """Return the step as statements, for a function of each full window."""
        if self.partial or self.every != 1 or isinstance(self.inner, Query):
            return None
        inner = self.inner
        do = (
            "{held} = {me}.held",
            "{held}.append({0})",
            "{y0} = {nothing}",
            f"if len({{held}}) == {self.width}:",
            "    {y0} = tuple({held})",
            "    {held}.popleft()",
            "    {y0} = {function}({y0})",
        )
        function = as_function(inner) if isinstance(inner, Expression) else inner
        names = {"held": None, "nothing": MISSING, "function": function}
        return Inline(do=do, out=("{y0}",), when="{y0} is not {nothing}", names=names)

    def shares(self, count: int) -> tuple[Processor, ...]:
        """Return processors that have a part of the windows each, and read the same events."""
        count = min(count, -(-self.width // self.every))
        given = self.inner, self.width, self.every, self.partial
        return tuple(SlidingShare(*given, index, count) for index in range(count))

    def merged(self, parts: Sequence[Iterable[tuple[int, Any]]]) -> list[Any]:
        """Return the outputs for an event, of which each share has given some."""
        return [value for _, value in sorted(chain.from_iterable(parts), key=itemgetter(0))]

    def explained(self, limit: int) -> Processor:
        """Return windows over traced events."""
        return Sliding(traced_inner(self.inner, limit), self.width, self.every, self.partial)


@processor
class SlidingShare(Sliding):
    """Value the windows whose number gives `index` when divided by `count`; tell the number with each value.

    >>> from millstream.processors import KeepLast
    >>> list(SlidingShare(KeepLast(), 2, index=1, count=2)("abcdef"))
    [(1, 'c'), (3, 'e')]
    """

    index: int = 0
    count: int = 1
    #: the number of the oldest window that is not closed
    number: int = state(0)

    def close(self) -> None:
        """Emit the value of the window, with its number, if it is one of these."""
        number = self.number
        self.number += 1
        if number % self.count != self.index:
            self.leave()
            return
        value = self.value()
        if value is not MISSING:
            self.emit((number, value))


@processor
class Blocks(Processor):
    """Value `width` events at a time; blocks begin `every` events apart, what lies between them is ignored.

    A copy of the inner query takes the events as they come: nothing is held back for the end of the block.

    >>> from millstream.processors import KeepLast
    >>> list(Blocks(KeepLast(), 2, 3)("abcdefg"))
    ['b', 'e']
    """

    icon: ClassVar[str] = "▭"
    inner: Any
    width: int
    every: int
    partial: bool = False
    contents: Contents = transient()
    held: Any = state(None)
    #: how many of the `every` events from one block to the next have come
    count: int = state(0)

    def prepare(self) -> None:
        """Wire the inner query."""
        self.contents = contents(self, self.inner, leaving=False, exact=True)

    def step(self, x: Any) -> None:
        """Add the event, unless it falls between two blocks; emit at the end of a block."""
        count = self.count
        self.count = (count + 1) % self.every
        if count < self.width:
            if not count:
                self.held = self.contents.empty()
            self.contents.add(self.held, x)
            if count == self.width - 1:
                self._give()

    def _give(self) -> None:
        held, self.held = self.held, None
        value = self.contents.value(held)
        if value is not MISSING:
            self.emit(value)

    def end(self) -> None:
        """Close the block that has begun, if that is wanted."""
        if self.partial and self.held is not None:
            self._give()

    def explained(self, limit: int) -> Processor:
        """Return blocks of traced events."""
        return Blocks(traced_inner(self.inner, limit), self.width, self.every, self.partial)
