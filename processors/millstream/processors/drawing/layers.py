"""Columns: which box stands in which column.

The usual layered method (Sugiyama, Tagawa, Toda 1981): a box stands one column after the last of those that
feed it, and an arrow that passes a column gets a bend there. Arrows with initial events may lead back and do
not count. The order within the columns is found in `crossings`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from .items import Item, Link


def assign(items: list[Item], links: list[Link]) -> None:
    """Set the layer of every item: inputs first, then the longest path, outputs last."""
    after: dict[Item, list[Item]] = defaultdict(list)
    waits: dict[Item, int] = dict.fromkeys(items, 0)
    for link in links:
        if not link.initial:
            after[link.source].append(link.target)
            waits[link.target] += 1
    for item in items:
        item.layer = 0 if item.kind == "input" else 1
    unfed = [item for item, count in waits.items() if count == 0]
    _longest_paths(list(unfed), after, waits)
    _settle_outputs(items)
    for item in unfed:
        if item.kind != "input" and after[item]:
            item.layer = min(target.layer for target in after[item]) - 1


def _longest_paths(ready: list[Item], after: dict[Item, list[Item]], waits: dict[Item, int]) -> None:
    while ready:
        item = ready.pop()
        for target in after[item]:
            target.layer = max(target.layer, item.layer + 1)
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)


def _settle_outputs(items: list[Item]) -> None:
    last = max((item.layer + 1 for item in items if item.kind != "output"), default=1)
    for item in items:
        if item.kind == "output":
            item.layer = last


def segments(links: Iterable[Link], bend: Callable[[Link, int], Item]) -> dict[Link, list[Link]]:
    """Cut every arrow that leads forward into steps of one column, with a bend in each column it passes."""
    result = {}
    for link in links:
        if link.back:
            continue
        steps, source, out = [], link.source, link.out
        for layer in range(link.source.layer + 1, link.target.layer):
            middle = bend(link, layer)
            steps.append(Link(source, out, middle, 0))
            source, out = middle, 0
        steps.append(Link(source, out, link.target, link.port))
        result[link] = steps
    return result
