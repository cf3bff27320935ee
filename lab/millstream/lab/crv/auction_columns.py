"""Auctions by columns: the events of each item side by side, compared with the one before all at once.

What an event may be depends on the event of its item before it, on the day, and on how the auction began, so
a block needs no loop. Only the first violation is asked for: all events before it are right, and that is
what the comparisons rely on.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from .log_columns import Block, Ints, Names, blocks, sort_stably
from .problem import Path, Verdict

EVENTS: Final = ("create_auction", "bid", "sold", "endOfDay")
CREATE, BID, SOLD, DAY = range(4)
UNKNOWN, OPEN, OVER = range(3)
#: the last bid where there is none
NONE: Final = np.iinfo(np.int64).min


@define
class Items:
    """All items: columns that grow."""

    status: Ints = field(factory=lambda: np.zeros(0, np.int64))
    minimum: Ints = field(factory=lambda: np.zeros(0, np.int64))
    #: the day on which it is over
    deadline: Ints = field(factory=lambda: np.zeros(0, np.int64))
    last: Ints = field(factory=lambda: np.zeros(0, np.int64))

    def grow(self, size: int) -> None:
        """Make room for so many items."""
        more = max(0, size - len(self.status))
        if more:
            more = max(more, len(self.status))
            self.status = np.concatenate((self.status, np.full(more, UNKNOWN)))
            self.minimum = np.concatenate((self.minimum, np.zeros(more, np.int64)))
            self.deadline = np.concatenate((self.deadline, np.zeros(more, np.int64)))
            self.last = np.concatenate((self.last, np.full(more, NONE)))


@define
class Auctions:
    """Reads blocks of a log, and tells the first violation."""

    names: Names = field(factory=Names)
    items: Items = field(factory=Items)
    position: int = 0
    day: int = 0

    def read(self, block: Block) -> Verdict:
        """Return the position of the first violation in a block; None if there is none."""
        kinds = block.kinds
        ends = np.flatnonzero(kinds == DAY)
        mine = kinds != DAY
        table = Table.of(self, block, mine, ends)
        wrong = table.wrong()
        found = table.order[wrong].min(initial=len(kinds))
        table.keep(~wrong)
        found = min(found, self.expire(ends))
        start = self.position
        self.position, self.day = start + len(kinds), self.day + len(ends)
        return int(start + found) if found < len(kinds) else None

    def expire(self, ends: Ints) -> int:
        """Close the auctions whose days have passed; return where the first one was left unsold."""
        items, after = self.items, self.day + len(ends)
        over = np.flatnonzero((items.status == OPEN) & (items.deadline <= after))
        items.status[over] = OVER
        unsold = over[(items.last[over] != NONE) & (items.last[over] >= items.minimum[over])]
        if not len(unsold):
            return 1 << 62
        return int(ends[items.deadline[unsold].min() - 1 - self.day])


@define
class Table:
    """The events of a block about items, sorted by item."""

    items: Items
    #: place in the block, item, event, amount (or minimum) and day of each event
    order: Ints
    item: Ints
    kind: NDArray[np.int8]
    value: Ints
    day: Ints
    #: whether it is the first of its item in the block, and the kind and amount of the one before it if not
    first: NDArray[np.bool_]
    before: NDArray[np.int8]
    #: the last bid before it
    last: Ints

    @classmethod
    def of(cls, auctions: Auctions, block: Block, mine: NDArray[np.bool_], ends: Ints) -> Table:
        """Return the table of a block; auctions that begin in it are entered."""
        items, kinds = auctions.items, block.kinds
        texts = block.column(1, mine).dictionary_encode()
        codes = auctions.names.these(texts.dictionary)
        items.grow(len(auctions.names.known))
        place = np.flatnonzero(mine)
        values = np.zeros(len(kinds), np.int64)
        for these in (kinds == CREATE, kinds == BID):
            values[these] = block.numbers(2, these)
        days = auctions.day + np.searchsorted(ends, place)
        local = texts.indices.to_numpy()
        sort = sort_stably(local)
        order, item = place[sort], codes[local[sort]]
        kind, value, day = kinds[order], values[order], days[sort]
        first = np.ones(len(item), bool)
        first[1:] = item[1:] != item[:-1]
        before = np.concatenate((kind[:1], kind[:-1]))
        last = np.concatenate((value[:1], value[:-1]))
        last = np.where(first, items.last[item], np.where(before == CREATE, NONE, last))
        table = cls(items, order, item, kind, value, day, first, before, last)
        table.enter(block)
        return table

    def enter(self, block: Block) -> None:
        """Note minimum and deadline of the auctions that begin here."""
        new = self.first & (self.kind == CREATE) & (self.items.status[self.item] == UNKNOWN)
        self.items.minimum[self.item[new]] = self.value[new]
        begins = np.zeros(len(block.kinds), bool)
        begins[self.order[new]] = True
        periods = np.zeros(len(block.kinds), np.int64)
        periods[begins] = block.numbers(3, begins)
        self.items.deadline[self.item[new]] = self.day[new] + periods[self.order[new]]

    def wrong(self) -> NDArray[np.bool_]:
        """Return which events violate the property, if all before them are right."""
        status = self.items.status[self.item]
        is_open = np.where(self.first, status == OPEN, self.before != SOLD)
        is_open &= self.day < self.items.deadline[self.item]
        higher = self.value > self.last
        reached = (self.last != NONE) & (self.last >= self.items.minimum[self.item])
        right: NDArray[np.bool_] = np.where(
            self.kind == CREATE,
            self.first & (status == UNKNOWN),
            is_open & np.where(self.kind == BID, higher, reached),
        )
        return np.logical_not(right)

    def keep(self, right: NDArray[np.bool_]) -> None:
        """Keep what the events that are right say of their items; later ones overwrite earlier ones."""
        items = self.items
        for kind, status in ((CREATE, OPEN), (SOLD, OVER)):
            items.status[self.item[right & (self.kind == kind)]] = status
        bids = right & (self.kind == BID)
        items.last[self.item[bids]] = self.value[bids]


def by_columns(path: Path) -> Verdict:
    """Return the verdict on a log."""
    auctions = Auctions()
    for block in blocks(path, EVENTS):
        found = auctions.read(block)
        if found is not None:
            return found
    return None
