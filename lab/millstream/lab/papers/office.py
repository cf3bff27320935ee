"""Experiments of the sliding-window paper: Figures 4 to 7 and Table 2; the model is `smart_office`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.lab import Claim, Row, Rows, Trial, claim, experiment, near
from millstream.lab.plots import lines
from millstream.palettes.lattice import LatticeWindow, definitely
from millstream.processors import Query

from .smart_office import Office, at_the_papers_size, measured, size_of_all

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "A sliding window over asynchronous streams"
#: n -> the paper's average size of the window's lattice, and milliseconds an arrival
PAPER_TABLE_2 = {2: (9, 0.5), 3: (25, 0.6), 4: (78, 2.0), 5: (221, 7.5), 6: (768, 36), 7: (2691, 184),
                 8: (9799, 1616), 9: (34408, 14766)}  # fmt: skip


def only(rows: Rows, *names: str) -> list[Row]:
    """Return some columns of rows."""
    return [{name: row[name] for name in names if name in row} for row in rows]


@experiment(
    "office-benefits",
    group=GROUP,
    title="Figure 4: what a window detects, and the space it takes",
    parameters={"w": list(range(1, 11)), "hours": [10.0]},
    quick={"w": [1, 4, 10], "hours": [2.0]},
)
def benefits(trial: Trial, w: int, hours: float) -> None:
    """Share of the detections that the whole lattice allows, and size beside that of the whole lattice.

    Three sensors that report every minute; the paper runs 100 hours. How often they send to each other is
    fitted to the sizes of Table 2, so the size at w = 4 is no evidence.
    """
    office = Office(hours=hours, seed=trial.seed)
    row, whole = measured(office, w), size_of_all(office)
    paper = {4: {"paper Perc_det": 0.9711, "paper S": 27.23}}
    trial.row(**row | {"Perc_s %": 100 * row["S"] / whole} | paper.get(w, {}))


@benefits.table("Figure 4")
def benefits_table(rows: Rows) -> list[Row]:
    """Show what the figure shows."""
    return only(rows, "w", "hours", "Perc_det", "paper Perc_det", "S", "paper S", "Perc_s %")


@benefits.plot("Figure 4: detections and size")
def figure_4(rows: Rows, figure: Figure) -> None:
    """Draw the size of the window's lattice."""
    lines(figure, rows, "w", ["S", "paper S"], "average size S", log="y", dashed=["paper S"])


@benefits.drawing("The query")
def query() -> Query:
    """Draw the paper's query."""
    return LatticeWindow(["phone", "reader", "projector"], 4) | definitely(lambda *local: all(local))


@benefits.claim
def of_benefits(rows: Rows) -> list[Claim]:
    """Detections rise with w; the window takes little space."""
    one, four, ten = (rows.one(w=w) for w in (1, 4, 10))
    shares = one["Perc_det"], four["Perc_det"]
    rise = "{:.3f} to {:.3f}".format(*shares)
    return [
        claim("Fig. 4: Perc_det rises from w = 1 to 4", shares[0] < shares[1], rise, "up to 0.971"),
        claim("Fig. 4: S at w = 4 (fitted)", near(four["S"], 27.23), four["S"], "27.23 (10%)"),
        claim(
            "Fig. 4: Perc_s at w = 10, falls with the hours", ten["Perc_s %"] < 1, ten["Perc_s %"], "below 1%"
        ),
    ]


@experiment(
    "office-delay",
    group=GROUP,
    title="Figure 5: the delay of messages",
    parameters={"delay": [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0], "hours": [10.0]},
    quick={"delay": [0.0, 5.0], "hours": [2.0]},
)
def delay(trial: Trial, delay: float, hours: float) -> None:
    """Probability of detection, size and time an arrival against the mean delay of messages, w = 4."""
    row = measured(Office(hours=hours, delay=delay, seed=trial.seed), 4)
    trial.row(**row | ({"paper Prob_det": 0.85, "paper S": 30} if delay == 5 else {}))


@delay.table("Figure 5")
def delay_table(rows: Rows) -> list[Row]:
    """Show what the figure shows."""
    return only(rows, "delay", "hours", "Prob_det", "paper Prob_det", "S", "paper S", "ms", "false")


@delay.plot("Figure 5: probability of detection")
def figure_5(rows: Rows, figure: Figure) -> None:
    """Draw the probability against the delay."""
    lines(figure, rows, "delay", ["Prob_det", "paper Prob_det"], "Prob_det", dashed=["paper Prob_det"])


