"""SVG: the laid-out picture as text.

Boxes are opaque with dark text on light colours, lines and outer texts have a middle tone: the picture can be
read on light and on dark pages without knowing which it is. Nothing has an id, so many pictures can stand in
one document.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from .items import Item, Layout, Route, Run
from .labels import LINE_HEIGHT, TEXT_SIZE, TITLE_HEIGHT, TITLE_SIZE, columns, shorten_text
from .layout import layout

if TYPE_CHECKING:
    from ..graph import Graph

MARGIN = 10.0
PORT = 8.0
ARROW = 7.0
LINE, FRAME = "#7c8798", "#8792a2"  # middle tones
INK, PAPER, EDGE = "#1d2733", "#f3f7fc", "#5b7ba6"
IN, OUT = "#d2604f", "#4c9a63"
SANS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def svg(graph: Graph) -> str:
    """Return a graph as an SVG document."""
    picture = layout(graph)
    width, height = picture.width + 2 * MARGIN, picture.height + 2 * MARGIN
    size = {"width": width, "height": height, "viewBox": f"0 0 {number(width)} {number(height)}"}
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {attributes(size)} role="img" font-family="{SANS}">',
            f"<title>{escape(shorten_text(repr(graph), 200))}</title>",
            f'<g transform="translate({number(MARGIN)} {number(MARGIN)})">',
            *contents(picture),
            "</g>",
            "</svg>",
        ]
    )


def contents(picture: Layout) -> Iterator[str]:
    """Yield what a graph consists of: frames and boxes first, arrows over them, ports on top."""
    boxes = [item for item in picture.items if item.kind in ("node", "group")]
    for item in boxes:
        yield from group(item) if item.inner else node(item)
    for route in picture.routes:
        yield from arrow(route)
    for item in boxes:
        yield from ports(item)
    for item in picture.items:
        if item.width and item.kind in ("input", "output"):
            yield from circle(item)


def node(item: Item) -> Iterator[str]:
    """Yield the box of a processor: name in bold, parameters beneath."""
    assert item.label is not None
    middle, y = item.x + item.width / 2, item.y + (item.height - item.label.height) / 2
    yield f'<g class="node" data-node="{item.name}">'
    yield rectangle(item, "box", rx=7, fill=PAPER, stroke=EDGE, stroke_width=1.3)
    yield text(middle, y + 13, item.label.heading, fill=INK, font_size=TITLE_SIZE, font_weight="bold")
    for k, line in enumerate(item.label.lines):
        below = y + TITLE_HEIGHT + LINE_HEIGHT * k + 10
        yield text(middle, below, line, fill=INK, font_size=TEXT_SIZE, font_family=MONO)
    yield "</g>"


def group(item: Item) -> Iterator[str]:
    """Yield the dashed frame of a group, with its name and its content."""
    assert item.label is not None
    assert item.inner is not None
    yield f'<g class="group" data-node="{item.name}">'
    look = {
        "fill": FRAME,
        "fill_opacity": 0.08,
        "stroke": FRAME,
        "stroke_width": 1.2,
        "stroke_dasharray": "6 4",
    }
    yield rectangle(item, "frame", rx=9, **look)
    title = {"fill": LINE, "font_size": TITLE_SIZE, "font_weight": "bold", "text_anchor": "start"}
    yield text(item.x + 12, item.y + 19, item.label.title, **title)
    yield f'<g transform="translate({number(item.x)} {number(item.y)})">'
    yield from contents(item.inner)
    yield "</g>"
    yield "</g>"


def circle(item: Item) -> Iterator[str]:
    """Yield an input or output of the query."""
    radius = item.width / 2
    x, y, fill = item.x + radius, item.y + radius, IN if item.kind == "input" else OUT
    place = attributes({"cx": x, "cy": y, "r": radius, "fill": fill})
    yield f'<circle class="{item.kind}" data-name="{item.name}" {place}/>'
    assert item.label is not None
    yield text(x, y + 3.5, item.label.title, fill="#ffffff", font_size=10)


def ports(item: Item) -> Iterator[str]:
    """Yield the ports of a box: small squares on its sides."""
    for side, heights, x, fill in (
        ("in", item.ins, item.x, IN),
        ("out", item.outs, item.x + item.width, OUT),
    ):
        for k, height in enumerate(heights):
            corner = {"x": x - PORT / 2, "y": item.y + height - PORT / 2, "width": PORT, "height": PORT}
            look = attributes({**corner, "rx": 1.5, "fill": fill, "stroke": "#ffffff", "stroke_width": 1})
            yield f'<rect class="port {side}" data-port="{item.name}.{k}" {look}/>'


def arrow(route: Route) -> Iterator[str]:
    """Yield an arrow; one with initial events is dashed and shows them."""
    link = route.link
    gap = PORT / 2 if link.target.kind in ("node", "group") or not link.target.width else 0.0
    ends = f'data-source="{link.source.name}.{link.out}" data-target="{link.target.name}.{link.port}"'
    look = {"fill": "none", "stroke": LINE, "stroke_width": 1.6}
    if link.initial:
        look["stroke_dasharray"] = "5 4"
    *runs, (left, right, y) = route.runs
    tip = right - gap
    yield f'<path class="edge" {ends} d="{curve([*runs, (left, tip - ARROW + 1, y)])}" {attributes(look)}/>'
    yield f'<path class="head" d="M{number(tip)} {number(y)}l{-ARROW:g} -4v8z" fill="{LINE}"/>'
    if link.initial:
        yield from waiting(route)


def waiting(route: Route) -> Iterator[str]:
    """Yield the initial events of an arrow, in the middle of its longest piece."""
    shown = shorten_text(", ".join(map(repr, route.link.initial)), 24)
    left, right, y = max(route.runs, key=lambda run: abs(run[1] - run[0]))
    width, x = columns(shown) * TEXT_SIZE * 0.62 + 10, (left + right) / 2
    look = {
        "x": x - width / 2,
        "y": y - 8,
        "width": width,
        "height": 16,
        "rx": 8,
        "fill": PAPER,
        "stroke": LINE,
    }
    yield f'<rect class="initial" {attributes(look)}/>'
    yield text(x, y + 4, shown, fill=INK, font_size=TEXT_SIZE, font_family=MONO)


def curve(runs: list[Run]) -> str:
    """Join horizontal pieces by curves that leave and arrive horizontally.

    >>> curve([(0, 10, 5), (30, 40, 25)])
    'M0 5H10C20 5 20 25 30 25H40'
    """
    path = f"M{number(runs[0][0])} {number(runs[0][2])}H{number(runs[0][1])}"
    for (a, b, y), (c, d, z) in pairwise(runs):
        reach = abs(c - b) / 2 or 22.0
        one, two = b + (reach if b >= a else -reach), c - (reach if d >= c else -reach)
        path += f"C{number(one)} {number(y)} {number(two)} {number(z)} {number(c)} {number(z)}H{number(d)}"
    return path


def rectangle(item: Item, kind: str, **look: object) -> str:
    """Return the rectangle of an item."""
    place = {"x": item.x, "y": item.y, "width": item.width, "height": item.height}
    return f'<rect class="{kind}" {attributes({**place, **look})}/>'


def text(x: float, y: float, content: str, **look: object) -> str:
    """Return a text, centred unless told otherwise."""
    return f"<text {attributes({'x': x, 'y': y, 'text_anchor': 'middle', **look})}>{escape(content)}</text>"


def attributes(values: dict[str, object]) -> str:
    """Write attributes.

    >>> attributes({"x": 1.50, "stroke_width": 2, "fill": "red"})
    'x="1.5" stroke-width="2" fill="red"'
    """
    written = {k: number(v) if isinstance(v, int | float) else escape(str(v)) for k, v in values.items()}
    return " ".join(f'{k if k == "viewBox" else k.replace("_", "-")}="{v}"' for k, v in written.items())


def number(value: float) -> str:
    """Write a coordinate, to a hundredth of a pixel.

    >>> number(3.0), number(2.345678)
    ('3', '2.35')
    """
    return f"{value if abs(value) >= 0.005 else 0.0:.2f}".rstrip("0").rstrip(".")
