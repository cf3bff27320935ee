"""What the smart-office verdicts are measured against: overlaps in the whole computation, and real time.

Overlaps are found as by Garg and Waldecker (1996), without a window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from millstream.palettes.lattice import Change, LocalState

#: a run of true states of one process: first and last state number
Interval = tuple[int, int]


def overlaps(states: Sequence[LocalState], names: Sequence[str]) -> list[list[Interval]]:
    """Return the sets of intervals, one of each process, that no observer can miss."""
    clocks: list[dict[int, Sequence[int]]] = [{} for _ in names]
    truth: list[dict[int, bool]] = [{} for _ in names]
    for state in states:
        k = names.index(state.process)
        clocks[k][state.clock[k]] = tuple(state.clock)
        truth[k][state.clock[k]] = bool(state.value)
    queues = [_runs(t) for t in truth]
    found = []
    while all(queues):
        heads = [queue[0] for queue in queues]
        over = [j for j, (_, end) in enumerate(heads) if _ends_early(j, end, heads, clocks)]
        if not over:
            found.append(heads)
            over = [j for j, (_, end) in enumerate(heads) if end + 1 in clocks[j]][:1] or [0]
        for j in over:
            queues[j].pop(0)
    return found


def _runs(truth: dict[int, bool]) -> list[Interval]:
    runs: list[Interval] = []
    for number in sorted(truth):
        if truth[number] and runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        elif truth[number]:
            runs.append((number, number))
    return runs


def _ends_early(j: int, end: int, heads: list[Interval], clocks: list[dict[int, Any]]) -> bool:
    after = clocks[j].get(end + 1)
    return after is not None and any(0 < begin > after[i] for i, (begin, _) in enumerate(heads) if i != j)


def detected(found: list[list[Interval]], verdicts: Sequence[bool], changes: Sequence[Change]) -> int:
    """Count the overlaps that a True verdict saw: its window touched all of the intervals."""
    windows = [change.bounds for verdict, change in zip(verdicts, changes, strict=True) if verdict]
    hits = 0
    for overlap in found:
        hits += any(
            all(
                low <= end and begin <= high
                for (begin, end), (low, high) in zip(overlap, window, strict=True)
            )
            for window in windows
        )
    return hits


def physically(changes: Sequence[Change], readings: Sequence[Any], names: Sequence[str]) -> list[bool]:
    """Tell for each change whether all sensors were true at one instant of the window's time span."""
    made = [
        {r.state.clock[k]: r.made for r in readings if r.state.process == name}
        for k, name in enumerate(names)
    ]
    truth = [
        {r.state.clock[k]: r.state.value for r in readings if r.state.process == name}
        for k, name in enumerate(names)
    ]
    return [_together(change.bounds, made, truth) for change in changes]


def _together(bounds: Sequence[Interval], made: list[dict[int, float]], truth: list[dict[int, Any]]) -> bool:
    """Tell whether states held from reading to reading, all true, share an instant."""
    if any(high < 0 for _, high in bounds):
        return False
    spans = [
        [(made[k][v], made[k].get(v + 1, float("inf"))) for v in range(low, high + 1) if truth[k][v]]
        for k, (low, high) in enumerate(bounds)
    ]
    shared = spans[0]
    for other in spans[1:]:
        shared = [(max(a, c), min(b, d)) for a, b in shared for c, d in other if max(a, c) < min(b, d)]
    return bool(shared)
