"""What there is to see of a run: the reports, the page and the terminal all show this."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from .cells import grid
from .claims import Claim
from .experiment import Experiment
from .laboratory import Laboratory
from .rows import Rows
from .store import DONE, OPEN, Result, Run


@frozen
class Table:
    """A table as text."""

    title: str
    heads: list[str]
    cells: list[list[str]]


@frozen
class ExperimentView:
    """One experiment in one run."""

    experiment: Experiment
    results: list[Result]
    rows: Rows
    tables: list[Table]
    claims: list[Claim]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many points there are in each state."""
        return dict(Counter(result.status for result in self.results))

    @property
    def troubles(self) -> list[Result]:
        """Return the points that ended in another way than done."""
        return [result for result in self.results if result.status not in (DONE, *OPEN)]

    @property
    def seconds(self) -> float:
        """Return how long its points took."""
        return sum(result.seconds or 0.0 for result in self.results)


@frozen
class RunView:
    """A whole run."""

    run: Run
    experiments: list[ExperimentView]

    @property
    def claims(self) -> list[tuple[str, Claim]]:
        """Return all claims, each with the name of its experiment."""
        return [(view.experiment.name, claim) for view in self.experiments for claim in view.claims]

    @property
    def outcomes(self) -> dict[str, int]:
        """Return how many claims there are of each outcome."""
        return dict(Counter(claim.outcome for _, claim in self.claims))

    @property
    def counts(self) -> dict[str, int]:
        """Return how many points there are in each state."""
        return dict(sum((Counter(view.counts) for view in self.experiments), Counter[str]()))


def view_experiment(lab: Laboratory, run: Run, experiment: Experiment) -> ExperimentView:
    """Look at one experiment of a run."""
    rows = lab.rows(run, experiment.name)
    tables = [Table(title, *grid(made)) for title, made in experiment.made(rows).items()] if len(rows) else []
    results = [r for r in lab.store.results(run.id) if r.experiment == experiment.name]
    return ExperimentView(experiment, results, rows, tables, experiment.claims(rows))


def view_run(lab: Laboratory, run: Run) -> RunView:
    """Look at a run."""
    return RunView(run, [view_experiment(lab, run, e) for e in lab.taking_part(run)])
