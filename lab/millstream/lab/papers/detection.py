"""Experiments of *Parallel Event Detection in Active Database Systems*: Tables 1 to 6, and larger histories.

The tables themselves, and the paper's cells, are in `composite_events`. All is counted in ticks, in which
every process applies one operator; `workers` has the strategies on real workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from millstream.lab import Claim, Row, Rows, Trial, claim, experiment
from millstream.lab.plots import lines
from millstream.palettes.cep import Detector, Mode, Occurrence, either
from millstream.palettes.cep.forest import Forest
from millstream.palettes.cep.ticks import heartbeats, pps, sequential, ups
from millstream.processors import Query

from .composite_events import (
    COLUMNS,
    PAPER,
    cells,
    expression,
    table_1,
    table_2,
    table_3,
    table_4,
    table_5,
    table_6,
)  # fmt: skip

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "Parallel detection of composite events"
TITLES = {
    1: "sequential, ALL",
    2: "sequential, CHRONICLE",
    3: "PPS, ALL",
    4: "UPS, ALL",
    5: "PPS with heartbeats",
}
SIMULATED = {1: table_1, 2: table_2, 3: table_3, 4: table_4, 5: table_5}
PAPER_6 = {
    "ALL (X), ALL (Y)": ("ups", "ups"), "ALL (X), CHRONICLE (Y)": ("heartbeat", "heartbeat"),
    "CHRONICLE (X), ALL (Y)": ("ups", "heartbeat"),
    "CHRONICLE (X), CHRONICLE (Y)": ("heartbeat", "heartbeat"),
}  # fmt: skip


@experiment("cep-tables", group=GROUP, title="Tables 1 to 6, tick by tick")
def tables(trial: Trial) -> None:
    """Simulate the tables of the paper; every cell is compared with the printed one.

    Three printed cells are misprints and stand corrected: in Table 1, tick 14, the time stamp of (C.6, D.4)
    is 6 by the definition of AND; in Table 2, B.2 is used up at tick 7; Table 5 leaves out A.8 and A.11.
    """
    for table in range(1, 7):
        for row in simulated(table):
            trial.row(table=table, **row)


def simulated(table: int) -> Iterator[Row]:
    """Yield the rows of one table, each saying whether the paper prints the same."""
    if table == 6:
        for modes, y, x in table_6():
            paper = PAPER_6[modes]
            yield {
                "modes": modes,
                "Y": y,
                "X": x,
                "paper Y, X": ", ".join(paper),
                "as printed": (y, x) == paper,
            }
        return
    ours, paper_cells = cells(SIMULATED[table]()), PAPER[table]
    for tick in sorted(ours | paper_cells):
        produced = {
            c: " ".join(ours.get(tick, {}).get(c, ())) for c in COLUMNS if any(c in r for r in ours.values())
        }
        same = {c: sorted(v) for c, v in ours.get(tick, {}).items()} == {
            c: sorted(v) for c, v in paper_cells.get(tick, {}).items()
        }
        yield {"tick": tick, **produced, "as printed": same}


def _one_table(number: int) -> None:
    @tables.table(f"Table {number}: {TITLES.get(number, 'which strategy for X, and for Y built on X')}")
    def shown(rows: Rows) -> list[Row]:
        return [
            {k: v for k, v in r.items() if k not in ("table", "memory MB")} for r in rows.where(table=number)
        ]


for _number in range(1, 7):
    _one_table(_number)


@tables.drawing("The expression of Figure 1")
def figure_1() -> Query:
    """Draw the detector."""
    return Detector(Forest.of(expression()))


@tables.claim
def printed(rows: Rows) -> Iterator[Claim]:
    """The tables are those of the paper."""
    for number in range(1, 7):
        same = rows.where(table=number).column("as printed")
        yield claim(
            f"Table {number} is the paper's, misprints corrected",
            all(same),
            f"{sum(same)} rows of {len(same)}",
        )


@tables.claim
def faster(rows: Rows) -> Claim:
    """Both parallel strategies are faster than the sequential one, UPS most."""
    ours = [max(rows.where(table=number).column("tick")) for number in (1, 3, 4)]
    holds = ours[0] > ours[1] > ours[2]
    return claim("ticks: sequential, PPS, UPS (ALL)", holds, ours, [21, 8, 6])


# Larger histories


def history(random: Random, events: int) -> list[Occurrence]:
    """Return a random history over A, B, C and D."""
    return [Occurrence(random.choice("ABCD"), t) for t in range(1, events + 1)]


def schedule(events: list[Occurrence]) -> list[tuple[int, str, int]]:
    """Return when they enter the leaves: each leaf takes one event a tick."""
    entered = dict.fromkeys("ABCD", 0)
    arrivals = []
    for event in events:
        kind = event.kind
        entered[kind] += 1
        arrivals.append((entered[kind], kind, event.time))
    return sorted(arrivals)


@experiment(
    "cep-strategies",
    group=GROUP,
    title="Sequential, PPS and UPS on longer histories",
    parameters={"mode": ["ALL", "CHRONICLE"], "longest": [64]},
    quick={"longest": [32]},
)
def strategies(trial: Trial, mode: str, longest: int) -> None:
    """Ticks until the last composition of the expression of Figure 1, in random histories.

    Each leaf takes one event a tick. Under ALL the number of compositions grows with the cube of the events,
    and the root of PPS handles them one a tick; UPS handles them all at the same time.
    """
    events, chosen = 8, Mode[mode]
    while events <= longest:
        past = history(trial.random, events)
        runs = {
            "sequential": sequential(expression(), past, chosen),
            "PPS": pps(expression(), schedule(past), chosen),
            "UPS": ups(expression(), schedule(past), chosen),
        }
        ticks = {f"{name} ticks": max(row.tick for row in rows) for name, rows in runs.items()}
        found = sum(len(row.cells.get("OR", ())) for row in runs["sequential"])
        trial.row(events=events, compositions=found, **ticks)
        events *= 2


@strategies.plot("Ticks under ALL")
def ticks_of_all(rows: Rows, figure: Figure) -> None:
    """Draw the ticks against the events."""
    names = ["sequential ticks", "PPS ticks", "UPS ticks"]
    lines(figure, rows.where(mode="ALL"), "events", names, "ticks", log="xy")


@strategies.claim
def growth(rows: Rows) -> Iterator[Claim]:
    """UPS gains most under ALL."""
    longest = max(rows.where(mode="ALL"), key=lambda row: int(row["events"]))
    gains = [longest["sequential ticks"] / longest[f"{name} ticks"] for name in ("PPS", "UPS")]
    said = [f"{gain:.1f} times" for gain in gains]
    yield claim(
        "UPS leads to substantial improvements under ALL", gains[1] > 1.5 * gains[0], said, "yes (1.5 x PPS)"
    )


# Heartbeats under skew


def arrivals(ticks: int, rare: int, beat: int) -> list[tuple[int, str, str, int]]:
    """Return an A at every tick, a B at every `rare`th, heartbeats at every `beat`th (0: none)."""
    found: list[tuple[int, str, str, int]] = []
    for t in range(1, ticks + 1):
        stamp = 2 * t
        found.append((t, "A", "A", stamp))
        if t % rare == 0:
            found.append((t, "B", "B", stamp))
        if beat and t % beat == 0:
            found += [(t, leaf, "H", stamp + 1) for leaf in "AB"]
    return found


@experiment(
    "cep-skew",
    group=GROUP,
    title="Heartbeats when one stream is silent for long",
    parameters={"rare": [10, 100, 1000]},
    quick={"rare": [100]},
)
def skew(trial: Trial, rare: int) -> None:
    """OR(A, B) under CHRONICLE: an A at every tick, a B at every rare-th, a heartbeat at every beat-th.

    Delay: ticks from the arrival of an A until it comes out. Without heartbeats (beat 0) it waits for a B.
    """
    ticks = 2 * rare
    for beat in (0, 2, 5, 20, 50):
        rows = heartbeats(either("A", "B"), arrivals(ticks, rare, beat), Mode.CHRONICLE)
        out = [
            (row.tick, int(text[2:])) for row in rows for text in row.cells.get("OR", ()) if text[0] == "A"
        ]
        delays = [tick - stamp // 2 for tick, stamp in out]
        trial.check(len(out) <= ticks, "more came out than went in")
        trial.row(beat=beat, out=len(out), **{"mean delay": fmean(delays), "greatest delay": max(delays)})


@skew.plot("Mean delay in ticks")
def mean_delay(rows: Rows, figure: Figure) -> None:
    """Draw the delay against the period of heartbeats."""
    lines(
        figure,
        [r for r in rows if r["beat"]],
        "beat",
        ["mean delay"],
        "mean delay, ticks",
        by="rare",
        log="xy",
    )


@skew.claim
def earlier(rows: Rows) -> Claim:
    """Heartbeats speed up the production of results under skew."""
    without, with_beats = (rows.one(rare=100, beat=beat)["mean delay"] for beat in (0, 5))
    said = f"{without:.1f} to {with_beats:.1f} ticks"
    return claim("heartbeats: an A waits less, one B in 100", with_beats < without, said, "yes")
