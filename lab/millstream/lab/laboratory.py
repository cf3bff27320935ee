"""The laboratory: experiments, the database of their results, and runs that can be stopped and continued."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from . import catalogue, machine
from .claims import Claim
from .experiment import Experiment
from .lock import measuring_alone
from .rows import Rows
from .runner import Runner
from .store import OPEN, STOPPED, Result, Run, Store

#: where results are kept if nothing else is said
FOLDER = Path("build/lab")
SEED = 2026


class Laboratory:
    """Experiments and what became of them.

    Parameters
    ----------
    folder
        Where the database and the reports are; ``build/lab`` if not given.
    more
        Modules, or Python files, with further experiments.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> lab = Laboratory(mkdtemp())
    >>> run = lab.plan(["engine"], quick=True)  # `lab.run` also performs it
    >>> [(result.experiment, result.status) for result in lab.store.results(run.id)]
    [('engine', 'waiting'), ('engine', 'waiting')]
    >>> lab.close()
    """

    def __init__(self, folder: Path | str = FOLDER, more: Iterable[str] = ()) -> None:
        self.folder = Path(folder)
        modules = catalogue.modules(str(Path(m).resolve()) if m.endswith(".py") else m for m in more)
        #: the experiments by name; modules that cannot be imported here, and why
        self.experiments, self.absent = catalogue.available(modules)
        self.store = Store(self.folder / "lab.sqlite")
        self.runner = Runner(self.store)

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    def plan(self, patterns: Sequence[str] = (), quick: bool = False, seed: int = SEED) -> Run:
        """Begin a run of the experiments whose names match (all of them): write its points down."""
        chosen = catalogue.choose(self.experiments, patterns)
        points = [(e.name, point) for e in chosen for point in e.points(quick)]
        if not points:
            raise LookupError("nothing to run: the experiments chosen have no part in a quick run")
        return self.store.run(self.store.begin(points, quick=quick, seed=seed, machine=machine.describe()))

    def run(
        self,
        patterns: Sequence[str] = (),
        *,
        quick: bool = False,
        seed: int = SEED,
        watch: Callable[[Result], None] = lambda result: None,
    ) -> Run:
        """Measure all points of the experiments whose names match (all of them); return the run."""
        run = self.plan(patterns, quick, seed)
        self.perform(run, watch)
        return run

    def resume(self, number: int | None = None, watch: Callable[[Result], None] = lambda result: None) -> Run:
        """Continue a run (the newest) that was stopped or killed; return it."""
        run = self.continued(number)
        self.perform(run, watch)
        return run

    def continued(self, number: int | None = None) -> Run:
        """Return a run (the newest) if it can be continued here."""
        run = self.store.run(number)
        if not machine.same(run.machine, machine.describe()):
            raise ValueError(
                f"run {run.id} was begun on another machine or with other software ({run.machine}); "
                "figures are compared within one run, so begin a new one"
            )
        return run

    def perform(self, run: Run, watch: Callable[[Result], None] = lambda result: None) -> None:
        """Measure what is left of a run; `watch` is told whenever something changes about a point."""
        self.runner.stopping.clear()
        self.runner.watch = watch
        with measuring_alone(self.folder):
            for result in self.store.results(run.id, *OPEN):
                if self.runner.perform(run, result, self._experiment(result.experiment)) == STOPPED:
                    return

    def _experiment(self, name: str) -> Experiment:
        if name not in self.experiments:
            raise LookupError(
                f"the run has an experiment {name!r} that is not here any more: name its module"
            )
        return self.experiments[name]

    def stop(self) -> None:
        """Stop what is running; `resume` continues it."""
        self.runner.stopping.set()

    # What became of them

    def rows(self, run: Run, experiment: str) -> Rows:
        """Return the rows of an experiment in a run."""
        return self.store.rows(run.id, experiment)

    def claims(self, run: Run) -> dict[str, list[Claim]]:
        """Return what became of the claims of all experiments that have a part in a run."""
        return {e.name: e.claims(self.rows(run, e.name)) for e in self.taking_part(run) if e.claimed}

    def taking_part(self, run: Run) -> list[Experiment]:
        """Return the experiments that have a part in a run and are still there."""
        names = {result.experiment for result in self.store.results(run.id)}
        return [e for name, e in self.experiments.items() if name in names]
