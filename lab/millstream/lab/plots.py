"""Drawing rows: lines, bars, and the load of the cores over time.

Figures are made without pyplot, which keeps every figure until it is told not to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any

from .rows import Missing, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: colours that are told apart by most people, on both grounds
COLOURS = ("#3b78d8", "#e08214", "#3a9a6a", "#c2497f", "#7b61c9", "#8c6d31", "#2aa3b3", "#b23b3b")
INK = {"light": "#1d2733", "dark": "#dbe3ec"}
GROUND = {"light": "#ffffff", "dark": "#151b22"}
METADATA: dict[str, Any] = {"svg": {"Date": None}, "png": None}
#: matplotlib's settings are those of the whole process: one thread draws at a time
STYLING = Lock()
FAINT = {"light": "#dfe5ec", "dark": "#34404d"}


def lines(
    figure: Figure, rows: Iterable[Row], x: str, ys: Sequence[str], label: str = "", *,
    by: str | None = None, log: str = "", dashed: Sequence[str] = (),
) -> Axes:  # fmt: skip
    """Draw figures against another one: a line for each of `ys` and each value of `by`.

    Axes named in `log` ("x", "y", "xy") are logarithmic; `dashed` are columns with a paper's figures.
    """
    rows, axes = _present(rows, [x, *ys]), figure.subplots()
    for value in dict.fromkeys(row.get(by) if by else None for row in rows):
        for y in ys:
            points = [
                (row[x], row[y]) for row in rows if (not by or row.get(by) == value) and _has(row, x, y)
            ]
            words = [str(value)] if by else []
            words += [y] if len(ys) > 1 or not by else []
            style: dict[str, Any] = {"linestyle": "--", "marker": "x"} if y in dashed else {"marker": "o"}
            if points:
                axes.plot(*zip(*points, strict=True), label=" ".join(words), **style)
    for axis in log:
        getattr(axes, f"set_{axis}scale")("log")
    _label(axes, x, label or ys[0], len(axes.lines))
    return axes


def bars(
    figure: Figure, rows: Iterable[Row], x: str, ys: Sequence[str], label: str = "", *, log: bool = False
) -> Axes:
    """Draw groups of bars: one group for each row, one bar for each of `ys`."""
    rows, axes = _present(rows, [x, *ys]), figure.subplots()
    figure.set_figheight(max(2.2, 0.9 + len(rows) * (0.22 + 0.2 * len(ys))))
    width = 0.8 / len(ys)
    for k, y in enumerate(ys):
        places = [n + (k - (len(ys) - 1) / 2) * width for n in range(len(rows))]
        axes.barh(places, [row[y] if _has(row, y) else 0 for row in rows], width, label=y)
    axes.set_yticks(range(len(rows)), [str(row[x]) for row in rows])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    if log:
        axes.set_xscale("log")
    _label(axes, label or ys[0], "", len(ys))
    return axes


def load_over_time(figure: Figure, parts: Sequence[tuple[str, Sequence[Any]]]) -> Axes:
    """Draw the load of each core over time, one part of the run after the other; each has a name and samples.

    As in Figure 1 of *Event Stream Processing with Multiple Threads*: what one thread leaves unused shows at
    a glance beside what several use.
    """
    axes, begin = figure.subplots(), 0.0
    parts = [(name, samples) for name, samples in parts if samples]
    if not parts:
        raise Missing("no point took long enough for a sample of the load")
    for name, samples in parts:
        times = [begin + sample.time for sample in samples]
        for core, loads in enumerate(zip(*(sample.loads for sample in samples), strict=True)):
            named = f"core {core + 1}" if begin == 0 and core < 8 else None
            colour = COLOURS[core % len(COLOURS)]
            axes.plot(times, [100 * load for load in loads], color=colour, linewidth=1.2, label=named)
        own = [100 * sample.own for sample in samples]
        label = "experiment, of all cores" if begin == 0 else None
        axes.fill_between(times, own, color=COLOURS[-2], alpha=0.25, linewidth=0, label=label)
        if len(parts) <= 8:
            label = f" {name if len(name) <= 40 else name[:38] + '…'}"
            axes.text(begin, 103, label, fontsize=7, rotation=12, va="bottom", in_layout=False)
        if begin:
            axes.axvline(begin, linewidth=0.8, linestyle=":", color="#888888")
        begin = times[-1]
    axes.set_ylim(0, 130 if len(parts) <= 8 else 102)
    axes.set_yticks(range(0, 101, 20))
    _label(axes, "seconds", "load of each core, %", 2)
    return axes


def _label(axes: Axes, x: str, y: str, entries: int) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if entries > 1 and (figure := axes.get_figure()) is not None:
        figure.legend(frameon=False, fontsize=8, loc="outside upper right", ncols=4)


def _has(row: Row, *names: str) -> bool:
    return all(isinstance(row.get(name), int | float) for name in names)


def _present(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """Return the rows that have something to draw."""
    present = [row for row in rows if names[0] in row and any(_has(row, name) for name in names[1:])]
    if not present:
        raise Missing(f"no row has {names[0]!r} and one of {list(names[1:])}")
    return present


def render(draw: Callable[[Figure], Any], form: str = "svg", theme: str = "light") -> bytes:
    """Draw a figure; return it as SVG or PNG, for light or dark ground.

    >>> render(lambda figure: bars(figure, [{"n": "a", "Hz": 3}], "n", ["Hz"]))[:5]
    b'<?xml'
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with STYLING, rc_context(style(theme)):  # type: ignore[arg-type]
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        draw(figure)
        out = BytesIO()
        ground = "none" if form == "svg" else GROUND[theme]
        figure.savefig(out, format=form, dpi=144, facecolor=ground, metadata=METADATA[form])
    return out.getvalue()


def style(theme: str) -> dict[str, Any]:
    """Return matplotlib's settings for light or dark ground."""
    from cycler import cycler

    ink, faint = INK[theme], FAINT[theme]
    return {
        "axes.prop_cycle": cycler(color=COLOURS), "axes.edgecolor": faint, "axes.labelcolor": ink,
        "text.color": ink, "xtick.color": ink, "ytick.color": ink, "grid.color": faint, "axes.grid": True,
        "axes.axisbelow": True, "axes.facecolor": "none", "axes.spines.top": False,
        "axes.spines.right": False, "font.size": 9, "lines.markersize": 4,
        "svg.fonttype": "none", "svg.hashsalt": "millstream",
    }  # fmt: skip
