"""Where an output comes from: events that know their causes, and how a processor hands causes on.

In a run that explains itself (see `explaining`) an event is `Traced`: a value with its `Lineage`, the input
events it was made of. Each processor has a `Tracker`, which says for every output which of the events taken
it comes from. The processor chooses it (`Processor.tracker`); where it does not, one without state hands on
the causes of the current events, and one with state those of all events since its state was the initial one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any, Self

from attrs import define, field, fields, frozen

from .errors import shorten


@frozen
class Cause:
    """An input event: which input, how many events came before it there, and the event itself."""

    port: int
    position: int
    event: Any = field(eq=False)


@frozen
class Lineage:
    """The input events that something comes from, oldest first; the oldest may have been left out."""

    causes: tuple[Cause, ...] = ()
    omitted: int = 0


NOTHING = Lineage()


@frozen(repr=False)
class Traced:
    """A value that knows where it comes from."""

    value: Any
    lineage: Lineage = field(eq=False)

    def __repr__(self) -> str:
        return shorten(self.value)


def value_of(event: Traced) -> Any:
    """Return the value of a traced event."""
    return event.value


@frozen
class OnValue:
    """A function of events, to be called with traced ones."""

    function: Any

    def __call__(self, event: Traced) -> Any:
        return self.function(event.value)


@frozen
class TracedList:
    """Makes a traced list of a list of traced events."""

    limit: int

    def __call__(self, events: list[Traced]) -> Traced:
        return Traced([e.value for e in events], merged((e.lineage for e in events), self.limit))


def merged(lineages: Iterable[Lineage], limit: int) -> Lineage:
    """Return all causes together, the newest `limit` of them.

    >>> first, second = Cause(0, 3, "a"), Cause(0, 5, "b")
    >>> both = merged([Lineage((second,)), Lineage((first,)), Lineage((first, second))], 10)
    >>> [cause.event for cause in both.causes]
    ['a', 'b']
    >>> merged([both], 1).omitted
    1
    """
    several = [lineage for lineage in lineages if lineage.causes]
    if len(several) == 1 and len(several[0].causes) <= limit:
        return several[0]
    left_out = max((lineage.omitted for lineage in several), default=0)
    if all(_precedes(a, b) for a, b in pairwise(several)):  # as when events are added one by one
        causes = tuple(chain.from_iterable(lineage.causes for lineage in several))
    else:
        found = {(c.position, c.port): c for lineage in several for c in lineage.causes}
        causes = tuple(found[key] for key in sorted(found))
    return Lineage(causes[-limit:], left_out + max(0, len(causes) - limit))


def causes_of(front: tuple[Traced, ...], limit: int) -> Lineage:
    """Return what the events of a front come from."""
    return front[0].lineage if len(front) == 1 else merged((t.lineage for t in front), limit)


def _precedes(a: Lineage, b: Lineage) -> bool:
    last, first = a.causes[-1], b.causes[0]
    return (last.position, last.port) < (first.position, first.port)


@define
class Tracker:
    """Tells which of the events that a processor has taken an output comes from.

    A processor's step is surrounded by `take` and `settle`; `give` is asked for each output. This one hands
    on the causes of the current events, which is right for processors whose outputs depend on nothing else.
    """

    #: how many causes are kept
    limit: int
    #: what the current front comes from
    current: Lineage = field(default=NOTHING, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        """Note the events that are about to be taken."""
        self.current = causes_of(front, self.limit)

    def give(self, output: Any) -> Lineage:
        """Return where an output comes from."""
        return self.current

    def settle(self, initial: bool) -> None:
        """Note that the step is over, and whether the processor is in its initial state."""
        self.current = NOTHING

    def __copy__(self) -> Self:
        """Return an independent tracker; events and lineages are shared, since they do not change."""
        twin = object.__new__(type(self))
        for a in fields(type(self)):
            value = getattr(self, a.name)
            setattr(twin, a.name, value.copy() if isinstance(value, deque | dict) else value)
        return twin


@define
class Accumulated(Tracker):
    """Everything since the state was the initial one."""

    total: Lineage = field(default=NOTHING, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        self.total = merged((self.total, *(t.lineage for t in front)), self.limit)

    def give(self, output: Any) -> Lineage:
        return self.total

    def settle(self, initial: bool) -> None:
        if initial:
            self.total = NOTHING


@define
class Latest(Tracker):
    """The last `width` events."""

    width: int
    fronts: deque[Lineage] = field(factory=deque, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        self.fronts.append(causes_of(front, self.limit))
        while len(self.fronts) > self.width:
            self.fronts.popleft()

    def give(self, output: Any) -> Lineage:
        return merged(self.fronts, self.limit)

    def settle(self, initial: bool) -> None:
        if initial:
            self.fronts.clear()


@define
class Block(Tracker):
    """The events of the block under way: blocks have `width` events and begin `every` events apart."""

    width: int
    every: int
    total: Lineage = field(default=NOTHING, init=False)
    count: int = field(default=0, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        if self.count == 0:
            self.total = NOTHING
        if self.count < self.width:
            self.total = merged((self.total, *(t.lineage for t in front)), self.limit)
        self.count = (self.count + 1) % self.every

    def give(self, output: Any) -> Lineage:
        return self.total

    def settle(self, initial: bool) -> None:
        if initial:
            self.total, self.count = NOTHING, 0


@define
class Answers(Tracker):
    """For outputs that answer the events in order, perhaps later: the event answered, and all since."""

    fronts: deque[Lineage] = field(factory=deque, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        self.fronts.append(causes_of(front, self.limit))

    def give(self, output: Any) -> Lineage:
        found = merged(self.fronts, self.limit)
        if self.fronts:
            self.fronts.popleft()
        return found

    def settle(self, initial: bool) -> None:
        """Keep what has not been answered."""


@define
class Parts(Tracker):
    """For outputs that are events taken earlier, or are made of such: the causes of those found in it.

    An output in which nothing is found comes from the current events.
    """

    #: id -> the event and where it comes from; at most `limit` of them
    known: dict[int, tuple[Any, Lineage]] = field(factory=dict, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        self.current = causes_of(front, self.limit)
        for event in front:
            self.known.pop(id(event.value), None)
            self.known[id(event.value)] = event.value, event.lineage
        while len(self.known) > self.limit:
            del self.known[next(iter(self.known))]

    def give(self, output: Any) -> Lineage:
        found = [self.known[id(part)][1] for part in parts_of(output) if self._knows(part)]
        return merged(found, self.limit) if found else self.current

    def _knows(self, part: Any) -> bool:
        return id(part) in self.known and self.known[id(part)][0] is part

    def settle(self, initial: bool) -> None:
        self.current = NOTHING
        if initial:
            self.known.clear()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.limit, self.current, list(self.known.values())

    def __setstate__(self, values: tuple[Any, ...]) -> None:
        self.limit, self.current, known = values
        self.known = {id(event): (event, lineage) for event, lineage in known}


def parts_of(output: Any) -> Iterator[Any]:
    """Yield an output and, if it is a list or tuple, what it is made of."""
    stack = [output]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, list | tuple):
            stack.extend(part)
