"""How fast the problems are decided: against Java, as traces grow, at the competition's size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import add
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from millstream.lab.claims import Claim, claim
from millstream.lab.experiment import experiment
from millstream.lab.plots import lines
from millstream.lab.rows import Missing, Row, Rows
from millstream.lab.trial import Trial
from millstream.processors import Apply, Count, Cumulate, E, Fork, Query, X, Y

from . import PROBLEMS, bashing, candidates, creation, turnaround
from .game import Game
from .pingus import PingusXml
from .published import CHALLENGE, JAVA
from .table_1 import measure, strategies_for, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "Multiple threads: the CRV problems"

# Against Java


def logged(name: str, events: int) -> Callable[[Trial], None]:
    """Return the measurement of a log in all its versions: from events in memory, and from the file."""

    def run(trial: Trial) -> None:
        problem = PROBLEMS[name]
        trace = problem.trace(events, trial.seed)
        kept = list(trace)
        trial.measure(lambda: problem.check(kept), events, strategy="events in memory")
        with written(trace) as path:
            for strategy in strategies_for(problem, quick=True):
                measure(trial, problem, strategy, path, events, 0)

    return run


def elected(voters: int, judge: Callable[[Iterable[Any]], Any]) -> Callable[[Trial], None]:
    """Return the measurement of candidate selection with so many voters, on events in memory."""

    def run(trial: Trial) -> None:
        each = candidates.CANDIDATES + 1
        events = candidates.PARTIES * candidates.CANDIDATES + voters * each
        traces = 20_000 // events
        kept = [list(PROBLEMS["candidates"].trace(events, trial.seed + k)) for k in range(traces)]
        query = candidates.query()
        found = trial.measure(
            lambda: [judge(query(trace)) for trace in kept], traces * events, strategy="events in memory"
        )
        trial.check(all(found), "a valid trace is violated at its end")

    return run


def last(verdicts: Iterable[Any]) -> Any:
    """Return the last verdict."""
    verdict = True
    for verdict in verdicts:  # noqa: B007
        pass
    return verdict


def snapshots(text: Any, characters: int, ticks: int) -> Callable[[Trial], None]:
    """Return the measurement of a property of snapshots, from XML text."""

    def run(trial: Trial) -> None:
        game = Game(ticks, Random(trial.seed), characters)
        with TemporaryDirectory(prefix="millstream-crv-") as folder:
            path = Path(folder) / "game.xml"
            PingusXml().write(path, game.play())
            verdict = trial.measure(lambda: text.one(path), ticks, strategy="from text")
        trial.check(verdict is None, f"a valid game is violated at {verdict}")

    return run


def average(trial: Trial) -> None:
    """Measure the average of a column of a CSV file, row by row and by columns."""
    from millstream.palettes.columns import columnar, read_csv

    rows = 200_000 if trial.quick else 2_000_000
    numbers = [trial.random.randrange(1000) for _ in range(rows)]
    with TemporaryDirectory(prefix="millstream-crv-") as folder:
        path = Path(folder) / "numbers.csv"
        path.write_text("kind,value\n" + "".join(f"a,{n}\n" for n in numbers))
        query = columnar(running_average())
        found = trial.measure(
            lambda: last(query(read_csv(path, columns=["value"])))["value"][-1].as_py(),
            rows,
            strategy="columns",
        )
    trial.check(abs(found - sum(numbers) / rows) < 1e-9, f"the average is {found}")


def running_average() -> Query:
    """Return the average of the values so far."""
    return Apply(E.value) | Fork(2) | (Cumulate(add) & Count()) | Apply(X / Y)


CASES: dict[str, Callable[[Trial], None]] = {
    "auction": logged("auction", 400_000),
    "injection": logged("injection", 1_000_000),
    "candidates, verdict at the end, 100 voters": elected(100, last),
    "candidates, verdict at every event, 20 voters": elected(20, lambda verdicts: list(verdicts)[-1]),
    "bashing, from XML text, 20 characters": snapshots(bashing.TEXT, 20, 4_000),
    "creation, from XML text, 20 characters": snapshots(creation.TEXT, 20, 4_000),
    "turnaround, from XML text, 10 characters": snapshots(turnaround.TEXT, 10, 4_000),
    "CSV average": average,
}

#: how many times Java's figure is aimed at
AIMS = {
    "auction": 1.0,
    "injection": 1.0,
    "candidates, verdict at every event, 20 voters": 10.0,
    "turnaround, from XML text, 10 characters": 10.0,
    "CSV average": 10.0,
}


@experiment(group=GROUP, parameters={"case": [*CASES]}, quick=None, repetitions=5, limit=1200)
def crv_java(trial: Trial, case: str) -> None:
    """The CRV problems against BeepBeep 3.

    Java's figures are of one thread, on events of its own making. Ours are given for every configuration,
    from events in memory and from files; the best one is compared. Where other programs keep the processors
    busy, one process is judged by its CPU time.
    """
    CASES[case](trial)


@crv_java.table("Events per second, against Java")
def against_java(rows: Rows) -> list[Row]:
    """Leave out what nobody asks for."""
    return [
        {
            "case": row["case"],
            "strategy": row["strategy"],
            "Hz": row["Hz"],
            "CPU Hz": row["events"] / row["CPU s"] if row["CPU s"] else None,
            "Java Hz": JAVA[row["case"]],
            "ours / Java": rate(row) / JAVA[row["case"]],
        }
        for row in rows
    ]


def rate(row: Row) -> float:
    """Return events per second: of the fastest repetition, or for one process of its CPU time."""
    alone = row["strategy"] != "Multi-threaded" and row["CPU s"] > 0
    return float(max(row["best Hz"], row["events"] / row["CPU s"] if alone else 0))


@crv_java.claim
def aims(rows: Rows) -> list[Claim]:
    """The best configuration is as fast as Java, or ten times as fast."""
    found = []
    for case, times in AIMS.items():
        ratio = max((rate(row) / JAVA[case] for row in rows.where(case=case)), default=None)
        said = "" if ratio is None else f"{ratio:.2f} times"
        holds = None if ratio is None else ratio >= times
        found.append(claim(f"{case}: at least {times:g} times Java", holds, said))
    return found


@crv_java.claim
def messages(rows: Rows) -> Claim:
    """Snapshots of 10 characters: 3,000 messages a second on one core, from XML text."""
    found = rate(rows.one(case="turnaround, from XML text, 10 characters"))
    return claim("snapshots from XML text: 3,000 a second and core", found >= 3000, f"{found:,.0f} a second")


# Growth


GROWTH = {"auction": 50_000, "candidates": 10_000, "injection": 100_000, "turnaround": 4_000}


@experiment(
    group=GROUP,
    parameters={"problem": [*GROWTH], "times": [1, 2, 4]},
    quick=None,
    repetitions=3,
    limit=1200,
)
def crv_growth(trial: Trial, problem: str, times: int) -> None:
    """Does the time for an event stay the same as traces grow?"""
    chosen = PROBLEMS[problem]
    events = GROWTH[problem] * times
    kept = list(chosen.trace(events, trial.seed))
    verdict = trial.measure(lambda: chosen.check(kept), events)
    trial.check(verdict is None, f"a valid trace is violated at {verdict}")


@crv_growth.plot("Microseconds for an event")
def cost(rows: Rows, figure: Figure) -> None:
    """Draw a line for each problem."""
    lines(figure, [{**r, "us": 1e6 / r["best Hz"]} for r in rows], "events", ["us"], by="problem", log="xy")


@crv_growth.claim
def linear(rows: Rows) -> Claim:
    """Four times the events take at most five times the time."""
    worst = {
        name: rows.ratio("best Hz", {"problem": name, "times": 1}, {"problem": name, "times": 4})
        for name in GROWTH
        if rows.where(problem=name)
    }
    if not worst:
        raise Missing("nothing has been measured")
    words = ", ".join(f"{name} {4 * ratio:.1f}" for name, ratio in worst.items())
    return claim("four times the events take at most five times the time", max(worst.values()) <= 1.25, words)


# The competition's size


@experiment(
    group=GROUP,
    parameters={"problem": ["auction", "candidates", "injection"]},
    quick=None,
    warm_up=0,
    repetitions=1,
    limit=3600,
)
def crv_competition(trial: Trial, problem: str) -> None:
    """Traces as long as the competition's: 13.4, 0.98 and 9.4 million events."""
    chosen = PROBLEMS[problem]
    trace = chosen.trace("competition", trial.seed)
    with written(trace) as path:
        for strategy in strategies_for(chosen, trial.quick):
            measure(trial, chosen, strategy, path, trace.events, 0)


# The DejaVu challenge


@experiment(
    group="First-order properties: the DejaVu challenge",
    parameters={"events": [100_000, 1_000_000]},
    quick={"events": [20_000]},
    warm_up=0,
    repetitions=1,
    limit=1200,
)
def dejavu(trial: Trial, events: int) -> None:
    """The six properties of the DejaVu challenge, on logs of our own that are read from files."""
    for name in CHALLENGE:
        problem = PROBLEMS[name]
        with written(problem.trace(events, trial.seed, "ending")) as path:
            verdict = trial.measure(partial(problem.verdict, "query", path), events, property=name)
        trial.check(verdict == events - 1, f"{name}: the last event is wrong, not event {verdict}")


@dejavu.table("Seconds, beside what others have published for about a million events on other machines")
def beside_others(rows: Rows) -> list[Row]:
    """Put the published figures into the row of the longest log."""
    longest = max(rows.column("events"))
    return [
        {"property": row["property"], "events": row["events"], "seconds": row["seconds"], "Hz": row["Hz"]}
        | (CHALLENGE[row["property"]] if row["events"] == longest else {})
        for row in rows
    ]
