"""Order within columns: sweeps that remove most crossings of arrows.

Each sweep moves every item to the barycentre of its neighbours in the column before, or after. That usually
helps and sometimes harms, so crossings are counted and the best order seen, the first one included, is kept.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict

from .items import Item, Link

SWEEPS = 8

Near = dict[Item, list[tuple[Item, float]]]  # the neighbours on one side, and how far down theirs the port is


def sort(grid: list[list[Item]], steps: list[Link]) -> None:
    """Order the items of each column; inputs and outputs, first and last, keep that of their numbers."""
    before, after = neighbours(steps)
    for column in grid:
        number(column)
    fewest, best = count(steps), [list(column) for column in grid]
    for sweep in range(SWEEPS):
        if not fewest:
            break
        inner = grid[1:-1] if sweep % 2 == 0 else grid[-2:0:-1]
        for column in inner:
            reorder(column, after if sweep % 2 else before)
        crossings = count(steps)
        if crossings < fewest:
            fewest, best = crossings, [list(column) for column in grid]
    grid[:] = best


def neighbours(steps: list[Link]) -> tuple[Near, Near]:
    """Return the neighbours of each item in the column before and in the column after."""
    before: Near = defaultdict(list)
    after: Near = defaultdict(list)
    for step in steps:
        before[step.target].append((step.source, (step.out + 1) / (len(step.source.outs) + 1)))
        after[step.source].append((step.target, (step.port + 1) / (len(step.target.ins) + 1)))
    return before, after


def reorder(column: list[Item], near: Near) -> None:
    """Sort a column by the mean place of each item's neighbours; an item without any stays where it is."""
    wishes = {}
    for item in column:
        spots = [neighbour.rank + part for neighbour, part in near[item]]
        wishes[item] = sum(spots) / len(spots) if spots else item.rank + 0.5
    column.sort(key=wishes.__getitem__)
    number(column)


def number(column: list[Item]) -> None:
    """Tell every item of a column its place."""
    for k, item in enumerate(column):
        item.rank = k


def count(steps: list[Link]) -> int:
    """Count the pairs of arrows between neighbouring columns that cross."""
    gaps: dict[int, list[tuple[tuple[float, int], tuple[float, int]]]] = defaultdict(list)
    for step in steps:
        gaps[step.source.layer].append(((step.source.rank, step.out), (step.target.rank, step.port)))
    return sum(inversions([end for _, end in sorted(gap)]) for gap in gaps.values())


def inversions(values: list[tuple[float, int]]) -> int:
    """Count the pairs that are in the wrong order.

    >>> inversions([(2, 0), (0, 0), (1, 0)])
    2
    """
    seen: list[tuple[float, int]] = []
    total = 0
    for value in values:
        total += len(seen) - bisect_right(seen, value)
        insort(seen, value)
    return total
