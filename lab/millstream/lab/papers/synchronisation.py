"""The experiments of the event-synchronisation paper: Table I and Figures 4 to 6.

Figures 2 and 3 survive only in part, so `ARRIVALS` is a reconstruction: the labels fix the tree of Figure 3
(rows 0; 6; 3 7; 1 5 8; 2 4 9) and that event 4 arrives ninth. Table I is not reproduced: of the 125,440
orders with event 4 in ninth place, none that builds this tree gives 30 and 17, counting every readiness bit
written or only those that change. Our counts stand beside the paper's: a comparison is one of timestamps, an
update is a link, a slot or a readiness bit that changes.

`ordering` makes experiments of it: ``millstream lab run 'sync*'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from time import process_time

from millstream.lab.rows import Row
from millstream.palettes.timesync import SyncCore
from millstream.palettes.timesync.core import Method

METHODS: tuple[Method, ...] = ("method 1", "method 2", "heads")
STREAM = {0: 2, 1: 2, 2: 2, 4: 2, 9: 2, 6: 1, 7: 1, 11: 1, 3: 3, 5: 3, 8: 3, 10: 4, 12: 4}
ARRIVALS = (0, 6, 3, 7, 1, 5, 2, 8, 4, 9, 10, 11, 12)
PAPER_TABLE_1 = {"indexed list": (25, 39), "linked list": (37, 37), "binary tree": (30, 17)}


def table_1() -> list[Row]:
    """Table I: comparisons and updates of three structures on the example of Figure 2."""
    counts = {"indexed list": _indexed(), "linked list": _linked(), "binary tree": _tree()}
    return [
        {"structure": name, "comparisons": c, "updates": u}
        | dict(zip(("paper comparisons", "paper updates"), PAPER_TABLE_1[name], strict=True))
        for name, (c, u) in counts.items()
    ]


def _batches() -> list[tuple[int, int]]:
    """Return for each arrival (event, how many events leave the front afterwards)."""
    core = SyncCore.of([1, 2, 3, 4])
    return [(t, len(core.arrive(STREAM[t], t, t) or ())) for t in ARRIVALS]


def _indexed() -> tuple[int, int]:
    """Count for a sorted array: binary search, and the slots written to make room."""
    events: list[int] = []
    comparisons = updates = 0
    for time, leaving in _batches():
        low, high = 0, len(events)
        while low < high:
            middle = (low + high) // 2
            comparisons += 1
            low, high = (low, middle) if time < events[middle] else (middle + 1, high)
        updates += 1 + len(events) - low
        events.insert(low, time)
        del events[:leaving]
    return comparisons, updates


def _linked() -> tuple[int, int]:
    """Count for a sorted doubly linked list: search from the front, links written, readiness bits passed."""
    events: list[int] = []
    comparisons = updates = 0
    for time, leaving in _batches():
        place = sum(other <= time for other in events)
        comparisons += min(place + 1, len(events))
        updates += 1 + (place > 0) + (place < len(events))
        events.insert(place, time)
        del events[:leaving]
    return comparisons, updates


def _tree() -> tuple[int, int]:
    """Count for method 1: nodes compared on the way down, links and readiness bits that change."""
    core = SyncCore.of([1, 2, 3, 4], "method 1")
    tree = core.buffer.tree  # type: ignore[attr-defined]
    updates = 0
    for time in ARRIVALS:
        before = dict(enumerate(tree.table))
        links = tree.root != 0
        core.arrive(STREAM[time], time, time)
        updates += links + sum(tree.table[n] != table for n, table in before.items() if tree.entry[n])
    return core.buffer.visited, updates


def events_of(
    streams: int, events: int, delays: Sequence[float] = (), seed: int = 0
) -> list[tuple[int, int]]:
    """Return (stream, time) in order of arrival: equal throughput, a constant delay for the first streams."""
    random, lag = Random(seed), dict(enumerate(delays))
    order = [(random.randrange(streams) if delays else t % streams, t) for t in range(events)]
    return sorted(order, key=lambda event: event[1] + lag.get(event[0], 0))


def cost(method: Method, streams: int, arrivals: Sequence[tuple[int, int]]) -> tuple[float, int]:
    """Return CPU seconds and visited nodes of synchronising some arrivals."""
    core = SyncCore.of(range(streams), method)
    arrive, begin = core.arrive, process_time()
    for stream, time in arrivals:
        arrive(stream, time, time)
    core.flush()
    return process_time() - begin, core.buffer.visited


def cheapest(method: Method, streams: int, arrivals: Sequence[tuple[int, int]], times: int) -> float:
    """Return the microseconds an event that synchronising takes, the best of several times."""
    return min(cost(method, streams, arrivals)[0] for _ in range(times)) / len(arrivals) * 1e6


def figures_4_and_5(streams: Sequence[int], events: int = 10_000, times: int = 1) -> list[Row]:
    """Figures 4 and 5: CPU time and visited nodes against the number of streams, without delays."""
    rows = []
    for n in streams:
        arrivals = events_of(n, events)
        row: Row = {"streams": n} | {f"{m} us": cheapest(m, n, arrivals, times) for m in METHODS}
        row |= {f"{m} visited": cost(m, n, arrivals)[1] for m in METHODS if m != "heads"}
        rows.append(row | {"times faster": row["method 1 us"] / row["heads us"]})
    return rows


def figure_6(
    streams: Sequence[int], delays: tuple[float, float], events: int = 10_000, times: int = 1
) -> list[Row]:
    """Figure 6: CPU time with delays on the first two streams."""
    rows = []
    for n in streams:
        arrivals = events_of(n, events, delays[:n])
        costs = {f"{m} us": cheapest(m, n, arrivals, times) for m in METHODS}
        rows.append({"first": delays[0], "second": delays[1], "streams": n} | costs)
    return rows


def growth(rows: Sequence[Row]) -> list[float]:
    """Return the ratios of our cost per event from one number of streams to the next."""
    return [round(b["heads us"] / a["heads us"], 2) for a, b in pairwise(rows)]
