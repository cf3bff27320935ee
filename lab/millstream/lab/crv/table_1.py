"""Table 1 of the paper on multiple threads: throughput and load of the competition's problems."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from millstream.lab.claims import Claim, claim
from millstream.lab.experiment import experiment
from millstream.lab.plots import bars
from millstream.lab.rows import Missing, Row, Rows
from millstream.lab.trial import Trial
from millstream.processors import Query

from . import PROBLEMS
from .problem import Problem, Trace
from .published import TABLE_1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ["auction", "candidates", "injection", "bashing", "creation", "turnaround", "iterators"]
PINGUS = ("bashing", "creation", "turnaround")

#: strategy -> version
STRATEGIES = {"None": "query", "Multi-threaded": "workers", "columns": "columns", "Spark": "spark"}


def version_of(problem: Problem, strategy: str) -> str:
    """Return the version for a strategy. Snapshots are read only as far as needed."""
    version = STRATEGIES[strategy]
    return "text" if version == "query" and "text" in problem.versions else version


def strategies_for(problem: Problem, quick: bool) -> list[str]:
    """Return the strategies that a problem has here; Spark takes too long to start for a quick run."""
    found = [s for s in STRATEGIES if version_of(problem, s) in ("query", *problem.versions)]
    if quick or find_spec("pyspark") is None or not (os.environ.get("JAVA_HOME") or which("java")):
        found.remove("Spark")
    return found


@contextmanager
def written(trace: Trace) -> Iterator[Path]:
    """Give a file with a trace, for the time being."""
    with TemporaryDirectory(prefix="millstream-crv-") as folder:
        path = Path(folder) / trace.problem.name
        trace.write(path)
        yield path


def check_faults(trial: Trial, problem: Problem, strategies: list[str]) -> int:
    """Check that each strategy finds each fault at the stated event; return how many verdicts that were."""
    length, number = 200 if problem.name in PINGUS else 2_000, 0
    for fault in problem.faults:
        trace = problem.trace(length, trial.seed, fault)
        stated = trace.violation
        with written(trace) as path:
            for strategy in strategies:
                version = version_of(problem, strategy)
                found = problem.verdict(version, path)
                trial.check(
                    found == stated,
                    f"{problem.name}, {version}: {problem.faults[fault]} at event {stated}, found at {found}",
                )
                number += 1
    return number


@experiment(
    group="Multiple threads: the CRV problems",
    parameters={"problem": NAMES, "size": ["medium"]},
    quick={"size": ["quick"]},
    repetitions=3,
    limit=1200,
)
def crv(trial: Trial, problem: str, size: str) -> None:
    """The problems of the Competition on Runtime Verification 2016, from files of text.

    Every version reads the trace from its file, and its verdict is checked on this trace and on traces with
    each fault that the problem knows. "None" is the query, event by event; "Multi-threaded" has one worker
    for each processor (processes, where only one thread runs Python at a time); "columns" are arrays;
    "Spark" has two tasks on this machine, and is left out of a quick run.
    """
    chosen = PROBLEMS[problem]
    strategies = strategies_for(chosen, trial.quick)
    here = [s for s in strategies if s not in ("Multi-threaded", "Spark")]
    checked = check_faults(trial, chosen, here if trial.quick else strategies)
    trace = chosen.trace(size, trial.seed)
    with written(trace) as path:
        for strategy in strategies:
            measure(trial, chosen, strategy, path, trace.events, checked)


def measure(trial: Trial, problem: Problem, strategy: str, path: Path, events: int, checked: int) -> None:
    """Measure one strategy; workers are there before the clock starts."""
    from millstream.concurrency import ThreadManager
    from millstream.concurrency.manager import cores

    version = version_of(problem, strategy)
    labels: dict[str, Any] = {"strategy": strategy, "query": problem.title, "faults found": checked}
    if strategy != "Multi-threaded":
        verdict = trial.measure(lambda: problem.verdict(version, path), events, **labels)
    else:
        with ThreadManager(cores(), "auto") as manager:
            verdict = trial.measure(lambda: problem.verdict(version, path, manager=manager), events, **labels)
    trial.check(verdict is None, f"{problem.name}, {version}: a valid trace is violated at {verdict}")


@crv.table("Table 1: throughput and load, beside the paper's")
def table(rows: Rows) -> list[Row]:
    """Put the paper's figures beside ours."""
    found = []
    for row in rows:
        paper = TABLE_1.get(row["problem"], {}).get(row["strategy"])
        beside = {"paper Hz": paper.hz, "paper load": paper.load} if paper else {}
        names = {"Hz": row["Hz"], "load": row["load"], "own load": row["own load"]}
        times = {"times": row["Hz"] / paper.hz} if paper else {}
        found.append({"problem": row["problem"], "strategy": row["strategy"], **names, **beside, **times})
    return found


