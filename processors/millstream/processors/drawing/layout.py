"""Coordinates: every box, port and arrow gets its place, and a group the room that its content needs.

Columns follow each other from left to right with a gap between them, so boxes of different columns never
meet. Within a column the order is given (`crossings`), and every box wishes to stand level with its
neighbours; the positions that come nearest to all wishes without changing the order or the distances are an
isotonic regression, found by pooling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..graph import Group
from ..processor import Processor
from . import crossings, layers
from .items import Item, Kind, Layout, Link, Route
from .labels import Label, label, terminal_names

if TYPE_CHECKING:
    from ..graph import Graph

GAP = 60.0  # between columns
LEAVE, ARRIVE = 6.0, 16.0  # how far an arrow is straight outside of a column, before and after its curves
BETWEEN, PASSING = 20.0, 12.0  # between boxes of a column; between a box and a passing arrow
PADDING, SPACING = 12.0, 18.0  # around the texts of a box; between ports
HEADER, FOOTER = 32.0, 14.0  # above and below the content of a group
RADIUS = 16.0  # of the circles
TRACK = 22.0  # between arrows that lead back below the boxes
ROUNDS = 8

Sides = tuple[float, float]  # left and right edge of a column


def layout(graph: Graph, prefix: str = "", *, outermost: bool = True, least: float = 0.0) -> Layout:
    """Place everything in a graph, at least so wide; the upper left corner is at 0, 0."""
    items, links = describe(graph, prefix, outermost)
    layers.assign(items, links)
    grid: list[list[Item]] = [[] for _ in range(max((item.layer for item in items), default=0) + 1)]
    for item in items:
        grid[item.layer].append(item)

    def bend(link: Link, layer: int) -> Item:
        grid[layer].append(item := Item("bend", link.source.name, ins=(0.0,), outs=(0.0,), layer=layer))
        return item

    paths = layers.segments(links, bend)
    steps = [step for path in paths.values() for step in path]
    crossings.sort(grid, steps)
    bottom = place_rows(grid, steps, 0.0 if outermost else HEADER)
    sides = place_columns(grid, least)
    routes, bottom = find_routes(links, paths, sides, bottom)
    return Layout(items, routes, sides[-1][1], bottom + (0.0 if outermost else FOOTER))


def describe(graph: Graph, prefix: str, outermost: bool) -> tuple[list[Item], list[Link]]:
    """Return an item for every input, processor and output, and a link for every arrow."""
    ins = terminals("input", prefix, len(graph.entries), outermost)
    nodes = [box(node, f"{prefix}{k}") for k, node in enumerate(graph.nodes)]
    outs = terminals("output", prefix, len(graph.exits), outermost)
    links = [Link(item, 0, nodes[n], i) for item, (n, i) in zip(ins, graph.entries, strict=True)]
    for edge in graph.edges:
        (s, o), (t, i) = edge.source, edge.target
        links.append(Link(nodes[s], o, nodes[t], i, edge.initial))
    links += [Link(nodes[n], o, item, 0) for item, (n, o) in zip(outs, graph.exits, strict=True)]
    return ins + nodes + outs, links


def terminals(kind: Kind, prefix: str, count: int, outermost: bool) -> list[Item]:
    """Return the inputs or outputs: circles outside, ports on the frame of a group."""
    radius = RADIUS if outermost else 0.0
    return [
        Item(kind, prefix + name, 2 * radius, 2 * radius, (radius,), (radius,), Label("", shown, ()))
        for name, shown in terminal_names(kind.removesuffix("put"), count)
    ]


def box(node: Processor, name: str) -> Item:
    """Return the item of a processor, large enough for its texts, its ports or its content."""
    if isinstance(node, Group):
        texts = Label("", node.name, ())
        inner = layout(node.query.graph, f"{name}/", outermost=False, least=texts.width + 2 * PADDING)
        ports = inner.ports("input"), inner.ports("output")
        return Item("group", name, inner.width, inner.height, *ports, texts, inner)
    texts, (ins, outs) = label(node), node.arity
    height = max(texts.height + 2 * PADDING - 6, SPACING * max(ins, outs) + 6)
    return Item(
        "node", name, texts.width + 2 * PADDING, height, spread(ins, height), spread(outs, height), texts
    )


def spread(count: int, height: float) -> tuple[float, ...]:
    """Return the heights of ports on the side of a box.

    >>> spread(2, 60.0)
    (20.0, 40.0)
    """
    return tuple(height * (k + 1) / (count + 1) for k in range(count))


def place_rows(grid: list[list[Item]], steps: list[Link], top: float) -> float:
    """Set the y of every item, level with its neighbours where possible; return the lower edge."""
    before, after = defaultdict(list), defaultdict(list)
    for step in steps:
        before[step.target].append(step)
        after[step.source].append(step)
    for column in grid:
        settle(column, [0.0] * len(column))
    for _ in range(ROUNDS):
        for column in grid:
            settle(column, [wish(item, before[item], []) for item in column])
        for column in reversed(grid):
            settle(column, [wish(item, [], after[item]) for item in column])
    for column in grid:
        settle(column, [wish(item, before[item], []) for item in column])
    items = [item for column in grid for item in column]
    shift = top - min((item.y for item in items), default=0.0)
    for item in items:
        item.y += shift
    return max((item.y + item.height for item in items), default=top)


def wish(item: Item, before: list[Link], after: list[Link]) -> float:
    """Return the y at which the arrows of an item would be level, on average."""
    wishes = [step.leaves - item.ins[step.port] for step in before]
    wishes += [step.arrives - item.outs[step.out] for step in after]
    return sum(wishes) / len(wishes) if wishes else item.y


def settle(column: Sequence[Item], wishes: list[float]) -> None:
    """Set the y of a column's items as near as possible to the wishes, in order and at a distance."""
    offsets, offset = [], 0.0
    for k, item in enumerate(column):
        if k:
            bends = "bend" in (item.kind, column[k - 1].kind)
            offset += column[k - 1].height + (PASSING if bends else BETWEEN)
        offsets.append(offset)
    level = isotonic([y - offset for y, offset in zip(wishes, offsets, strict=True)])
    for item, y, offset in zip(column, level, offsets, strict=True):
        item.y = y + offset


