"""The engine against the obvious implementation: one row for each workload, all forms in turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.processors import Query, X

from .claims import Claim, claim
from .experiment import experiment
from .plots import bars
from .rows import Row, Rows
from .trial import Trial
from .workloads import fork_filter_sum, numbers, workloads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = [workload.name for workload in workloads()]


@experiment(
    group="The engine",
    parameters={"workload": NAMES, "events": [200_000]},
    quick={"workload": ["five functions, expressions", "fork-filter-sum"], "events": [50_000]},
    repetitions=5,
)
def engine(trial: Trial, workload: str, events: int) -> None:
    """Push and pull against a naive implementation.

    The opponent (`millstream.lab.naive`) has a queue for each input and a virtual compute method, as one
    would write it. All forms run in one process and take turns. Percentiles are of single pushes.
    """
    chosen = next(w for w in workloads() if w.name == workload)
    data = numbers(events, trial.seed)
    forms = {"naive": chosen.run_naive, "push": chosen.run_push, "pull": chosen.run_pull}
    results = trial.compare({n: lambda run=run: run(data) for n, run in forms.items()}, events)  # type: ignore[misc]
    trial.latency(chosen.query.into([]).push, data)
    trial.check(results["naive"] == results["push"] == results["pull"], "the forms give different outputs")


@engine.table("Events per second, and ratios to the naive form")
def ratios(rows: Rows) -> list[Row]:
    """Leave out what is the same in all rows."""
    hidden = ("events", "memory MB", "p90 us", "p99.9 us")
    return [{k: v for k, v in row.items() if k not in hidden} for row in rows]


@engine.plot("Times the naive form")
def times(rows: Rows, figure: Figure) -> None:
    """Draw the ratios."""
    bars(figure, rows, "workload", ["push / naive", "pull / naive"], "times the naive form")


@engine.claim
def faster(rows: Rows) -> Claim:
    """Every workload is at least 5 times as fast as the naive form, pushed and pulled."""
    least = min(rows.column("push / naive") + rows.column("pull / naive"))
    return claim(
        "all workloads: 5 times as fast as the naive form", least >= 5, f"{least:.1f} times at least"
    )


@engine.drawing("fork-filter-sum")
def query() -> Query:
    """Draw one of the workloads."""
    return fork_filter_sum(X % 2 == 0)
