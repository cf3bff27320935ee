"""What a stage of a query costs on a sample, and what handing it over would save."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from time import thread_time
from typing import Any

from attrs import frozen

from millstream.processors import Query

from .chunks import AIM, MOST
from .manager import CHEAP, ThreadManager, cores, gil_is_enabled

#: seconds that a chunk costs beyond its events, and an event beyond its work, by kind of worker
PER_CHUNK = {"processes": 15e-6, "interpreters": 10e-6, "threads": 15e-6}
PER_EVENT = 0.25e-6
#: seconds that are enough to measure a stage on a sample
ENOUGH = 0.005
#: the least gain that is worth a wrapper
WORTH = 1.15


@frozen
class Measured:
    """What a stage did with a sample."""

    outputs: list[Any]
    #: seconds for each event
    cost: float


def measure(stage: Query, events: Sequence[Any]) -> Measured:
    """Run a stage on a sample, and take the shortest time; what it takes to begin does not count.

    A few times are enough for what is dear; short ones are easily disturbed, and measured more often.
    """
    spent: list[float] = []
    while len(spent) < 4 or (len(spent) < 50 and sum(spent) < ENOUGH):
        spent.append(_seconds(stage, events))
    return Measured(list(stage(events)), min(spent) / max(1, len(events)))


def _seconds(stage: Query, events: Sequence[Any]) -> float:
    run = stage.into()
    begun = thread_time()
    run.push_all(events)
    run.end()
    return thread_time() - begun


def transport(kind: str, events: Sequence[Any], outputs: Sequence[Any]) -> float:
    """Return the seconds that it takes to bring an event to a worker and its outputs back."""
    if kind == "threads":
        return PER_EVENT
    begun = thread_time()
    pickle.loads(pickle.dumps(list(events)))
    pickle.loads(pickle.dumps(list(outputs)))
    return PER_EVENT + (thread_time() - begun) / max(1, len(events))


def gain(kind: str, cost: float, moving: float, rest: float, workers: int, cores: int) -> float:
    """Return how many times faster a query becomes if one stage of it is handed over.

    Parameters
    ----------
    cost, moving, rest
        Seconds an event: of the stage, of bringing it to a worker and back, of everything else.
    workers, cores
        How many workers the stage can use, and how many processors there are.

    Examples
    --------
    >>> round(gain("processes", 100e-6, 1e-6, 0, 2, 2), 1), round(gain("processes", 1e-6, 1e-6, 0, 2, 2), 1)
    (2.0, 1.0)
    """
    if cost < CHEAP:
        return (cost + rest) / (cost + rest + moving) if moving else 1.0
    length = max(1.0, min(MOST, AIM / cost if cost else MOST))
    overhead = moving + PER_CHUNK[kind] / length
    here, there = rest + overhead / 2, (cost + overhead / 2) / workers
    all_cores = (rest + cost + overhead) / min(cores, workers + 1)
    return (cost + rest) / max(here, there, all_cores)


def obstacle(manager: ThreadManager) -> str:
    """Return why no stage can gain from a manager, or nothing."""
    if manager.limit == 0:
        return "the manager lends no workers (limit 0)"
    if cores() < 2:
        return "there is only one processor"
    if manager.workers == "threads" and gil_is_enabled():
        return "threads take turns in this Python; use workers='processes' or a free-threaded Python"
    return ""


def kind_of(manager: ThreadManager) -> str:
    """Return the kind of worker that a manager would lend."""
    if manager.workers != "auto":
        return manager.workers
    return "processes" if gil_is_enabled() else "threads"
