"""Buckets: many keys of a stream under one key of Spark's state store.

A call of the state store is a message to the JVM and back, about 100 us, and a key with its own value and
timer needs five of them in a micro-batch. So Spark is given buckets of keys, by their hash. The records of a
bucket stand in slots of a few keys; there are twice as many slots when these are full. A micro-batch reads
and writes the slots in which there is something to do, those with new events and those with something due,
and an index that tells how many keys are in each slot and when it is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from attrs import define

from millstream.processors import MillstreamError

from .codec import dump_state, load_state
from .keyed import Keyed, Row

#: keys in a slot, on average, when there are to be more slots
ROOM = 16
#: places in the entry of a key: the hash, then what `Keyed.dump` gives
HASH, WAKE = 0, 4
Entries = dict[Any, tuple[Any, ...]]
#: what has come: the hash and the rows of each key
Arrived = Mapping[Any, tuple[int, Sequence[Row]]]
#: what a micro-batch gave: key, times, outputs, late rows
Given = tuple[Any, list[Any], list[Any], list[Row]]


class Slots(Protocol):
    """Where the slots of a bucket are kept."""

    def read(self, slot: int) -> bytes: ...
    def write(self, slot: int, records: bytes) -> None: ...
    def remove(self, slot: int) -> None: ...


@define
class Index:
    """The number of keys in each slot, and the watermark at which there is something to do."""

    sizes: list[int]
    wakes: list[int | None]

    @property
    def wake(self) -> int | None:
        """When there is something to do in the bucket."""
        return earliest(self.wakes)


@define
class Bucket:
    """Runs the queries of a bucket's keys.

    >>> from pyspark.sql import types as T
    >>> from millstream.processors import Count
    >>> from .durations import TimeColumn
    >>> from .keyed import Monitor
    >>> keyed = Monitor(Count(), ("user", "t"), TimeColumn("t", T.LongType())).start()
    >>> slots = Kept()
    >>> bucket = Bucket(keyed, slots, buckets=1)
    >>> index, given = bucket.turn(None, {"ann": (5, [("ann", 3)]), "bob": (8, [("bob", 9)])}, 0)
    >>> index, given
    (Index(sizes=[2], wakes=[3000]), [])
    >>> bucket.turn(index, {}, 4000)
    (Index(sizes=[2], wakes=[9000]), [('ann', [3], [1], [])])
    """

    keyed: Keyed
    slots: Slots
    buckets: int
    #: None if there is to be one slot only
    room: int | None = ROOM

    def turn(self, index: Index | None, arrived: Arrived, watermark: int) -> tuple[Index | None, list[Given]]:
        """Take the rows that have come; return the index, None if no key is left, and what came out."""
        index = index or Index([0], [None])
        todo: dict[int, dict[Any, Any]] = {
            n: {} for n, wake in enumerate(index.wakes) if due(wake, watermark)
        }
        for key, (number, rows) in arrived.items():
            todo.setdefault(self.slot(number, len(index.sizes)), {})[key] = number, rows
        given: list[Given] = []
        for slot, rows_of in todo.items():
            entries = self.entries(index, slot)
            given += self.step(entries, rows_of, watermark)
            self.store(index, slot, entries)
        if self.room is not None and sum(index.sizes) > self.room * len(index.sizes):
            index = self.spread(index, self.room)
        return (index if any(index.sizes) else None), given

    def step(self, entries: Entries, arrived: Arrived, watermark: int) -> Iterator[Given]:
        """Bring the keys up to date that have events or are due."""
        ready = [k for k, entry in entries.items() if k not in arrived and due(entry[WAKE], watermark)]
        for key, (number, rows) in [*arrived.items(), *((k, (entries[k][HASH], ())) for k in ready)]:
            stored = entries.get(key)
            try:
                record = None if stored is None else self.keyed.load(stored[1:])
                after, outcome = self.keyed.step(record, rows, watermark)
                if after is not None:
                    entries[key] = (number, *self.keyed.dump(after))
                elif stored is not None:
                    del entries[key]
            except Exception as error:
                raise MillstreamError(f"monitor_stream: key {key!r}: {error}") from error
            if outcome:
                yield key, outcome.times, outcome.outputs, outcome.late

    def slot(self, number: int, count: int) -> int:
        """Return the slot of a hash; its remainder by the number of buckets is the same in all of them."""
        return number // self.buckets % count

    def entries(self, index: Index, slot: int) -> Entries:
        """Read a slot."""
        entries: Entries = load_state(self.slots.read(slot)) if index.sizes[slot] else {}
        return entries

    def store(self, index: Index, slot: int, entries: Entries) -> None:
        """Write a slot."""
        if entries:
            self.slots.write(slot, dump_state(entries))
        elif index.sizes[slot]:
            self.slots.remove(slot)
        index.sizes[slot] = len(entries)
        index.wakes[slot] = earliest([entry[WAKE] for entry in entries.values()])

    def spread(self, index: Index, room: int) -> Index:
        """Put the keys into more slots."""
        count = len(index.sizes)
        while sum(index.sizes) > room * count:
            count *= 2
        spread: list[Entries] = [{} for _ in range(count)]
        for slot in range(len(index.sizes)):
            for key, entry in self.entries(index, slot).items():
                spread[self.slot(entry[HASH], count)][key] = entry
        after = Index([*index.sizes, *[0] * (count - len(index.sizes))], [None] * count)
        for slot, entries in enumerate(spread):
            self.store(after, slot, entries)
        return after


class Kept(dict[int, bytes]):
    """Slots in memory."""

    def read(self, slot: int) -> bytes:
        return self[slot]

    def write(self, slot: int, records: bytes) -> None:
        self[slot] = records

    def remove(self, slot: int) -> None:
        del self[slot]


def due(wake: int | None, watermark: int) -> bool:
    """Tell whether a watermark has come to a moment."""
    return wake is not None and wake <= watermark


def earliest(wakes: Sequence[int | None]) -> int | None:
    """Return the first of some moments."""
    return min((wake for wake in wakes if wake is not None), default=None)
