"""Columns: which box stands in which column, and in which order from top to bottom.

The usual layered method (Sugiyama, Tagawa, Toda 1981): a box stands one column after the last of those that feed it; an
arrow that passes a column gets a bend there; sweeps move every box to the barycentre of its neighbours in the column
before or after, which removes most crossings. Arrows with initial events may lead back and do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from attrs import define

if TYPE_CHECKING:
    from .layout import Item

SWEEPS = 6


@define(eq=False)
class Link:
    """An arrow from an output of an item to an input of another."""

    source: Item
    out: int
    target: Item
    port: int
    initial: tuple[object, ...] = ()

    @property
    def back(self) -> bool:
        """Return whether the arrow does not lead to a later column."""
        return self.source.layer >= self.target.layer


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
    ready = [item for item in items if not waits[item]]
    order = []
    while ready:
        order.append(item := ready.pop())
        for target in after[item]:
            target.layer = max(target.layer, item.layer + 1)
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    _settle_outputs(items)
    _move_sources(order, after, {link.target for link in links if not link.initial})


def _settle_outputs(items: list[Item]) -> None:
    last = max((item.layer + 1 for item in items if item.kind != "output"), default=1)
    for item in items:
        if item.kind == "output":
            item.layer = last


def _move_sources(order: list[Item], after: dict[Item, list[Item]], fed: set[Item]) -> None:
    """Bring what nothing feeds (a source of its own) next to what it feeds."""
    for item in order:
        if item.kind != "input" and item not in fed and after[item]:
            item.layer = min(target.layer for target in after[item]) - 1


def segments(links: Iterable[Link], bend: Callable[[Link, int], Item]) -> dict[Link, list[Link]]:
    """Cut every arrow that leads forward into steps of one column, with a new bend in each column it passes."""
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


def sort(columns: list[list[Item]], steps: list[Link]) -> None:
    """Order the items of each column; inputs and outputs keep the order of their numbers."""
    place = {item: float(k) for column in columns for k, item in enumerate(column)}
    before: dict[Item, list[Link]] = defaultdict(list)
    after: dict[Item, list[Link]] = defaultdict(list)
    for step in steps:
        before[step.target].append(step)
        after[step.source].append(step)
    inner = columns[1:-1]
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for column in inner if forward else reversed(inner):
            for item in column:
                item.wish = _barycentre(item, before if forward else after, place, "out" if forward else "in")
            column.sort(key=lambda item: item.wish)
            place.update((item, float(k)) for k, item in enumerate(column))


def _barycentre(
    item: Item, near: dict[Item, list[Link]], place: dict[Item, float], side: Literal["in", "out"]
) -> float:
    """Return the mean place of the neighbours' ports; an item without neighbours stays where it is."""
    if side == "out":
        spots = [place[s.source] + (s.out + 1) / (len(s.source.outs) + 1) for s in near[item]]
    else:
        spots = [place[s.target] + (s.port + 1) / (len(s.target.ins) + 1) for s in near[item]]
    return sum(spots) / len(spots) if spots else place[item] + 0.5
