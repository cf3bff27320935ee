"""Drawing rows: lines, bars, and the load of the cores over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .rows import Missing, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def lines(
    figure: Figure, rows: Iterable[Row], x: str, ys: Sequence[str], label: str = "", *,
    by: str | None = None, log: str = "", dashed: Sequence[str] = (),
) -> Axes:  # fmt: skip
    """Draw figures against another one: a line for each of `ys` and each value of `by`.

    Axes named in `log` ("x", "y", "xy") are logarithmic; `dashed` are the columns of a paper.
    """
    rows, axes = _present(rows, [x, *ys]), figure.subplots()
    for value in dict.fromkeys(row.get(by) if by else None for row in rows):
        for y in ys:
            points = [
                (row[x], row[y]) for row in rows if (not by or row.get(by) == value) and _has(row, x, y)
            ]
            name = " ".join(
                str(part) for part in (value if by else None, y if len(ys) > 1 else None) if part is not None
            )
            style: dict[str, Any] = {"linestyle": "--", "marker": "x"} if y in dashed else {"marker": "o"}
            axes.plot(*zip(*points, strict=True), label=name or y, **style)
    for axis in log:
        getattr(axes, f"set_{axis}scale")("log")
    axes.set_xlabel(x)
    axes.set_ylabel(label or ys[0])
    if len(axes.lines) > 1:
        axes.legend()
    return axes


def bars(
    figure: Figure, rows: Iterable[Row], x: str, ys: Sequence[str], label: str = "", *, log: bool = False
) -> Axes:
    """Draw groups of bars: one group for each row, one bar for each of `ys`."""
    rows, axes = _present(rows, [x, *ys]), figure.subplots()
    width = 0.8 / len(ys)
    for k, y in enumerate(ys):
        places = [n + (k - (len(ys) - 1) / 2) * width for n in range(len(rows))]
        axes.barh(places, [row.get(y) or 0 for row in rows], width, label=y)
    axes.set_yticks(range(len(rows)), [str(row[x]) for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(label or ys[0])
    if log:
        axes.set_xscale("log")
    if len(ys) > 1:
        axes.legend()
    return axes


def _has(row: Row, *names: str) -> bool:
    return all(isinstance(row.get(name), int | float) for name in names)


def _present(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """Return the rows that have something to draw."""
    present = [row for row in rows if names[0] in row and any(name in row for name in names[1:])]
    if not present:
        raise Missing(f"no row has {names[0]!r} and one of {list(names[1:])}")
    return present
