"""The pictures of a run: plots of experiments, loads over time, and drawings of queries."""

from __future__ import annotations

from collections.abc import Iterator

from .experiment import Experiment, Point
from .laboratory import Laboratory
from .plots import load_over_time, render
from .rows import Missing
from .store import Run


def plot(lab: Laboratory, run: Run, experiment: Experiment, title: str, form: str, theme: str) -> bytes:
    """Return one plot of an experiment; raise `Missing` while there is nothing to draw."""
    rows = lab.rows(run, experiment.name)
    if not len(rows):
        raise Missing(f"{experiment.name} has no figures yet")
    return render(lambda figure: experiment.plots[title](rows, figure), form, theme)


def varying(point: Point, others: list[Point]) -> str:
    """Name a point by those of its parameters that are not the same everywhere.

    >>> varying({"n": 10, "form": "push"}, [{"n": 10, "form": "push"}, {"n": 10, "form": "pull"}])
    'push'
    """
    return ", ".join(str(v) for k, v in point.items() if any(o.get(k) != v for o in others))


def load(lab: Laboratory, run: Run, experiment: Experiment, form: str, theme: str) -> bytes:
    """Return the load of the cores while an experiment ran; raise `Missing` when nothing was sampled."""
    results = [r for r in lab.store.results(run.id) if r.experiment == experiment.name]
    parts = [(varying(r.point, [r.point for r in results]), lab.store.samples(r.id)) for r in results]
    return render(lambda figure: load_over_time(figure, parts), form, theme)


def pictures(
    lab: Laboratory, run: Run, experiment: Experiment, form: str, theme: str
) -> Iterator[tuple[str, bytes]]:
    """Yield all pictures that there is something to draw for, with their titles; drawings not among them."""
    for title in experiment.plots:
        try:
            yield title, plot(lab, run, experiment, title, form, theme)
        except Missing:
            continue
    try:
        yield "CPU load over time", load(lab, run, experiment, form, theme)
    except Missing:
        return


def drawings(experiment: Experiment) -> dict[str, str]:
    """Return the drawn queries of an experiment, as SVG by title."""
    return {title: make().draw().svg for title, make in experiment.drawings.items()}
