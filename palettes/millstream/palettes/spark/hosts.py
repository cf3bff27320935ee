"""Hosts: where Spark keeps the record of each key.

With transformWithState it is a value and a timer, with applyInPandasWithState (for state stores that have no
timers) the group's state and its timeout. What is done with a record is the same, `Keyed.step`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
from attrs import define
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from millstream.processors import MillstreamError

from .keyed import COLUMNS, WAKE, Keyed, Monitor
from .packets import PACKET, packet


@define
class Host(StatefulProcessor):
    """The stateful processor: a value and at most one timer for each key."""

    monitor: Monitor
    key: tuple[str, ...]
    keyed: Any = None
    handle: Any = None
    stored: Any = None
    made: Any = None

    def init(self, handle: Any) -> None:
        """Declare the state."""
        self.handle = handle
        self.stored = handle.getValueState("monitor", COLUMNS)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        arrived = [row for packet in rows for row in pickle.loads(packet[PACKET])]
        return self.turn(key, arrived, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        return self.turn(key, (), timerValues.getCurrentWatermarkInMs())

    def turn(self, key: Any, arrived: Sequence[Any], watermark: int) -> Iterator[Row]:
        """Bring a key's record up to date."""
        if self.keyed is None:
            self.keyed, self.made = self.monitor.start(), Row(*self.key, PACKET)
        keyed: Keyed = self.keyed
        stored = self.stored.get()
        after, outcome = step(keyed, key, stored, arrived, watermark)
        if after is not None:
            self.stored.update(keyed.dump(after))
        elif stored is not None:
            self.stored.clear()
        self.move(stored and stored[WAKE], after and after.wake, arrived)
        return iter([self.made(*key, packet(outcome))] if outcome else [])

    def move(self, was: int | None, now: int | None, arrived: Sequence[Any]) -> None:
        """Keep one timer. It fires when the watermark is past it, so it stands a millisecond before.

        A timer that fires now is removed by Spark itself.
        """
        if was == now:
            return
        if was is not None and arrived:
            self.handle.deleteTimer(was - 1)
        if now is not None:
            self.handle.registerTimer(now - 1)


def step(keyed: Keyed, key: Any, stored: Any, arrived: Sequence[Any], watermark: int) -> Any:
    """Do a key's step; a failure names the key."""
    try:
        return keyed.step(keyed.load(stored), arrived, watermark)
    except Exception as error:
        name = key[0] if len(key) == 1 else tuple(key)
        raise MillstreamError(f"monitor_stream: key {name!r}: {error}") from error


def group_function(monitor: Monitor, key: tuple[str, ...]) -> Callable[..., Iterator[Any]]:
    """Return the function for applyInPandasWithState."""
    started: list[Keyed] = []

    def turn(group: Any, packets: Any, state: Any) -> Iterator[Any]:
        if not started:
            started.append(monitor.start())
        keyed = started[0]
        arrived: list[Any] = []
        if not state.hasTimedOut:
            arrived = [row for frame in packets for blob in frame[PACKET] for row in pickle.loads(blob)]
        watermark = state.getCurrentWatermarkMs()
        stored = state.get if state.exists else None
        after, outcome = step(keyed, group, stored, arrived, watermark)
        if after is None:
            state.remove()
        else:
            state.update(keyed.dump(after))
            if after.wake is not None:
                state.setTimeoutTimestamp(max(after.wake, watermark + 1))
        if outcome:
            yield pd.DataFrame(
                {**dict(zip(key, ([k] for k in group), strict=True)), PACKET: [packet(outcome)]}
            )

    return turn