def isotonic(values: list[float]) -> list[float]:
    """Return the nearest values, by least squares, that never fall.

    >>> isotonic([1.0, 3.0, 2.0, 4.0])
    [1.0, 2.5, 2.5, 4.0]
    """
    pools: list[tuple[float, int]] = []  # (mean, how many)
    for value in values:
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            other, more = pools.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]


def place_columns(grid: list[list[Item]], least: float) -> list[Sides]:
    """Set the x of every item, in the middle of its column; return where the columns are."""
    widths = [max((item.width for item in column), default=0.0) for column in grid]
    gap = GAP
    if len(grid) > 1:
        gap = max(GAP, (least - sum(widths)) / (len(grid) - 1))
    sides, x = [], 0.0
    for column, width in zip(grid, widths, strict=True):
        for item in column:
            item.x = x + (width - item.width) / 2
        sides.append((x, x + width))
        x += width + gap
    return sides


def find_routes(
    links: list[Link], paths: dict[Link, list[Link]], sides: list[Sides], bottom: float
) -> tuple[list[Route], float]:
    """Return the way of every arrow; those that lead back run below everything, and lower the lower edge."""
    routes = []
    for link in links:
        (_, right), (left, _) = sides[link.source.layer], sides[link.target.layer]
        right, left = right + LEAVE, left - ARRIVE
        out = (link.source.x + link.source.width, right, link.leaves)
        into = (left, link.target.x, link.arrives)
        if link.back:
            bottom += TRACK
            routes.append(Route(link, (out, (right, left, bottom - TRACK / 4), into)))
        else:
            bends = [(*sides[step.target.layer], step.arrives) for step in paths[link][:-1]]
            routes.append(Route(link, (out, *bends, into)))
    return routes, bottom
