"""SVG of a state diagram: states on an ellipse, arrows bent so that two between the same states do not meet.

Labels stand beside the middle of their arrows, on the outer side of the bend, in several lines if they are
long. An arrow from a state to itself is drawn on the side that looks away from the middle.
"""

from __future__ import annotations

from html import escape
from math import cos, hypot, pi, sin
from textwrap import wrap

from attrs import define, field

LINE, INK, PAPER, EDGE = "#7c8798", "#1d2733", "#f3f7fc", "#5b7ba6"
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
HEIGHT, LETTER, ROW, BEND, MARGIN = 30.0, 7.4, 15.0, 38.0, 12.0
#: characters of a state that are shown; characters in a line of a label, and lines
LONGEST, WIDEST, ROWS = 44, 28, 4
Point = tuple[float, float]


def svg(boxes: list[str], arrows: list[tuple[int, int, str]]) -> str:
    """Return states (their texts; the first is the initial one) and arrows as an SVG document.

    >>> svg(["a"], [(0, 0, "x")]).count("<path")
    2
    """
    texts = [t if len(t) <= LONGEST else t[: LONGEST - 1] + "…" for t in boxes]
    picture = _Picture(max(map(len, texts)) * LETTER / 2 + 10)
    labels = [(a, b, _rows(label)) for a, b, label in arrows]
    across = max((_width(rows) for a, b, rows in labels if a != b), default=0.0)
    spots = _spots(len(texts), 2 * picture.half + 0.8 * across + 70)
    for (x, y), text in zip(spots, texts, strict=True):
        picture.state(x, y, text)
    picture.start(spots[0], above=len(texts) > 1 and any(a == b == 0 for a, b, _ in labels))
    for a, b, rows in labels:
        if a == b:
            picture.loop(spots[a], rows)
        else:
            near = (a - b) % len(spots) in (1, len(spots) - 1)
            picture.arrow(spots[a], spots[b], BEND if near else BEND / 2, rows)
    return picture.document()


def _spots(count: int, apart: float) -> list[Point]:
    """Return places on an ellipse, the first one left, neighbours so far apart."""
    if count == 1:
        return [(0.0, 0.0)]
    radius = apart / (2 * sin(pi / count))
    angles = [pi + 2 * pi * k / count for k in range(count)]
    return [(radius * cos(angle), max(70.0, 0.75 * radius) * sin(angle)) for angle in angles]


def _rows(label: str) -> list[str]:
    rows = wrap(label, WIDEST) or [""]
    return rows if len(rows) <= ROWS else [*rows[: ROWS - 1], rows[ROWS - 1][: WIDEST - 1] + "…"]


def _width(rows: list[str]) -> float:
    return max(map(len, rows)) * LETTER * 0.92


