"""Coordinates: every box, port and arrow of a graph gets its place; a group gets the room that its content needs.

Columns follow each other from left to right with a gap between them, so boxes of different columns never meet. Within a
column the order is given (`layers`), and every box wishes to stand level with its neighbours; the positions that come
nearest to all wishes without changing the order or the distances are an isotonic regression, found by pooling.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal

from attrs import define, field, frozen

from ..graph import Group
from ..processor import Processor
from . import layers
from .labels import Label, columns, label
from .layers import Link

if TYPE_CHECKING:
    from ..graph import Graph

GAP, BETWEEN, PASSING = 48.0, 20.0, 12.0  # between columns; between boxes in one; between a box and a passing arrow
PADDING, SPACING = 12.0, 18.0  # around the texts of a box; between ports
HEADER, FOOTER = 30.0, 14.0  # above and below the content of a group
RADIUS = 15.0
TRACK = 18.0  # between arrows that lead back below the boxes
ROUNDS = 8

Kind = Literal["node", "group", "input", "output", "bend"]
Run = tuple[float, float, float]  # a horizontal piece of an arrow: from x, to x, at y


@define(eq=False)
class Item:
    """Something with a place: a processor, a group, an input, an output, or the bend of an arrow."""

    kind: Kind
    name: str
    width: float = 0.0
    height: float = 0.0
    ins: tuple[float, ...] = ()  # heights of the ports below the upper edge
    outs: tuple[float, ...] = ()
    label: Label | None = None
    inner: Layout | None = None
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    wish: float = 0.0


@frozen(eq=False)
class Route:
    """The way of an arrow: horizontal pieces, to be joined by curves."""

    link: Link
    runs: tuple[Run, ...]


@frozen(eq=False)
class Layout:
    """All items of one graph with their places, and the ways of its arrows."""

    items: list[Item]
    routes: list[Route]
    width: float
    height: float
    names: tuple[int, int] = field(default=(0, 0))

    def ports(self, kind: Kind) -> tuple[float, ...]:
        """Return the heights of the inputs or outputs."""
        return tuple(item.y + item.height / 2 for item in self.items if item.kind == kind)


def layout(graph: Graph, prefix: str = "", *, outermost: bool = True) -> Layout:
    """Place everything in a graph; the upper left corner is at 0, 0."""
    items, links = describe(graph, prefix, outermost)
    layers.assign(items, links)
    grid: list[list[Item]] = [[] for _ in range(max((item.layer for item in items), default=0) + 1)]
    for item in items:
        grid[item.layer].append(item)

    def bend(link: Link, layer: int) -> Item:
        item = Item("bend", link.source.name, ins=(0.0,), outs=(0.0,), layer=layer)
        grid[layer].append(item)
        return item

    steps = layers.segments(links, bend)
    every = [step for path in steps.values() for step in path]
    layers.sort(grid, every)
    place_rows(grid, every)
    edges = place_columns(grid, 0.0 if outermost else HEADER)
    height = max((item.y + item.height for column in grid for item in column), default=0.0)
    routes, height = find_routes(links, steps, edges, height)
    return Layout(items, routes, edges[-1][1], height + (0 if outermost else FOOTER))


def describe(graph: Graph, prefix: str, outermost: bool) -> tuple[list[Item], list[Link]]:
    """Return an item for every input, processor and output, and a link for every arrow."""
    ins = [terminal("input", f"{prefix}in{k}", outermost) for k in range(len(graph.entries))]
    nodes = [box(node, f"{prefix}{k}") for k, node in enumerate(graph.nodes)]
    outs = [terminal("output", f"{prefix}out{k}", outermost) for k in range(len(graph.exits))]
    links = [Link(item, 0, nodes[n], i) for item, (n, i) in zip(ins, graph.entries, strict=True)]
    for edge in graph.edges:
        (s, o), (t, i) = edge.source, edge.target
        links.append(Link(nodes[s], o, nodes[t], i, edge.initial))
    links += [Link(nodes[n], o, item, 0) for item, (n, o) in zip(outs, graph.exits, strict=True)]
    return ins + nodes + outs, links


def terminal(kind: Kind, name: str, outermost: bool) -> Item:
    """Return an input or output: a circle outside, a port on the frame of a group."""
    radius = RADIUS if outermost else 0.0
    return Item(kind, name, 2 * radius, 2 * radius, (radius,), (radius,))


def box(node: Processor, name: str) -> Item:
    """Return the item of a processor, large enough for its texts, its ports or its content."""
    if isinstance(node, Group):
        inner = layout(node.query.graph, f"{name}/", outermost=False)
        title = columns(node.name) * 8 + 2 * PADDING
        width, texts = max(inner.width, title), Label("", node.name, ())
        stretch(inner, width)
        return Item("group", name, width, inner.height, inner.ports("input"), inner.ports("output"), texts, inner)
    texts, (ins, outs) = label(node), node.arity
    height = max(texts.height + 2 * PADDING - 6, SPACING * max(ins, outs) + 6)
    return Item("node", name, texts.width + 2 * PADDING, height, spread(ins, height), spread(outs, height), texts)


def stretch(inner: Layout, width: float) -> None:
    """Move the outputs of a group's content to the frame, when its title is wider than the content."""
    raise NotImplementedError


def spread(count: int, height: float) -> tuple[float, ...]:
    """Return the heights of ports on the side of a box.

    >>> spread(2, 60.0)
    (20.0, 40.0)
    """
    return tuple(height * (k + 1) / (count + 1) for k in range(count))
