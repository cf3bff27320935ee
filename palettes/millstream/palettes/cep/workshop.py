"""What happens inside a worker: the work of stations, with the memories that have been lent to it.

A worker of whatever kind makes its own stations; entries come in, and what they bring about goes back.
Memories stay with the worker between batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

from attrs import define, frozen

from millstream.processors import StreamError
from millstream.processors.errors import shorten

from .forest import Analysis
from .occurrence import EARLIEST, LATEST, Entry
from .operators import Memory
from .stations import END, Item, Key, Station, stations


class Work(NamedTuple):
    """What is to be done at a station: a batch of (operand, item), of which one part is the worker's own."""

    station: int
    batch: list[tuple[int, Item]]
    #: the time of the last event
    now: Any
    #: which one of how many parts: the entries of a batch belong to the parts in turn
    part: int = 0
    parts: int = 1
    #: tells the batches of a station apart
    ticket: int = 0
    #: stations that the entries go through afterwards, before they come back
    path: tuple[int, ...] = ()


class Failed(NamedTuple):
    """Something that failed: when, on what, and why."""

    key: Key
    event: Any
    error: StreamError
    #: the position in the input of the event that has brought it about
    position: int | None = None


class Result(NamedTuple):
    """What comes back: for each item of the part what it has brought about, and what has failed.

    None stands for the item itself, which whoever asked has already.
    """

    found: list[list[Item] | None]
    failed: list[Failed]


def do(every: Mapping[int, Station], work: Work) -> Result:
    """Do the work: the only part of a detection that may run beside others."""
    result = Result([], [])
    stops = [every[k] for k in (work.station, *work.path)]
    for position, (port, item) in enumerate(work.batch):
        try:
            if position % work.parts == work.part:
                result.found.append([])
                result.found[-1] = _changed(_walk(stops, port, item, work.now), item)
            elif item[1] is not None:
                stops[0].store(port, item[1])
        except Exception as error:
            result.failed.append(_told(error, item))
            for station in stops:
                station.taken()
    return result


def _changed(found: list[Item], item: Item) -> list[Item] | None:
    """Return what was found, None if that is the item and nothing else."""
    same = len(found) == 1 and found[0][1] is item[1] and found[0][0] == item[0]
    return None if same else found


def _walk(stops: list[Station], port: int, item: Item, now: Any) -> list[Item]:
    """Take an item through stations in a row, and return what comes out of the last one."""
    found = _take(stops[0], port, item, now)
    for station in stops[1:]:
        found = [after for before in found for after in _take(station, 0, before, now)]
    return found


def _take(station: Station, port: int, item: Item, now: Any) -> list[Item]:
    """Return what an item brings about at a station; a heartbeat lets time pass, and goes on."""
    key, entry = item
    if entry is not None:
        return [_keyed(f, entry[0], key) for f in station.feed(port, entry, now)]
    if key[0] is not LATEST:
        return [*(((f[0], inf), f) for f in station.wait(key[0])), item]
    if now is EARLIEST:
        return [END]
    index = float(station.node.index)
    found: list[Item] = [((f[0], inf), f) for f in station.expire(now)]
    return [*found, *(((LATEST, index), f) for f in station.finish()), END]


def _keyed(found: Entry, time: Any, key: Key) -> Item:
    """Return what an entry has brought about with its key; what was due before has that of its own time."""
    return (key if found[0] == time else (found[0], inf)), found


def _told(error: Exception, item: Item) -> Failed:
    """Return a failure that can travel; whoever raises it says of which detector, and at which position."""
    key, entry = item
    event = None if entry is None else entry[2]
    told = StreamError("", "", shorten(event) if entry else "", None, f"{type(error).__name__}: {error}")
    told.__cause__ = error
    return Failed(key, event, told)


@frozen(eq=False)
class Workshop:
    """Makes, inside a worker, what does the work of any station."""

    analysis: Analysis
    limit: int | None
    full: str

    def __call__(self) -> Bench:
        return Bench(stations(self.analysis, self.limit, self.full))


@define
class Bench:
    """Answers requests: ``("do", work)``, ``("lend", memories)`` and ``("show", stations)``."""

    stations: dict[int, Station]

    def __call__(self, request: tuple[str, Any]) -> Any:
        word, about = request
        if word == "do":
            begun = perf_counter()
            return do(self.stations, about), perf_counter() - begun
        if word == "show":
            return {k: self.stations[k].memory for k in about}
        return self._borrow(about)

    def _borrow(self, memories: dict[int, Memory]) -> None:
        for index, memory in memories.items():
            self.stations[index].memory = memory
