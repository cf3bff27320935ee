"""Tables 1 to 6 of Jaeger and Obermaier, Parallel Event Detection in Active Database Systems.

Every table is simulated tick by tick, one operator application a tick. The paper's own cells stand in
`PAPER`. Three of its cells are misprints and stand corrected there: in Table 1, tick 14, the time stamp of
(C.6, D.4) is 6 by the definition of AND; in Table 2, B.2 is used up when it is composed, at tick 7; Table 5
leaves out A.8 and A.11, which have to come out between H.6 and A.13, so that all after them is two ticks
later.

`detection` makes experiments of it: ``millstream lab run 'cep*'``.
"""

from __future__ import annotations

from millstream.palettes.cep import Event, Mode, Occurrence, before, both, either
from millstream.palettes.cep.forest import Analysis, Forest
from millstream.palettes.cep.hybrid import table_6 as choose
from millstream.palettes.cep.ticks import Row, heartbeats, pps, sequential, ups

Cells = dict[int, dict[str, list[str]]]

COLUMNS = ("A", "B", "C", "D", "AND", "BEFORE", "OR")
HISTORY = tuple(Occurrence(kind, int(t)) for kind, t in ("A1", "B2", "C3", "D4", "D5", "C6", "A7"))
#: when events enter the leaves in Tables 3 and 4: (tick, leaf, time stamp)
SCHEDULE = ((1, "A", 1), (1, "B", 2), (2, "C", 3), (2, "D", 4), (3, "A", 7), (3, "C", 6), (3, "D", 5))
#: the same in Table 5: (tick, leaf, kind, time stamp)
BEATS = (
    (1, "A", "A", 1), (2, "A", "A", 2), (3, "A", "A", 5), (4, "A", "H", 6), (5, "A", "A", 8),
    (6, "A", "A", 11), (6, "B", "H", 6), (8, "A", "A", 13), (9, "A", "A", 14), (10, "A", "A", 15),
    (11, "A", "H", 16), (11, "B", "B", 16), (12, "B", "H", 16),
)  # fmt: skip


def expression() -> Event:
    """Return the expression of Figure 1."""
    return either("A", before("B", both("C", "D")))


def table_1() -> list[Row]:
    """Table 1: sequential, ALL."""
    return sequential(expression(), HISTORY, Mode.ALL)


def table_2() -> list[Row]:
    """Table 2: sequential, CHRONICLE."""
    return sequential(expression(), HISTORY, Mode.CHRONICLE)


def table_3() -> list[Row]:
    """Table 3: PPS, ALL."""
    return pps(expression(), SCHEDULE, Mode.ALL)


def table_4() -> list[Row]:
    """Table 4: UPS, ALL."""
    return ups(expression(), SCHEDULE, Mode.ALL)


def table_5() -> list[Row]:
    """Table 5: PPS with heartbeats."""
    return heartbeats(either("A", "B"), BEATS, Mode.CHRONICLE)


def table_6() -> list[tuple[str, str, str]]:
    """Table 6: the strategies of X and of Y built on X, as (modes, strategy of Y, strategy of X)."""
    rows = []
    for x in (Mode.ALL, Mode.CHRONICLE):
        for y in (Mode.ALL, Mode.CHRONICLE):
            forest = Forest.of({"X": both("A", "B", mode=x), "Y": before("X", "C", mode=y)})
            analysis = Analysis.of(forest, Mode.ALL)
            chosen = choose(analysis)
            index = {n.event.word: n.index for n in analysis.nodes}
            of_y, of_x = (chosen[index[word]].value for word in ("before", "any_of"))
            rows.append((f"{x.name} (X), {y.name} (Y)", of_y, of_x))
    return rows


def cells(rows: list[Row]) -> Cells:
    """Return the cells of a table by tick."""
    return {row.tick: row.cells for row in rows}


