"""The streams a synchroniser waits for: what each has shown, whether it is enabled, and how often it failed.

Every synchronisation method asks the same questions about a stream (did it show something newer? is it still
awaited?), so the answers live here once. Streams are numbered, so that a number can be a bit of a readiness
table; the number of a removed stream is given to a new one when nothing that waits remembers it, so the table
does not grow while streams come and go. Only lists, dicts and numbers are kept: a copy of the table is a copy
of its containers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import inf

from attrs import define, field

from millstream.processors import ParameterError

#: how many names an error message lists
SHOWN = 8


@define
class StreamTable:
    """Streams by name and by number.

    Examples
    --------
    >>> table = StreamTable.of(["a", "b"])
    >>> table.see(table.number("a"), 4.0)
    >>> table.blockers(3.0, seq=0)
    [1]
    """

    #: number of each stream that is present
    numbers: dict[Hashable, int] = field(factory=dict)
    #: name of each number; of a removed stream until its number is used again
    names: list[Hashable] = field(factory=list)
    #: newest timestamp shown by each stream
    last: list[float] = field(factory=list)
    #: an event waits for a stream only if the stream was added before the event arrived
    joined: list[int] = field(factory=list)
    #: how many waits each stream has let time out since it was (re-)enabled
    failures: list[int] = field(factory=list)
    #: bit k is set while stream k is present and enabled
    active: int = 0
    #: numbers of removed streams
    free: list[int] = field(factory=list)

    @classmethod
    def of(cls, names: Iterable[Hashable]) -> StreamTable:
        """Build a table of the given streams, in this order."""
        table, names = cls(), list(names)
        if len(set(names)) < len(names):
            raise ParameterError(f"Synchronizer: streams must differ, got {names}")
        for name in names:
            table.add(name, 0)
        return table

    def copy(self) -> StreamTable:
        """Return an independent copy."""
        twin = StreamTable(dict(self.numbers), active=self.active)
        twin.names, twin.last = list(self.names), list(self.last)
        twin.joined, twin.failures, twin.free = list(self.joined), list(self.failures), list(self.free)
        return twin

    def add(self, name: Hashable, seq: int, number: int | None = None) -> int:
        """Add a stream, perhaps under a free number; events that arrived before `seq` do not wait for it."""
        if name in self.numbers:
            raise ValueError(f"stream {name!r} was added twice; remove it first, or choose another name")
        if number is None:
            number = len(self.names)
            self.names.append(name)
            self.last.append(-inf)
            self.joined.append(seq)
            self.failures.append(0)
        else:
            self.free.remove(number)
            self.names[number], self.last[number] = name, -inf
            self.joined[number], self.failures[number] = seq, 0
        self.numbers[name] = number
        self.active |= 1 << number
        return number

    def remove(self, name: Hashable) -> int:
        """Remove a stream: nothing waits for it any more."""
        number = self.number(name)
        del self.numbers[name]
        self.free.append(number)
        self.active &= ~(1 << number)
        return number

    def number(self, name: Hashable) -> int:
        """Return the number of a stream, or complain with the names that exist."""
        try:
            return self.numbers[name]
        except KeyError:
            known = ", ".join([repr(known) for known in self.numbers][:SHOWN]) or "none"
            more = len(self.numbers) - SHOWN
            raise ValueError(
                f"unknown stream {name!r} (streams: {known}{f' and {more} more' if more > 0 else ''});"
                " send AddStream first, or give grow=True"
            ) from None

    def see(self, number: int, time: float) -> None:
        """Record that a stream has shown an event; its own times may not go backwards."""
        newest = self.last[number]
        if not time >= newest:
            raise ValueError(
                f"stream {self.names[number]!r} went backwards: {time} after {newest}"
                " (put Reorder(bound) in front of a stream that is out of order)"
            )
        self.last[number] = time

    def is_active(self, number: int) -> bool:
        """Tell whether events wait for this stream."""
        return bool(self.active >> number & 1)

    def enable(self, number: int) -> None:
        """Wait for this stream again."""
        self.active |= 1 << number
        self.failures[number] = 0

    def fail(self, number: int, limit: int | None) -> bool:
        """Count a failure; disable the stream and return True when it has reached the limit."""
        self.failures[number] += 1
        if limit is None or self.failures[number] < limit or not self.is_active(number):
            return False
        self.active &= ~(1 << number)
        return True

    def awaited(self, seq: int) -> list[int]:
        """Return the active streams for which an event with this sequence number may wait."""
        return [k for k in self.numbers.values() if self.joined[k] <= seq and self.is_active(k)]

    def blockers(self, time: float, seq: int) -> list[int]:
        """Return those for which it does wait, because they have not shown an event of this time."""
        return [k for k in self.awaited(seq) if self.last[k] < time]
