"""Soak: a mixed query at full speed for minutes, while memory, threads, processes and files are watched.

The stream passes through a `PullGroup` on a worker process and a `Synchronizer` of four producers, then into
windows in slices whose keys come and go, a temporal formula, monitors of sessions that time out, and a
detector of composite events. Everything that can grow is bounded; if something grows all the same, the
samples show it.

    millstream lab run soak            ten minutes; --quick: a few seconds
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from operator import add
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any

import psutil

from millstream.concurrency import PullGroup, ThreadManager
from millstream.palettes.cep import Detector, before
from millstream.palettes.ltl import Monitor, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Synchronizer
from millstream.palettes.windows import Window
from millstream.processors import Apply, Cumulate, E, Filter, Query

from .claims import Claim, claim
from .experiment import experiment
from .plots import lines
from .rows import Row, Rows
from .trial import Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: samples in a run, and how much more memory than at its first quarter counts as growth
SAMPLES, GROWTH = 40, 1.1
#: events between looks at the clock
CHUNK = 5000
PRODUCERS = ("p0", "p1", "p2", "p3")


def events(random: Random) -> Iterator[dict[str, Any]]:
    """Yield events of four producers that do not quite keep time; users come, and do not come back."""
    now = 0
    while True:
        now += 1
        producer = random.randrange(4)
        yield {
            "producer": PRODUCERS[producer],
            "time": now - 5 * producer,
            "user": now // 50 + random.randrange(500),
            "n": random.randrange(100),
            "kind": "ABC"[random.randrange(3)],
        }


def queries() -> dict[str, Query]:
    """Return the parts of the mixture by name; each takes all events."""
    atoms = {"a": E.kind == "A", "b": E.kind == "B"}
    return {
        "windows in slices": Slice(
            E.user, Apply(E.n) | Window(Cumulate(add), 5), max_slices=3000, full="drop"
        ).graph,
        "verdicts": Verdicts("a -> F[0,50] b", atoms=atoms).graph,
        "sessions": Slice(E.user, Monitor("G (a -> F b)", atoms=atoms), ttl=4000).graph,
        "composite events": Detector(
            before("A", before("B", "C").within(20)).within(30), max_pending=1000
        ).graph,
        "filter": Filter(E.n > 97) | Apply(E.n) | Cumulate(max),
    }


class Kept:
    """What has come out: how many from each part."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def sink(self, name: str) -> Any:
        """Return a sink that counts."""
        counts = self.counts

        def count(_: Any) -> None:
            counts[name] += 1

        return count


def sample(process: psutil.Process) -> Row:
    """Return what a process and its children hold now."""
    children = process.children(recursive=True)
    return {
        "memory": sum(p.memory_info().rss for p in (process, *children)) / 2**20,
        "threads": process.num_threads(),
        "processes": len(children),
        "files": process.num_fds(),
    }


def left_behind(before: Row, after: Row) -> list[str]:
    """Return of what there is more after a run than before it."""
    return [name for name in ("processes", "threads", "files") if after[name] > before[name]]


@experiment(group="Trust", parameters={"minutes": [10.0]}, quick={"minutes": [0.1]})
def soak(trial: Trial, minutes: float) -> None:
    """A mixed query at full speed: memory stays flat, and nothing is left behind."""
    process, kept = psutil.Process(), Kept()
    runs = [query.into(kept.sink(name)) for name, query in queries().items()]

    def spread(event: Any) -> None:
        for run in runs:
            run.push(event)

    ordered = Synchronizer(E.time, PRODUCERS, E.producer).into(spread)
    seconds, taken = minutes * 60, 0
    before = sample(process)
    with ThreadManager(1, "processes") as manager:
        stream = PullGroup(Filter(E.n >= 0), manager)(events(trial.random))
        begun, next_sample = perf_counter(), 0.0
        for event in stream:
            ordered.push(event)
            taken += 1
            if taken % CHUNK:
                continue
            spent = perf_counter() - begun
            if spent >= next_sample:
                trial.row(seconds=round(spent, 1), events=taken, **sample(process))
                trial.progress(min(spent, seconds), seconds, f"{taken} events")
                next_sample += seconds / SAMPLES
            if spent >= seconds:
                break
        del stream  # gives the worker back
    after = sample(process)
    silent = [name for name in queries() if not kept.counts[name]]
    trial.check(not silent, f"no outputs of {', '.join(silent)} after {taken} events")
    found = left_behind(before, after)
    trial.check(not found, f"left behind: {', '.join(found)}")


def quarters(rows: Rows) -> tuple[float, float]:
    """Return the most memory in the second quarter of a run, and in the last one."""
    memory = rows.column("memory")
    count = len(memory)
    return max(memory[count // 4 : count // 2] or memory), max(memory[-max(1, count // 4) :])


@soak.table("Samples")
def samples(rows: Rows) -> list[Row]:
    """Show every fourth sample."""
    return [
        {k: row[k] for k in ("seconds", "events", "memory", "threads", "processes", "files")}
        for row in list(rows)[::4]
    ]


@soak.plot("Memory in MB against seconds")
def memory(rows: Rows, figure: Figure) -> None:
    """Draw the memory."""
    lines(figure, rows, "seconds", ["memory"])


@soak.claim
def flat(rows: Rows) -> Claim:
    """Memory does not grow."""
    early, late = quarters(rows)
    last = list(rows)[-1]
    rate = last["events"] / last["seconds"]
    return claim(
        "memory stays flat",
        late <= early * GROWTH,
        f"{early:.0f} MB at first, {late:.0f} MB at last; {last['events']} events, {rate:.0f} a second",
    )
