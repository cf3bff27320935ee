"""Section 6 of *Design of a Sliding Window over Asynchronous Event Streams*: the smart office.

Bob's phone, an RFID reader and a projector each report every minute whether their activity goes on;
activities last 25 minutes on average and pause for 5. The phone is to be silenced when the conjunction
*definitely* holds. The paper gives the rates but not who sends to whom. Here a reading is sent to one random
peer with probability `SENDS`. That number is fitted: of a handful of values tried, it gives sizes closest to
Table 2 for n = 2 to 6 (w = 4), so agreement there is no evidence; n = 7 to 9 and all other widths and delays
are not fitted, and at n = 8 and 9 our lattices are half the paper's. `at_the_papers_size` fits a second value
for n = 9, to compare times at equal size.

What counts as a detection is not spelled out either. Here, `Perc_det`: on the whole computation, take the
sets of overlapping intervals (strong conjunctive predicates); one is detected if some verdict was True while
the window touched all of its intervals. `Prob_det`: of the arrivals at which all sensors were true at one
instant of the window's time span, the share with verdict True; `false` counts True verdicts where they were
not (the real course of events may lie partly outside the window). The paper's text divides the other way
round; that its `Prob_det` is this share is our reading (both fall by about a fifth from n = 2 to 9). Not
reproduced: its `Perc_det` rises from w = 1 to 4 and its `Prob_det` rises with w, ours is 1 for every w, and
falls slightly.

`office` makes experiments of it: ``millstream lab run 'office*'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import and_
from random import Random
from statistics import fmean
from time import process_time
from typing import NamedTuple

from attrs import define, field

from millstream.lab.rows import Row
from millstream.palettes.lattice import Change, LatticeWindow, LatWin, LocalState, definitely

from .office_truth import detected, overlaps, physically

#: minutes
ACTIVE, PAUSE, PERIOD = 25.0, 5.0, 1.0
#: probability that a reading is sent to a peer (fitted to the sizes of Table 2 for n = 2 to 6, see above)
SENDS = 0.65


class Reading(NamedTuple):
    """A local state as it reaches the checker: when it was made, when it arrives, and the state."""

    made: float
    arrives: float
    state: LocalState


@define
class Office:
    """A seeded generator of readings of n processes."""

    processes: int = 3
    hours: float = 10.0
    #: mean delay of messages, in seconds
    delay: float = 0.5
    seed: int = 0
    sends: float = SENDS
    names: list[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.names = [f"p{k}" for k in range(self.processes)]

    def readings(self) -> list[Reading]:
        """Return the readings in the order in which they reach the checker."""
        random = Random(self.seed)
        n, made = self.processes, []
        phases = [random.random() * PERIOD for _ in range(n)]
        moments = sorted((i * PERIOD + phases[k], k) for k in range(n) for i in range(int(self.hours * 60)))
        activities = [_activity(random) for _ in range(n)]
        until, active = [0.0] * n, [False] * n
        clocks = [[0] * n for _ in range(n)]
        inbox: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in range(n)]
        counts = [0] * n
        for time, k in moments:
            while until[k] <= time:
                active[k], until[k] = next(activities[k])
            for message in [m for m in inbox[k] if m[0] <= time]:
                clocks[k] = [max(a, b) for a, b in zip(clocks[k], message[1], strict=True)]
                inbox[k].remove(message)
            clocks[k][k] = counts[k]
            counts[k] += 1
            clock = tuple(clocks[k])
            made.append(Reading(time, time + self._lag(random), LocalState(self.names[k], clock, active[k])))
            if n > 1 and random.random() < self.sends:
                peer = random.choice([j for j in range(n) if j != k])
                inbox[peer].append((time + self._lag(random), clock))
        return sorted(made, key=lambda reading: reading.arrives)

    def _lag(self, random: Random) -> float:
        return random.expovariate(60 / self.delay) if self.delay else 0.0


def _activity(random: Random) -> Iterator[tuple[bool, float]]:
    """Yield (active?, until when): exponential activities and pauses in turn."""
    until, active = 0.0, random.random() < ACTIVE / (ACTIVE + PAUSE)
    while True:
        until += random.expovariate(1 / (ACTIVE if active else PAUSE))
        yield active, until
        active = not active


def watch(office: Office, width: int | None) -> tuple[list[bool], list[Change], float, list[Reading]]:
    """Run the paper's query; return verdicts, changes, CPU seconds per arrival, and the readings."""
    readings, changes, verdicts = office.readings(), list[Change](), list[bool]()
    window = LatticeWindow(office.names, width).into(changes.append)
    verdict = definitely(lambda *local: all(local)).into(verdicts.append)
    begin, fed = process_time(), 0
    for reading in readings:
        window.push(reading.state)
        while fed < len(changes):
            verdict.push(changes[fed])
            fed += 1
    return verdicts, changes, (process_time() - begin) / len(readings), readings


def measured(office: Office, width: int) -> Row:
    """Return what one run says: average size, time per arrival, detections."""
    verdicts, changes, seconds, readings = watch(office, width)
    full = changes[len(changes) // 10 :]
    truly = physically(changes, readings, office.names)
    both = sum(map(and_, verdicts, truly))
    found = overlaps([reading.state for reading in readings], office.names)
    hits = detected(found, verdicts, changes)
    return {
        "n": office.processes,
        "w": width,
        "delay s": office.delay,
        "S": fmean(change.size for change in full),
        "ms": seconds * 1000,
        "Prob_det": both / sum(truly) if any(truly) else None,
        "false": sum(verdicts) - both,
        "Perc_det": hits / len(found) if found else None,
    }


def size_of_all(office: Office) -> int:
    """Return the size of the whole lattice, without a window."""
    whole = LatWin.of([None] * office.processes)
    for reading in sorted(office.readings()):
        whole.arrive(office.names.index(reading.state.process), tuple(reading.state.clock))
    return len(whole)


def at_the_papers_size(hours: float = 0.7, seed: int = 1) -> Row:
    """Return the row of nine processes with fewer messages: the lattice is as large as the paper's."""
    return measured(Office(9, hours, seed=seed, sends=0.48), 4)