CD4, CD5, C6D4, C6D5 = "(C.3, D.4, 4)", "(C.3, D.5, 5)", "(C.6, D.4, 6)", "(C.6, D.5, 6)"
B4, B5, B6D4, B6D5 = (f"(B.2, {inner}, {inner[-2]})" for inner in (CD4, CD5, C6D4, C6D5))
ENTER: Cells = {
    1: {"A": ["A.1"], "B": ["B.2"]},
    2: {"C": ["C.3"], "D": ["D.4"], "OR": ["A.1"]},
    3: {"A": ["A.7"], "C": ["C.6"], "D": ["D.5"], "AND": [CD4]},
}
#: the paper's tables, by number
PAPER: dict[int, Cells] = {
    1: {
        1: {"A": ["A.1"]}, 2: {"OR": ["A.1"]}, 3: {"B": ["B.2"]}, 4: {"C": ["C.3"]}, 5: {"D": ["D.4"]},
        6: {"AND": [CD4]}, 7: {"BEFORE": [B4]}, 8: {"OR": [B4]},
        9: {"D": ["D.5"]}, 10: {"AND": [CD5]}, 11: {"BEFORE": [B5]}, 12: {"OR": [B5]},
        13: {"C": ["C.6"]}, 14: {"AND": [C6D4]}, 15: {"BEFORE": [B6D4]}, 16: {"OR": [B6D4]},
        17: {"AND": [C6D5]}, 18: {"BEFORE": [B6D5]}, 19: {"OR": [B6D5]},
        20: {"A": ["A.7"]}, 21: {"OR": ["A.7"]},
    },
    2: {
        1: {"A": ["A.1"]}, 2: {"OR": ["A.1"]}, 3: {"B": ["B.2"]}, 4: {"C": ["C.3"]}, 5: {"D": ["D.4"]},
        6: {"AND": [CD4]}, 7: {"BEFORE": [B4]}, 8: {"OR": [B4]},
        9: {"D": ["D.5"]}, 10: {"C": ["C.6"]}, 11: {"AND": [C6D5]}, 12: {"A": ["A.7"]}, 13: {"OR": ["A.7"]},
    },
    3: ENTER | {
        4: {"AND": [CD5], "BEFORE": [B4], "OR": ["A.7"]},
        5: {"AND": [C6D4], "BEFORE": [B5], "OR": [B4]},
        6: {"AND": [C6D5], "BEFORE": [B6D4], "OR": [B5]},
        7: {"BEFORE": [B6D5], "OR": [B6D4]},
        8: {"OR": [B6D5]},
    },
    4: ENTER | {
        4: {"AND": [CD5, C6D4, C6D5], "BEFORE": [B4], "OR": ["A.7"]},
        5: {"BEFORE": [B6D4, B5, B6D5], "OR": [B4]},
        6: {"OR": [B6D4, B6D5, B5]},
    },
    5: {
        1: {"A": ["A.1"]}, 2: {"A": ["A.2"]}, 3: {"A": ["A.5"]}, 4: {"A": ["H.6"]}, 5: {"A": ["A.8"]},
        6: {"A": ["A.11"], "B": ["H.6"]}, 7: {"OR": ["A.1"]}, 8: {"A": ["A.13"], "OR": ["A.2"]},
        9: {"A": ["A.14"], "OR": ["A.5"]}, 10: {"A": ["A.15"], "OR": ["H.6"]},
        11: {"A": ["H.16"], "B": ["B.16"]}, 12: {"B": ["H.16"], "OR": ["A.8"]}, 13: {"OR": ["A.11"]},
        14: {"OR": ["A.13"]}, 15: {"OR": ["A.14"]}, 16: {"OR": ["A.15"]}, 17: {"OR": ["B.16"]},
        18: {"OR": ["H.16"]},
    },
}  # fmt: skip
#: in Table 2, from which columns something is used up, by tick
PAPER_CONSUMED = {
    2: {"A"}, 6: {"C", "D"}, 7: {"B", "AND"}, 8: {"BEFORE"}, 11: {"C", "D"}, 13: {"A"},
}  # fmt: skip