@delay.claim
def of_delay(rows: Rows) -> list[Claim]:
    """Long delays cost little."""
    late, slowest = rows.one(delay=5.0), max(rows.column("ms"))
    return [
        claim("Fig. 5: Prob_det at a delay of 5 s", late["Prob_det"] > 0.85, late["Prob_det"], "over 0.85"),
        claim("Fig. 5: S at a delay of 5 s", near(late["S"], 30), late["S"], "about 30 (10%)"),
        claim("Fig. 5: an arrival, n = 3", slowest < 1, f"{slowest:.3f} ms", "below 1 ms"),
    ]


@experiment(
    "office-width",
    group=GROUP,
    title="Figure 6: the width of the window",
    parameters={"w": list(range(2, 11)), "hours": [10.0]},
    quick={"w": [2, 6], "hours": [2.0]},
)
def width(trial: Trial, w: int, hours: float) -> None:
    """Probability of detection, size and time an arrival against the width of the window."""
    row = measured(Office(hours=hours, seed=trial.seed), w)
    trial.row(**row | ({"paper Prob_det": 0.99} if w == 5 else {}))


@width.table("Figure 6")
def width_table(rows: Rows) -> list[Row]:
    """Show what the figure shows."""
    return only(rows, "w", "hours", "Prob_det", "paper Prob_det", "S", "ms", "false")


@width.plot("Figure 6: time an arrival")
def figure_6(rows: Rows, figure: Figure) -> None:
    """Draw the time against the width."""
    lines(figure, rows, "w", ["ms"], "milliseconds an arrival", log="y")


@width.claim
def of_width(rows: Rows) -> list[Claim]:
    """A wider window detects more."""
    found, slowest = rows.column("Prob_det"), max(rows.column("ms"))
    rises = found == sorted(found) and found[0] < found[-1]
    return [
        claim("Fig. 6: Prob_det rises with w", rises, f"{found[0]:.3f} to {found[-1]:.3f}", "up to 0.99"),
        claim("Fig. 6: an arrival, n = 3", slowest < 1, f"{slowest:.3f} ms", "below 1 ms"),
    ]


@experiment(
    "office-processes",
    group=GROUP,
    title="Table 2 and Figure 7: the number of processes",
    parameters=[{"n": n, "hours": 5.0 if n < 7 else 1.0} for n in range(2, 10)],
    quick=[{"n": n, "hours": 1.0} for n in (2, 4, 6)],
)
def processes(trial: Trial, n: int, hours: float) -> None:
    """Size and time an arrival against the number of processes, beside the paper's.

    Sizes up to n = 6 are fitted. A second row for n = 9 has fewer messages, so that its lattice has the
    paper's size and the times can be compared.
    """
    size, ms = PAPER_TABLE_2[n]
    rows = [(measured(Office(n, hours, seed=trial.seed), 4), "fitted to n = 2 to 6")]
    if n == 9:
        rows.append((at_the_papers_size(seed=trial.seed), "fitted to the size at n = 9"))
    for row, messages in rows:
        ours = {"messages": messages, "paper S": size, "paper ms": ms, "times faster": ms / row["ms"]}
        trial.row(**row | ours)


@processes.table("Table 2 and Figure 7")
def processes_table(rows: Rows) -> list[Row]:
    """Show what the table shows."""
    return only(rows, "n", "messages", "S", "paper S", "ms", "paper ms", "times faster", "Prob_det")


@processes.plot("Table 2: milliseconds an arrival")
def table_2(rows: Rows, figure: Figure) -> None:
    """Draw the times beside the paper's."""
    fitted = rows.where(messages="fitted to n = 2 to 6")
    lines(figure, fitted, "n", ["ms", "paper ms"], "milliseconds an arrival", log="y", dashed=["paper ms"])


@processes.claim
def of_processes(rows: Rows) -> list[Claim]:
    """Sizes are the paper's; detection falls with n."""
    fitted = rows.where(messages="fitted to n = 2 to 6")
    ratios = {row["n"]: round(row["S"] / row["paper S"], 2) for row in fitted}
    few, many = ([r for n, r in ratios.items() if (n <= 6) is small] for small in (True, False))
    return [
        claim(
            "Table 2: S beside the paper's, n up to 6 (fitted)",
            all(near(r, 1, 0.2) for r in few),
            few,
            "1 (20%)",
        ),
        claim(
            "Table 2: S beside the paper's, n from 7",
            all(near(r, 1, 0.2) for r in many) if many else None,
            many or "",
            "1 (20%)",
        ),
    ]


@processes.claim
def falls(rows: Rows) -> Claim:
    """Fig. 7: Prob_det falls by 0.2 from n = 2 to 9."""
    fitted = rows.where(messages="fitted to n = 2 to 6")
    fall = fitted.one(n=2)["Prob_det"] - fitted.one(n=9)["Prob_det"]
    return claim("Fig. 7: Prob_det falls from n = 2 to 9", near(fall, 0.2, 0.5), fall, "by 0.2 (0.1 to 0.3)")