@define
class _Picture:
    """Shapes around the middle (0, 0), in layers, and how far they reach; states are `half` wide twice."""

    half: float
    lines: list[str] = field(factory=list)
    boxes: list[str] = field(factory=list)
    labels: list[str] = field(factory=list)
    reach: list[Point] = field(factory=list)

    def document(self) -> str:
        """Return the document: as large as what is in it."""
        xs, ys = [x for x, _ in self.reach], [y for _, y in self.reach]
        left, top = min(xs) - MARGIN, min(ys) - MARGIN
        width, height = max(xs) + MARGIN - left, max(ys) + MARGIN - top
        view = f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}"
        size = f'width="{width:.0f}" height="{height:.0f}" viewBox="{view}"'
        style = f'role="img" font-family="{FONT}" font-size="12"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
        return "\n".join([head, *self.lines, *self.boxes, *self.labels, "</svg>"])

    def state(self, x: float, y: float, text: str) -> None:
        """Draw a state."""
        left, top = x - self.half, y - HEIGHT / 2
        box = f'x="{left:.1f}" y="{top:.1f}" width="{2 * self.half:.1f}" height="{HEIGHT:.1f}" rx="12"'
        self.boxes.append(f'<rect {box} fill="{PAPER}" stroke="{EDGE}" stroke-width="1.3"/>')
        self.boxes.append(_text(x, y + 4, text, INK))
        self.reach += [(left, top), (x + self.half, y + HEIGHT / 2)]

    def start(self, spot: Point, above: bool) -> None:
        """Draw the arrow to the initial state: from the left, or from above if a loop is there."""
        x, y = spot
        if above:
            x, tip = x - self.half + 14, (x - self.half + 14, y - HEIGHT / 2)
            dot = x, y - HEIGHT / 2 - 30
        else:
            tip = x - self.half, y
            dot = x - self.half - 30, y
        self.lines.append(f'<circle cx="{dot[0]:.1f}" cy="{dot[1]:.1f}" r="5" fill="{LINE}"/>')
        self._curve(dot, dot, dot, tip)

    def arrow(self, a: Point, b: Point, by: float, rows: list[str]) -> None:
        """Draw an arrow between two states, bent to its left by so much."""
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = hypot(dx, dy)
        nx, ny = dy / length, -dx / length
        x, y = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
        bend = x + nx * by, y + ny * by
        tail, tip = _border(a, bend, self.half), _border(b, bend, self.half)
        self._curve(tail, _towards(tail, bend), _towards(tip, bend), tip)
        # the middle of the curve, and from there outwards by half of the label
        x, y = (tail[0] + tip[0]) / 4 + bend[0] / 2, (tail[1] + tip[1]) / 4 + bend[1] / 2
        away = abs(nx) * _width(rows) / 2 + abs(ny) * len(rows) * ROW / 2 + 3
        self._label(x + nx * away, y + ny * away, rows)

    def loop(self, spot: Point, rows: list[str]) -> None:
        """Draw an arrow from a state to itself, away from the middle."""
        x, y = spot
        high, wide = len(rows) * ROW / 2, _width(rows) / 2
        if abs(x) > 1.5 * abs(y) and x:
            side = 1 if x > 0 else -1
            edge = x + side * self.half
            far = edge + side * 42
            self._curve((edge, y - 9), (far, y - 22), (far, y + 22), (edge, y + 9))
            self._label(edge + side * (36 + wide), y, rows)
        else:
            side = 1 if y > 0 else -1
            edge = y + side * HEIGHT / 2
            far = edge + side * 40
            self._curve((x - 12, edge), (x - 26, far), (x + 26, far), (x + 12, edge))
            self._label(x, edge + side * (33 + high), rows)

    def _curve(self, a: Point, bend: Point, other: Point, b: Point) -> None:
        points = " ".join(f"{x:.1f} {y:.1f}" for x, y in (bend, other, b))
        path = f"M {a[0]:.1f} {a[1]:.1f} C {points}"
        self.lines.append(f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.3"/>')
        self.lines.append(_head(b, other))
        self.reach += [a, b]

    def _label(self, x: float, y: float, rows: list[str]) -> None:
        wide, top = _width(rows) / 2, y - len(rows) * ROW / 2
        self.labels += [_text(x, top + (k + 0.75) * ROW, row, LINE) for k, row in enumerate(rows)]
        self.reach += [(x - wide, top), (x + wide, top + len(rows) * ROW)]


def _head(tip: Point, origin: Point) -> str:
    """Return the head of an arrow that comes from a point."""
    dx, dy = tip[0] - origin[0], tip[1] - origin[1]
    length = hypot(dx, dy) or 1.0
    ux, uy = 8 * dx / length, 8 * dy / length
    left = tip[0] - ux - uy / 2, tip[1] - uy + ux / 2
    right = tip[0] - ux + uy / 2, tip[1] - uy - ux / 2
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, left, right))
    return f'<polygon points="{points}" fill="{LINE}"/>'


def _towards(a: Point, b: Point) -> Point:
    """Return the point that makes a cubic curve of the quadratic one with the control point b."""
    return a[0] / 3 + b[0] * 2 / 3, a[1] / 3 + b[1] * 2 / 3


def _border(spot: Point, towards: Point, half: float) -> Point:
    """Return where a line from a state's middle leaves its box."""
    dx, dy = towards[0] - spot[0], towards[1] - spot[1]
    scale = 1 / max(abs(dx) / half, abs(dy) / (HEIGHT / 2), 1e-9)
    return spot[0] + dx * scale, spot[1] + dy * scale


def _text(x: float, y: float, text: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{escape(text)}</text>'
