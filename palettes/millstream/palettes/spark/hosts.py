"""Hosts: where Spark keeps the records of the keys.

With transformWithState a bucket is an index, a map of slots and a timer; with applyInPandasWithState (for
state stores that have no timers) it is the group's state, of one slot, and its timeout. What is done with a
bucket is the same, `Bucket.turn`. A column `key` is always null: its type tells `read_state` what keys are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import define, field
from pyspark.sql import Row
from pyspark.sql import types as T

from .buckets import Arrived, Bucket, Index, Kept
from .codec import dump_state, load_state
from .envoy import INDEXED, records_type
from .keyed import Keyed, Monitor
from .packets import BUCKET, PACKET, arrivals, packet


def group_type(key: T.StructType) -> T.StructType:
    """Return the type of a group's state in the store."""
    return T.StructType([*INDEXED.fields, *records_type(key).fields])


@define
class Stored:
    """The slots of the bucket at hand, in a map of the state store."""

    keyed: Keyed
    map: Any

    def read(self, slot: int) -> bytes:
        made_by, records, _ = self.map.getValue((slot,))
        self.keyed.check(made_by)
        return bytes(records)

    def write(self, slot: int, records: bytes) -> None:
        self.map.updateValue((slot,), (self.keyed.made_by, records, None))

    def remove(self, slot: int) -> None:
        self.map.removeKey((slot,))


@define
class Host:
    """What is done with the buckets of a task: for each an index, slots, and at most one timer.

    `handle`, `index` and `slots` are the store, and what an `Envoy` has declared there.
    """

    monitor: Monitor
    buckets: int
    handle: Any
    index: Any
    slots: Any
    bucket: Bucket = field(init=False)

    def __attrs_post_init__(self) -> None:
        keyed = self.monitor.start()
        self.bucket = Bucket(keyed, Stored(keyed, self.slots), self.buckets)

    def take(self, key: Any, rows: Iterable[Any], watermark: int) -> Iterator[Row]:
        """Take the packets that have come for a bucket."""
        return self.turn(key, arrivals(row[PACKET] for row in rows), watermark)

    def turn(self, key: Any, arrived: Arrived, watermark: int) -> Iterator[Row]:
        """Bring a bucket up to date."""
        stored = self.index.get()
        after, given = self.bucket.turn(stored and loaded(stored[1]), arrived, watermark)
        wake = None if after is None else after.wake
        if after is not None:
            self.index.update((wake, dumped(after)))
        elif stored is not None:
            self.index.clear()
        self.move(stored and stored[0], wake, bool(arrived))
        return iter([Row(**{BUCKET: key[0], PACKET: packet(given)})] if given else [])

    def move(self, was: int | None, now: int | None, fresh: bool) -> None:
        """Keep one timer. It fires when the watermark is past it, so it stands a millisecond before.

        A timer that fires now is removed by Spark itself.
        """
        if was == now:
            return
        if was is not None and fresh:
            self.handle.deleteTimer(was - 1)
        if now is not None:
            self.handle.registerTimer(now - 1)


def group_function(monitor: Monitor, buckets: int) -> Callable[..., Iterator[Any]]:
    """Return the function for applyInPandasWithState."""
    import pandas as pd

    started: list[Keyed] = []

    def turn(group: Any, packets: Any, state: Any) -> Iterator[Any]:
        if not started:
            started.append(monitor.start())
        keyed, slots, index = started[0], Kept(), None
        if state.exists:
            _, indexed, made_by, records, _ = state.get
            keyed.check(made_by)
            slots[0], index = bytes(records), loaded(indexed)
        fresh: Iterable[bytes] = () if state.hasTimedOut else (p for frame in packets for p in frame[PACKET])
        watermark = state.getCurrentWatermarkMs()
        bucket = Bucket(keyed, slots, buckets, room=None)
        after, given = bucket.turn(index, arrivals(fresh), watermark)
        if after is None:
            state.remove()
        else:
            state.update((after.wake, dumped(after), keyed.made_by, slots[0], None))
            if after.wake is not None:
                state.setTimeoutTimestamp(max(after.wake, watermark + 1))
        if given:
            yield pd.DataFrame({BUCKET: [group[0]], PACKET: [packet(given)]})

    return turn


def dumped(index: Index) -> bytes:
    """Return an index as it is stored."""
    return dump_state((index.sizes, index.wakes))


def loaded(stored: bytes) -> Index:
    """Return the index that is stored."""
    return Index(*load_state(bytes(stored)))
