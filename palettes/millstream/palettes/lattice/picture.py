"""The picture of a lattice of two processes, as in Figures 1 to 3 of the paper, as SVG text.

Process 1 runs to the right and process 2 upward; dots are consistent global states, crosses inconsistent
ones, lines the steps of one process. The gray square is the window; C_min and C_max are ringed.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.sax.saxutils import escape

from .cuts import Cut
from .value import Lattice

Place = Callable[[Cut], tuple[int, int]]
STEP = 40
MARGIN = 50


def draw(lattice: Lattice) -> str:
    """Return the picture as an SVG document.

    Examples
    --------
    >>> picture = draw(Lattice(("p", "q"), ((0, 1), (0, 1)), frozenset({(0, 0), (0, 1), (1, 1)})))
    >>> picture.count("<circle"), picture.count('class="cross"'), picture.count("<line")
    (5, 1, 2)
    """
    if len(lattice.processes) != 2:
        raise ValueError(f"only lattices of 2 processes can be drawn, this one has {len(lattice.processes)}")
    (low, high), (below, above) = lattice.bounds
    width, height = 2 * MARGIN + STEP * max(high - low, 0), 2 * MARGIN + STEP * max(above - below, 0)

    def at(state: Cut) -> tuple[int, int]:
        return MARGIN + STEP * (state[0] - low), height - MARGIN - STEP * (state[1] - below)

    grid: list[Cut] = [(i, j) for i in range(low, high + 1) for j in range(below, above + 1)]
    parts = [_frame(width, height), *_edges(lattice, at), *_marks(lattice, grid, at)]
    parts += _labels(lattice, width, height)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return f"{head}{''.join(parts)}</svg>"


def _frame(width: int, height: int) -> str:
    edge = MARGIN - STEP // 2
    return (
        f'<rect x="{edge}" y="{edge}" width="{width - 2 * edge}" height="{height - 2 * edge}"'
        ' fill="#eee" stroke="#999"/>'
    )


def _edges(lattice: Lattice, at: Place) -> list[str]:
    lines = ((at(a), at(b)) for a, b in lattice.edges())
    return [f'<line x1="{x}" y1="{y}" x2="{u}" y2="{v}" stroke="black"/>' for (x, y), (u, v) in lines]


def _marks(lattice: Lattice, grid: list[Cut], at: Place) -> list[str]:
    """Draw a dot or a cross at each global state, and a ring around both ends."""
    marks = []
    for state in grid:
        x, y = at(state)
        name = f"<title>{state}</title>"
        if state in lattice:
            marks.append(f'<circle cx="{x}" cy="{y}" r="5">{name}</circle>')
        else:
            cross = f"M{x - 4} {y - 4}l8 8M{x + 4} {y - 4}l-8 8"
            marks.append(f'<path class="cross" d="{cross}" stroke="#c33">{name}</path>')
    ends = [
        (name, end) for name, end in (("C_min", lattice.bottom), ("C_max", lattice.top)) if end is not None
    ]
    for name, end in ends:
        x, y = at(end)
        marks.append(
            f'<circle cx="{x}" cy="{y}" r="9" fill="none" stroke="#06c"><title>{name}</title></circle>'
        )
    return marks


def _labels(lattice: Lattice, width: int, height: int) -> list[str]:
    """Name the axes and number the local states."""
    (low, high), (below, above) = lattice.bounds
    right, up = map(escape, lattice.processes)
    parts = [f'<text x="{width - MARGIN}" y="{height - 6}" text-anchor="end">{right}</text>']
    parts.append(f'<text x="6" y="{MARGIN - 30}">{up}</text>')
    for number in range(low, high + 1):
        x = MARGIN + STEP * (number - low)
        parts.append(f'<text x="{x}" y="{height - 18}" text-anchor="middle">{number}</text>')
    for number in range(below, above + 1):
        y = height - MARGIN - STEP * (number - below) + 4
        parts.append(f'<text x="16" y="{y}" text-anchor="middle">{number}</text>')
    return parts
