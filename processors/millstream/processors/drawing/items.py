"""What a picture consists of: items (boxes, circles, bends), links between them, and where all of it goes."""

from __future__ import annotations

from typing import Literal

from attrs import define, frozen

from .labels import Label

Kind = Literal["node", "group", "input", "output", "bend"]
Run = tuple[float, float, float]  # a horizontal piece of an arrow: from x, to x, at y


@define(eq=False)
class Item:
    """Something with a place: a processor, a group, an input, an output, or the bend of an arrow."""

    kind: Kind
    name: str
    width: float = 0.0
    height: float = 0.0
    #: heights of the ports below the upper edge
    ins: tuple[float, ...] = ()
    outs: tuple[float, ...] = ()
    label: Label | None = None
    inner: Layout | None = None
    #: the column, set first; then the place within the column; then the coordinates of the upper left corner
    layer: int = 0
    rank: float = 0.0
    x: float = 0.0
    y: float = 0.0


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

    @property
    def leaves(self) -> float:
        """Return the height at which the arrow leaves its source."""
        return self.source.y + self.source.outs[self.out]

    @property
    def arrives(self) -> float:
        """Return the height at which the arrow reaches its target."""
        return self.target.y + self.target.ins[self.port]


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

    def ports(self, kind: Kind) -> tuple[float, ...]:
        """Return the heights of the inputs or outputs."""
        return tuple(item.y + item.height / 2 for item in self.items if item.kind == kind)
