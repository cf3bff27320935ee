"""Processors that let some events of a stream through, by their position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import Any, ClassVar

from attrs import field

from .apply import function_field
from .compiling import as_function
from .errors import at_least
from .lineage import Parts, Tracker
from .processor import MISSING, Inline, Processor, Uniform, processor, state, transient


@processor
class Trim(Processor):
    """Drop the first n events.

    >>> list(Trim(2)("abcd"))
    ['c', 'd']
    """

    icon: ClassVar[str] = "✂"
    n: int = field(default=1, validator=at_least(0))
    left: int = state(of=lambda self: self.n)

    def step(self, x: Any) -> None:
        """Emit the event unless it is to be dropped."""
        if self.passes():
            self.emit(x)

    def passes(self) -> bool:
        """Return whether the next event is let through."""
        if self.left == 0:
            return True
        self.left -= 1
        return False

    def inline(self) -> Inline:
        """Return the test, a method call only while events are dropped."""
        return Inline(when="{me}.left == 0 or {me}.passes()", out=("{0}",))

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event at hand."""
        return Tracker(limit)


@processor
class Prefix(Processor):
    """Keep the first n events; in pull nothing more is read.

    >>> from itertools import count
    >>> list(Prefix(3)(count()))
    [0, 1, 2]
    """

    icon: ClassVar[str] = "⊣"
    n: int = field(default=1, validator=at_least(0))
    left: int = state(of=lambda self: self.n)

    def step(self, x: Any) -> None:
        """Emit the event if it is one of the first."""
        if self.left:
            self.left -= 1
            self.emit(x)

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        """Stop after n events."""
        return islice(inputs[0], self.n)

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event at hand."""
        return Tracker(limit)


@processor
class Decimate(Processor):
    """Keep every n-th event, beginning with the first.

    Parameters
    ----------
    n
        The interval.
    last
        Whether the last event of the trace comes out as well, if it has not already.

    Examples
    --------
    >>> list(Decimate(3)(range(8)))
    [0, 3, 6]
    >>> list(Decimate(3, last=True)(range(8)))
    [0, 3, 6, 7]
    """

    icon: ClassVar[str] = "↧"
    n: int = field(validator=at_least(1))
    last: bool = False
    phase: int = state(0)
    held: Any = state(MISSING)

    def step(self, x: Any) -> None:
        """Emit every n-th event, hold the others back if one may be the last."""
        if self.phase == 0:
            self.held = MISSING
            self.emit(x)
        elif self.last:
            self.held = x
        self.phase = (self.phase + 1) % self.n

    def end(self) -> None:
        """Emit the last event if it was asked for and has not come out."""
        if self.held is not MISSING:
            held, self.held = self.held, MISSING
            self.emit(held)

    def inline(self) -> Inline | None:
        """Return the test of the phase, unless an event may come out at the end."""
        if self.last:
            return None
        turn = f"{{me}}.phase = {{me}}.phase + 1 if {{me}}.phase + 1 < {self.n} else 0"
        before = f"{self.n - 1} if {{me}}.phase == 0 else {{me}}.phase - 1"
        return Inline(do=(turn,), when=f"({before}) == 0", out=("{0}",))

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event that comes out."""
        return Parts(limit)


@processor
class Freeze(Uniform):
    """Give the first event again for every event.

    >>> list(Freeze()("abc"))
    ['a', 'a', 'a']
    """

    icon: ClassVar[str] = "❄"
    first: Any = state(MISSING)

    def step(self, x: Any) -> Any:
        """Return the first event."""
        if self.first is MISSING:
            self.first = x
        return self.first

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event that comes out."""
        return Parts(limit)


@processor
class KeepLast(Processor):
    """Give the last event, at the end of the trace.

    >>> list(KeepLast()("abc"))
    ['c']
    """

    icon: ClassVar[str] = "⇥"
    last: Any = state(MISSING)

    def step(self, x: Any) -> None:
        """Remember the event."""
        self.last = x

    def end(self) -> None:
        """Emit the last event, if there was one."""
        if self.last is not MISSING:
            self.emit(self.last)

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event that comes out."""
        return Parts(limit)


@processor
class Insert(Processor):
    """Put an event before the first one, a number of times.

    >>> list(Insert(0, times=2)("ab"))
    [0, 0, 'a', 'b']
    """

    icon: ClassVar[str] = "⇤"
    event: Any
    times: int = field(default=1, validator=at_least(0))
    begun: bool = state(False)

    def step(self, x: Any) -> None:
        """Emit the padding before the first event."""
        if not self.begun:
            self.begun = True
            for _ in range(self.times):
                self.emit(self.event)
        self.emit(x)

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event at hand."""
        return Tracker(limit)


@processor
class DetectEnd(Processor):
    """Let events through until a condition holds, and nothing from then on; in pull nothing more is read.

    >>> from millstream.processors import X
    >>> list(DetectEnd(X == 0)([1, 0, 2]))
    [1]
    """

    icon: ClassVar[str] = "■"
    condition: Any = function_field()
    test: Callable[[Any], Any] = transient()
    over: bool = state(False)

    def prepare(self) -> None:
        """Compile the condition."""
        self.test = as_function(self.condition)

    def step(self, x: Any) -> None:
        """Emit the event until the condition has held."""
        self.over = self.over or bool(self.test(x))
        if not self.over:
            self.emit(x)

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        """Stop reading where the condition holds."""
        return takewhile(lambda x: not self.test(x), inputs[0])


@processor
class Stutter(Processor):
    """Repeat every event n times, or as often as the event of a second input says.

    >>> list(Stutter(2)("ab"))
    ['a', 'a', 'b', 'b']
    >>> list(Stutter()("abc", [2, 0, 1]))
    ['a', 'a', 'c']
    """

    icon: ClassVar[str] = "×"
    n: int | None = field(default=None, validator=lambda s, a, v: v is None or at_least(0)(s, a, v))

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input, or two if the number is not fixed."""
        return (2 if self.n is None else 1), 1

    def step(self, x: Any, *times: int) -> None:
        """Emit the event as often as asked for."""
        for _ in range(times[0] if self.n is None else self.n):
            self.emit(x)
