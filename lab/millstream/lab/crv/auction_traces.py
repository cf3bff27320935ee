"""Traces of auctions: every day some items begin, and those that are open are bid for in random order."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from attrs import frozen

from .problem import Event, Wrong

#: events of the competition's largest trace
COMPETITION: Final = {"create_auction": 484_000, "bid": 12_800_000, "sold": 98_000, "endOfDay": 1_000}

FAULTS: Final = {
    "below": "an item is sold although the last bid is under its minimum",
    "expired": "an item is sold after its days have passed",
    "twice": "an item is sold again",
    "lower": "a bid is not higher than the one before",
    "again": "an item is created a second time",
    "unsold": "an auction runs out of days with a bid over the minimum",
}

#: the longest auction, in days
LONGEST: Final = 14


def counts(events: int) -> dict[str, int]:
    """Return how many events of each kind a trace of this length has, in the competition's proportions.

    >>> counts(13_383_000) == COMPETITION
    True
    >>> counts(1000)
    {'create_auction': 36, 'bid': 952, 'sold': 7, 'endOfDay': 5}
    """
    days = min(1_000, max(3, events // 200))
    share = (events - days) / 13_382_000
    created = max(2, round(484_000 * share))
    sold = round(98_000 * share)
    bids = max(created, events - days - created - sold)
    return {"create_auction": created, "bid": bids, "sold": sold, "endOfDay": days}


@frozen
class Item:
    """One item: when its auction begins, how long it may take, how often it is bid for, and how it ends."""

    number: int
    day: int
    period: int
    bids: int
    sells: bool
    fault: str | None

    def events(self, random: Random) -> Iterator[Event]:
        """Yield its events in their order; amounts keep away from the minimum."""
        name, amount = f"i{self.number}", 0
        minimum = 10 * (self.bids + 1) + random.randrange(10, 100)
        yield "create_auction", name, minimum, self.period
        for left in range(self.bids - 1, -1, -1):
            amount += 1 + int(9 * random.random())
            if self.sells and not left:
                amount = minimum + random.randrange(2, 50)
            yield "bid", name, amount
        if self.sells and self.fault != "unsold":
            yield "sold", name
        if self.fault in ("below", "expired", "twice"):
            yield Wrong(("sold", name))
        elif self.fault == "lower":
            yield Wrong(("bid", name, amount))
        elif self.fault == "again":
            yield Wrong(("create_auction", name, minimum, self.period))

    def days(self, days: int, random: Random) -> list[int]:
        """Return the day of each of its events, in any order."""
        open_until = min(self.day + self.period, days)
        extra = (self.sells and self.fault != "unsold") + (self.fault in ("below", "twice", "lower", "again"))
        length, draw = open_until - self.day, random.random
        found = [self.day + int(length * draw()) for _ in range(self.bids + extra)]
        late = [self.day + self.period] if self.fault == "expired" else []
        return [self.day, *found, *late]


def make_item(number: int, total: dict[str, int], random: Random, fault: str | None) -> Item:
    """Return an item; all of them together have exactly the numbers of events asked for."""
    created, days = total["create_auction"], total["endOfDay"]

    def share(of: int) -> int:
        return of * (number + 1) // created - of * number // created

    day, period = number * days // created, random.randrange(1, LONGEST + 1)
    # pairs of items: what one is bid for less, the other is bid for more
    shift = number // 2 * 7 % (total["bid"] // created // 2 + 1) if number | 1 < created else 0
    bids = share(total["bid"]) + (shift if number % 2 else -shift)
    if fault is None:
        return Item(number, day, period, bids, share(total["sold"]) > 0, None)
    period = min(period, days - day - 1)
    return Item(number, day, period, bids, fault in ("twice", "unsold"), fault)


def make(events: int, random: Random, fault: str | None) -> Iterator[Any]:
    """Yield a trace; the item in its middle has the fault."""
    total = counts(events)
    created, days = total["create_auction"], total["endOfDay"]
    due: list[list[Iterator[Event]]] = [[] for _ in range(days)]
    number, unsold_on = 0, -1
    for day in range(days):
        while number < created and number * days // created == day:
            item = make_item(number, total, random, fault if number == created // 2 else None)
            if item.fault == "unsold":
                unsold_on = item.day + item.period - 1
            plan = item.events(random)
            for at in item.days(days, random):
                due[at].append(plan)
            number += 1
        today, due[day] = due[day], []
        random.shuffle(today)
        yield from map(next, today)
        yield Wrong(("endOfDay",)) if day == unsold_on else ("endOfDay",)
