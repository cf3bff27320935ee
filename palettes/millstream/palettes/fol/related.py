"""Where a first-order verdict comes from: the event at hand, and earlier ones that share a value with it."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from millstream.processors.lineage import NOTHING, Lineage, Traced, Tracker, merged


@define
class Related(Tracker):
    """The event at hand and the events that share a value with it, or with one that does."""

    #: gives (name, arg, ...) of an event; None if it is that already
    read: Any
    #: value -> causes of the events that have it as an argument; at most `limit` values
    known: dict[Any, Lineage] = field(factory=dict, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        event = front[0]
        values = (event.value if self.read is None else self.read(event.value))[1:]
        earlier = [self.known.pop(value, NOTHING) for value in values]
        self.current = merged([*earlier, event.lineage], self.limit)
        for value in values:
            self.known[value] = self.current
        while len(self.known) > self.limit:
            del self.known[next(iter(self.known))]

    def settle(self, initial: bool) -> None:
        """Keep what is known."""
