"""SVG of a state diagram: states on a circle, arrows bent so that two between the same states do not meet."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import cos, hypot, pi, sin

LINE, INK, PAPER, EDGE = "#7c8798", "#1d2733", "#f3f7fc", "#5b7ba6"
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
HEIGHT, LETTER, BEND = 30.0, 7.4, 34.0
LONGEST = 44  # characters of a label that are shown
Point = tuple[float, float]


def svg(boxes: list[str], arrows: list[tuple[int, int, str]]) -> str:
    """Return states (their texts; the first is the initial one) and arrows as an SVG document.

    >>> svg(["a"], [(0, 0, "x")]).count("<path")
    2
    """
    texts = [_short(t) for t in boxes]
    half = max(len(t) for t in texts) * LETTER / 2 + 10
    radius = max(90.0, len(texts) * (half + 30) / pi) if len(texts) > 1 else 0.0
    middle = radius + half + 110, radius + 90
    spots = [_around(middle, radius, k, len(texts)) for k in range(len(texts))]
    width, height = 2 * middle[0], 2 * middle[1]
    parts = [*_start(spots[0], half)]
    for a, b, label in arrows:
        parts += _loop(spots[a], middle, label) if a == b else _arrow(spots[a], spots[b], half, label)
    for (x, y), text in zip(spots, texts, strict=True):
        parts += _state(x, y, half, text)
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}" font-size="12">'
    return "\n".join([head, *parts, "</svg>"])


def _around(middle: Point, radius: float, k: int, count: int) -> Point:
    angle = pi + 2 * pi * k / count
    return middle[0] + radius * cos(angle), middle[1] + radius * sin(angle)


def _state(x: float, y: float, half: float, text: str) -> Iterator[str]:
    box = f'x="{x - half:.1f}" y="{y - HEIGHT / 2:.1f}" width="{2 * half:.1f}" height="{HEIGHT:.1f}" rx="12"'
    yield f'<rect {box} fill="{PAPER}" stroke="{EDGE}" stroke-width="1.3"/>'
    yield _text(x, y + 4, text, INK)


def _start(spot: Point, half: float) -> Iterator[str]:
    x, y = spot[0] - half, spot[1]
    yield f'<circle cx="{x - 34:.1f}" cy="{y:.1f}" r="5" fill="{LINE}"/>'
    yield from _curve((x - 29, y), (x - 15, y), (x, y))


def _arrow(a: Point, b: Point, half: float, label: str) -> Iterator[str]:
    """Yield an arrow between two states, bent to its left."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = hypot(dx, dy) or 1.0
    bend = (a[0] + b[0]) / 2 + dy / length * BEND, (a[1] + b[1]) / 2 - dx / length * BEND
    yield from _curve(_border(a, bend, half), bend, _border(b, bend, half))
    yield _text((a[0] + b[0]) / 4 + bend[0] / 2, (a[1] + b[1]) / 4 + bend[1] / 2, _short(label), LINE)


def _loop(spot: Point, middle: Point, label: str) -> Iterator[str]:
    """Yield an arrow from a state to itself, away from the middle."""
    x, y = spot
    side = 1 if y > middle[1] + 1 else -1
    top = y + side * HEIGHT / 2
    path = (
        f"M {x - 12:.1f} {top:.1f} C {x - 26:.1f} {top + side * 40:.1f} {x + 26:.1f} {top + side * 40:.1f} "
    )
    yield f'<path d="{path}{x + 12:.1f} {top:.1f}" fill="none" stroke="{LINE}" stroke-width="1.3"/>'
    yield _head((x + 12, top), (x + 20, top + side * 20))
    yield _text(x, top + side * 38 + (4 if side > 0 else 0), _short(label), LINE)


def _curve(a: Point, bend: Point, b: Point) -> Iterator[str]:
    path = f"M {a[0]:.1f} {a[1]:.1f} Q {bend[0]:.1f} {bend[1]:.1f} {b[0]:.1f} {b[1]:.1f}"
    yield f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.3"/>'
    yield _head(b, bend)


def _head(tip: Point, origin: Point) -> str:
    """Return the head of an arrow that comes from a point."""
    dx, dy = tip[0] - origin[0], tip[1] - origin[1]
    length = hypot(dx, dy) or 1.0
    ux, uy = 8 * dx / length, 8 * dy / length
    corners = [
        tip,
        (tip[0] - ux - uy / 2, tip[1] - uy + ux / 2),
        (tip[0] - ux + uy / 2, tip[1] - uy - ux / 2),
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polygon points="{points}" fill="{LINE}"/>'


def _border(spot: Point, towards: Point, half: float) -> Point:
    """Return where a line from a state's middle leaves its box."""
    dx, dy = towards[0] - spot[0], towards[1] - spot[1]
    scale = 1 / max(abs(dx) / half, abs(dy) / (HEIGHT / 2), 1e-9)
    return spot[0] + dx * scale, spot[1] + dy * scale


def _text(x: float, y: float, text: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{colour}">{escape(text)}</text>'


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