@crv.plot("Events per second")
def rates(rows: Rows, figure: Figure) -> None:
    """Draw the strategies side by side."""
    by_problem = [
        {"Query": PROBLEMS[name].title}
        | {s: r["Hz"] for s in STRATEGIES for r in rows.where(problem=name, strategy=s)}
        for name in NAMES
        if rows.where(problem=name)
    ]
    bars(figure, by_problem, "Query", [*STRATEGIES], "events per second", log=True)


def _drawn(name: str) -> None:
    @crv.drawing(PROBLEMS[name].title)
    def query() -> Query:
        return PROBLEMS[name].query()


for _name in NAMES[:6]:
    _drawn(_name)


def gains(rows: Rows) -> dict[str, tuple[float, float]]:
    """Return by how much several workers raise throughput and load, for each problem of the paper."""
    found = {}
    for name in TABLE_1:
        if rows.where(problem=name):
            one, several = (rows.one(problem=name, strategy=s) for s in ("None", "Multi-threaded"))
            found[name] = several["Hz"] / one["Hz"], several["own load"] / one["own load"]
    if not found:
        raise Missing("none of the problems has been measured")
    return found


def paper_gains() -> dict[str, tuple[float, float]]:
    """Return the same of the paper's table.

    >>> {name: round(hz, 2) for name, (hz, load) in paper_gains().items()}
    {'auction': 1.07, 'candidates': 4.44, 'bashing': 1.45, 'creation': 1.05, 'turnaround': 1.86}
    """
    return {
        name: (both["Multi-threaded"].hz / both["None"].hz, both["Multi-threaded"].load / both["None"].load)
        for name, both in TABLE_1.items()
    }


def said(gain: dict[str, tuple[float, float]], which: int) -> str:
    """Write gains one after the other."""
    return ", ".join(f"{PROBLEMS[name].title} {both[which]:.2f}" for name, both in gain.items())


@crv.claim
def threads(rows: Rows) -> list[Claim]:
    """Several workers raise throughput and load of every problem."""
    ours, paper = gains(rows), paper_gains()
    average = [mean(both[k] for both in ours.values()) for k in (0, 1)]
    theirs = [mean(both[k] for both in paper.values()) for k in (0, 1)]
    return [
        claim(
            "several workers raise the throughput of every problem",
            min(hz for hz, _ in ours.values()) > 1,
            said(ours, 0),
            said(paper, 0),
        ),
        claim("... by a factor of 2.0 on average", average[0] >= 2, f"{average[0]:.2f}", f"{theirs[0]:.2f}"),
        claim("... and the load by 1.7", average[1] >= 1.7, f"{average[1]:.2f}", f"{theirs[1]:.2f}"),
        claim(
            "the gain is dramatic for Auction (the paper's text; its table says Candidate selection)",
            ours["auction"][0] >= 2 if "auction" in ours else None,
            said(ours, 0),
            said({n: paper[n] for n in ("auction", "candidates")}, 0),
        ),
    ]


@crv.claim
def faster(rows: Rows) -> Claim:
    """One thread of ours is faster than several of the paper's, on every problem."""
    ours = {
        name: rows.one(problem=name, strategy="None")["Hz"] / both["Multi-threaded"].hz
        for name, both in TABLE_1.items()
        if rows.where(problem=name)
    }
    if not ours:
        raise Missing("none of the problems has been measured")
    words = ", ".join(f"{PROBLEMS[name].title} {times:.0f}" for name, times in ours.items())
    return claim(
        "one thread of ours is faster than several of the paper's (2017, other machine, other traces)",
        min(ours.values()) > 1,
        f"times: {words}",
    )
