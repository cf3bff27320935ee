"""Processors whose inputs or outputs are not synchronous: merge, concatenate, divert."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from attrs import field

from .apply import function_field
from .compiling import as_function
from .errors import at_least, shorten
from .lineage import Parts, Tracker
from .memory import Growth
from .processor import Router, processor, state, transient


@processor
class Multiplex(Router):
    """Merge streams as their events come; pull reads the inputs in turn.

    >>> list(Multiplex(2)("abc", [1, 2]))
    ['a', 1, 'b', 2, 'c']
    """

    icon: ClassVar[str] = "⇉"
    ways: int = field(default=2, validator=at_least(1))

    @property
    def arity(self) -> tuple[int, int]:
        """Return as many inputs as ways, one output."""
        return self.ways, 1

    def receive(self, port: int, event: Any) -> None:
        """Let the event through."""
        self.send(0, event)


@processor
class Splice(Router):
    """Give all events of the first input, then all of the second, and so on.

    In push only the end of the trace tells that an input is complete: events of later inputs wait until then.

    >>> list(Splice(2)([0, 1], [2, 3]))
    [0, 1, 2, 3]
    """

    icon: ClassVar[str] = "⇶"
    ways: int = field(default=2, validator=at_least(1))
    waiting: list[list[Any]] = state(of=lambda self: [[] for _ in range(self.ways - 1)])

    @property
    def arity(self) -> tuple[int, int]:
        """Return as many inputs as ways, one output."""
        return self.ways, 1

    def receive(self, port: int, event: Any) -> None:
        """Let events of the first input through, hold back those of the others."""
        if port == 0:
            self.send(0, event)
        else:
            self.waiting[port - 1].append(event)

    def end(self) -> None:
        """Send what was held back."""
        waiting, self.waiting = self.waiting, [[] for _ in self.waiting]
        for events in waiting:
            for event in events:
                self.send(0, event)

    def order(self, inputs: Sequence[Iterator[Any]]) -> Iterator[tuple[int, Any]]:
        """Read one input after the other; none has to wait then."""
        for events in inputs:
            for event in events:
                yield 0, event

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event that comes out."""
        return Parts(limit)

    def growth(self) -> Growth:
        """Return how much waits."""
        return Growth(
            "events of later inputs that wait for the first to end", "inputs that come one after the other"
        )


@processor
class Divert(Router):
    """Send each event to one of several outputs.

    Parameters
    ----------
    by
        A function or expression that gives the number of the output (True and False count as 1 and 0).
    ways
        How many outputs there are.

    Examples
    --------
    >>> from millstream.processors import X
    >>> even, odd = Divert(X % 2)([1, 2, 3, 4])
    >>> list(even), list(odd)
    ([2, 4], [1, 3])
    """

    icon: ClassVar[str] = "⇄"
    by: Any = function_field()
    ways: int = field(default=2, validator=at_least(1))
    choose: Callable[[Any], Any] = transient()

    def prepare(self) -> None:
        """Compile the choice."""
        self.choose = as_function(self.by)

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input and as many outputs as ways."""
        return 1, self.ways

    def receive(self, port: int, event: Any) -> None:
        """Send the event where it belongs."""
        to = self.choose(event)
        if not isinstance(to, int) or not 0 <= to < self.ways:
            raise ValueError(f"Divert: expected an output from 0 to {self.ways - 1}, got {shorten(to)}")
        self.send(to, event)
