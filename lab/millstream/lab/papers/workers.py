"""The strategies of *Parallel Event Detection in Active Database Systems* on real workers, under skew.

`detection` counts ticks; here predicates compute for about half a millisecond, and two workers of a
`ThreadManager` share them. Throughput says what parallelism gains, delay what order costs: how many further
events go in before what an event causes comes out.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from millstream.concurrency import ThreadManager
from millstream.lab import Claim, Row, Rows, Trial, claim, experiment
from millstream.lab.plots import bars
from millstream.palettes.cep import Detector, either, on
from millstream.processors import Query, X

from .detection import GROUP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRATEGIES = ("sequential", "pps", "heartbeat", "ups", "hybrid")
#: rounds of a loop that take about half a millisecond
ROUNDS = 15_000


def is_a(event: tuple[str, int]) -> bool:
    """Compute for a while, then tell whether this is an A."""
    return busy() and event[0] == "A"


def is_b(event: tuple[str, int]) -> bool:
    """Compute for a while, then tell whether this is a B."""
    return busy() and event[0] == "B"


def busy() -> bool:
    """Compute for about half a millisecond."""
    total = 0
    for k in range(ROUNDS):
        total ^= k
    return total >= 0


def detector(strategy: str, manager: ThreadManager | None = None) -> Query:
    """Return a detector of A or B, both known by an expensive predicate."""
    expression: Any = either(on(is_a), on(is_b))
    return Detector(
        expression, time=X[1], strategy=strategy, manager=manager if strategy != "sequential" else None
    )


def delays(query: Query, events: list[tuple[str, int]]) -> list[int]:
    """Return for each result how many further events had gone in when it came out."""
    found: list[Any] = []
    run, late = query.into(found.append), []
    for position, event in enumerate(events):
        run.push(event)
        late += [position - result.time for result in found]
        found.clear()
    run.end()
    return late + [len(events) - 1 - result.time for result in found]


@experiment(
    "cep-workers",
    group=GROUP,
    title="Sequential, PPS, UPS and heartbeats on two workers",
    parameters={"rare": [2, 20, 200], "events": [400]},
    quick=None,
)
def workers(trial: Trial, rare: int, events: int) -> None:
    """Detect A or B on two workers, with a B at every rare-th event; predicates take half a millisecond.

    All strategies take turns and give the same results. Delay: events that go in before a result comes out.
    """
    trace = [("B" if t % rare == rare - 1 else "A", t) for t in range(events)]
    with ThreadManager(2, "auto") as manager:
        queries = {name: detector(name, manager) for name in STRATEGIES}
        forms = {name: lambda query=query: list(query(trace)) for name, query in queries.items()}
        results = trial.compare(forms, events)
        for name, query in queries.items():
            late = delays(query, trace)
            trial.check(len(late) == events, f"{name}: {len(late)} results for {events} events")
            trial.row(strategy=name, **{"mean delay": fmean(late), "greatest delay": max(late)})
    same = all(result == results["sequential"] for result in results.values())
    trial.check(same, "strategies give different results")


@workers.table("Throughput, and ratios to sequential")
def throughput(rows: Rows) -> list[Row]:
    """Show the rates."""
    kept = ["rare", "sequential Hz", *(f"{name} / sequential" for name in STRATEGIES[1:])]
    return [{name: row[name] for name in kept} for row in rows if "sequential Hz" in row]


@workers.table("Delay, in events")
def delay(rows: Rows) -> list[Row]:
    """Show the delays."""
    kept = ("rare", "strategy", "mean delay", "greatest delay")
    return [{name: row[name] for name in kept} for row in rows if "strategy" in row]


@workers.plot("Mean delay of a result")
def mean_delay(rows: Rows, figure: Figure) -> None:
    """Draw the delay of each strategy at the greatest skew."""
    skewed = max(rows.column("rare"))
    bars(figure, [row for row in delay(rows) if row["rare"] == skewed], "strategy", ["mean delay"], "events")


@workers.claim
def gains(rows: Rows) -> list[Claim]:
    """UPS gains most, and heartbeats shorten the delay of PPS under skew."""
    skewed = max(rows.column("rare"))
    rates = throughput(rows.where(rare=skewed))[0]
    pps, beats = (rows.one(rare=skewed, strategy=name)["mean delay"] for name in ("pps", "heartbeat"))
    ups = rates["ups / sequential"]
    return [
        claim("two workers: UPS is faster than sequential detection", ups > 1, f"{ups:.2f} times", "yes"),
        claim("two workers: heartbeats let results out earlier than PPS alone", beats < pps,
              f"{pps:.1f} to {beats:.1f} events", "yes"),
    ]  # fmt: skip
