"""Experiments of the event-synchronisation paper: Table I, Figures 4 to 6; the model is `synchronisation`."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from millstream.lab import Claim, Rows, Trial, claim, experiment, near
from millstream.lab.plots import lines
from millstream.palettes.timesync import Synchronizer
from millstream.processors import Query, X

from .synchronisation import figure_6, figures_4_and_5, table_1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "Event synchronisation with binary trees"
COSTS = ["method 1 us", "method 2 us", "heads us"]


@experiment("sync-structures", group=GROUP, title="Table I: comparisons and updates of three structures")
def structures(trial: Trial) -> None:
    """Count comparisons and updates on the example of Figure 2.

    The order of arrival is reconstructed from what is left of Figures 2 and 3, so the counts of the tree need
    not be the paper's. A comparison is one of timestamps; an update is a link, a slot or a readiness bit that
    changes.
    """
    for row in table_1():
        trial.row(**row)


@structures.claim
def counts(rows: Rows) -> list[Claim]:
    """The tree has 30 comparisons and 17 updates, the fewest."""
    tree = rows.one(structure="binary tree")
    ours, updates = (tree["comparisons"], tree["updates"]), {r["structure"]: r["updates"] for r in rows}
    fewest = all(n > tree["updates"] for name, n in updates.items() if name != "binary tree")
    return [
        claim(
            "Table I: comparisons and updates of the tree (order reconstructed)",
            ours == (30, 17),
            ours,
            (30, 17),
        ),
        claim("Table I: the tree has the fewest updates", fewest, list(updates.values()), [39, 37, 17]),
    ]


@experiment(
    "sync-streams",
    group=GROUP,
    title="Figures 4 and 5: cost against the number of streams",
    parameters={"streams": [1, 4, 16, 64, 256, 1024, 1500], "events": [10_000]},
    quick={"streams": [64, 256], "events": [2000]},
)
def streams(trial: Trial, streams: int, events: int) -> None:
    """Synchronise streams without delays by both methods of the paper and by ours (heads).

    Microseconds of CPU time an event, the best of three; visited nodes of the tree. The paper gives curves
    only.
    """
    for row in figures_4_and_5([streams], events, trial.repetitions):
        trial.row(**row)


@streams.plot("Figure 4: CPU time an event")
def figure_4(rows: Rows, figure: Figure) -> None:
    """Draw the cost of all methods."""
    lines(figure, rows, "streams", COSTS, "microseconds an event", log="xy")


@streams.plot("Figure 5: visited nodes")
def figure_5(rows: Rows, figure: Figure) -> None:
    """Draw the visited nodes of both trees."""
    lines(figure, rows, "streams", ["method 1 visited", "method 2 visited"], "visited nodes", log="xy")


@streams.drawing("Synchronising 64 streams")
def query() -> Query:
    """Draw the processor."""
    return Synchronizer(time=X[1], streams=range(64), key=X[0])


@streams.claim
def methods(rows: Rows) -> list[Claim]:
    """Method 2 costs slightly more and visits fewer nodes; visits grow linearly."""
    ratio = fmean(row["method 2 us"] / row["method 1 us"] for row in rows)
    saved = sum(row["method 1 visited"] - row["method 2 visited"] for row in rows)
    visits = rows.ratio("method 1 visited", {"streams": 256}, {"streams": 64})
    most = max(rows, key=lambda row: int(row["streams"]))
    return [
        claim(
            "Fig. 4: cost of method 2 / method 1, no delays",
            1 <= ratio < 1.3,
            ratio,
            "slightly above 1 (to 1.3)",
        ),
        claim("Fig. 4: cost jumps at multiples of 64 streams", None, "integers of any size", "yes"),
        claim("Fig. 5: method 2 visits fewer nodes", saved > 0, saved, "yes, few"),
        claim(
            "Fig. 5: visited nodes, 64 to 256 streams",
            near(visits, 4),
            f"x {visits:.2f}",
            "x 4, linear (10%)",
        ),
        claim(
            f"ours is faster than method 1, {most['streams']} streams",
            most["times faster"] > 1,
            f"{most['times faster']:.1f} times",
        ),
    ]


@experiment(
    "sync-delays",
    group=GROUP,
    title="Figure 6: cost with delays on the first two streams",
    parameters=[
        {"first": first, "second": second, "streams": n, "events": 10_000}
        for first, second in ((100.0, 0.0), (0.0, 100.0), (100.0, 100.0), (500.0, 500.0))
        for n in (1, 16, 64, 256)
    ],
    quick=[
        {"first": 100.0, "second": second, "streams": n, "events": 2000}
        for second, n in ((0.0, 64), (100.0, 16), (100.0, 64), (100.0, 256))
    ],
)
def delays(trial: Trial, first: float, second: float, streams: int, events: int) -> None:
    """Synchronise streams of which the first two are late by a constant time.

    Microseconds of CPU time an event, the best of three. The paper gives curves only.
    """
    for row in figure_6([streams], (first, second), events, trial.repetitions):
        trial.row(**row)


@delays.plot("Figure 6: CPU time an event, method 1 by delays")
def by_delays(rows: Rows, figure: Figure) -> None:
    """Draw a line for each pair of delays."""
    named = [{**row, "delays": f"{row['first']:g}, {row['second']:g}"} for row in rows]
    lines(
        figure, named, "streams", ["method 1 us", "heads us"], "microseconds an event", by="delays", log="xy"
    )


@delays.claim
def with_delays(rows: Rows) -> list[Claim]:
    """Method 2 costs more, growth is not linear, a second delay costs nothing."""
    both = {"first": 100.0, "second": 100.0}
    second = fmean(row["method 2 us"] / row["method 1 us"] for row in rows)
    wider = rows.ratio("method 1 us", {**both, "streams": 256}, {**both, "streams": 16})
    other = rows.ratio("method 1 us", {**both, "streams": 64}, {"first": 100.0, "second": 0.0, "streams": 64})
    return [
        claim("Fig. 6: cost of method 2 / method 1", second > 1, second, "above 1"),
        claim(
            "Fig. 6: cost, 16 to 256 streams", not near(wider, 16), f"x {wider:.1f}", "not linear, x 16 (10%)"
        ),
        claim(
            "Fig. 6: a second delay, not the highest, costs",
            near(other, 1, 0.2),
            f"x {other:.2f}",
            "x 1 (20%)",
        ),
    ]
