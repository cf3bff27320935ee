"""The experiments on monitoring problems check what they measure; their claims follow the figures."""

import pytest

from millstream.lab.crv import PROBLEMS, speed, table_1
from millstream.lab.crv.problem import Problem
from millstream.lab.crv.published import JAVA, TABLE_1
from millstream.lab.rows import Rows
from millstream.lab.trial import CheckFailed, Trial


def rows_of(experiment, **point):
    told = []
    experiment.function(Trial(told.append, quick=True, warm_up=0, repetitions=1), **point)
    return [{**point, **message["figures"]} for message in told if message["kind"] == "row"]


def test_table_1_has_a_row_for_each_strategy():
    rows = [
        *rows_of(table_1.crv, problem="auction", size="small"),
        *rows_of(table_1.crv, problem="creation", size="small"),
    ]
    assert [(row["problem"], row["strategy"]) for row in rows] == [
        *(("auction", s) for s in ("None", "Multi-threaded", "columns")),
        *(("creation", s) for s in ("None", "Multi-threaded")),
    ]
    table = table_1.crv.made(Rows(rows))["Table 1: throughput and load, beside the paper's"]
    assert [row.get("paper Hz") for row in table] == [28_449.5, 30_487.8, None, 742.1, 782.4]
    assert len(table_1.crv.claims(Rows(rows))) == 5


def test_wrong_verdict_is_not_measured(monkeypatch):
    monkeypatch.setattr(Problem, "verdict", lambda self, version, path, **options: 7)
    with pytest.raises(CheckFailed, match="iterators, query: next without hasNext since the last next at"):
        rows_of(table_1.crv, problem="iterators", size="small")


def figures(gain):
    """Rows in which workers gain so much, on every problem."""
    return Rows(
        {"problem": name, "strategy": strategy, "Hz": 1000.0 * times, "own load": 0.5 * times}
        for name in TABLE_1
        for strategy, times in (("None", 1), ("Multi-threaded", gain))
    )


@pytest.mark.parametrize(
    ("gain", "outcomes"),
    [(2.5, ["confirmed"] * 4), (1.2, ["confirmed", "NOT confirmed", "NOT confirmed", "NOT confirmed"])],
)
def test_claims_about_threads_follow_the_figures(gain, outcomes):
    assert [claim.outcome for claim in table_1.crv.claims(figures(gain))[:4]] == outcomes


def test_paper_contradicts_itself_as_noted():
    gain = table_1.paper_gains()
    assert max(gain, key=lambda name: gain[name][0]) == "candidates"
    assert gain["auction"][1] < 1


def test_challenge_measures_all_properties():
    rows = Rows(rows_of(speed.dejavu, events=500))
    assert rows.column("property") == ["access", "file", "fifo", "locks", "cycles", "races"]
    (table,) = speed.dejavu.made(rows).values()
    assert table[0]["MonPoly"] == "16 h"


@pytest.mark.parametrize("case", [c for c in speed.CASES if c not in PROBLEMS])
def test_cases_against_java_are_measured_and_checked(case):
    (row,) = rows_of(speed.crv_java, case=case)
    assert row["Hz"] > 0
    assert speed.crv_java.made(Rows([row]))["Events per second, against Java"][0]["Java Hz"] == JAVA[case]


def test_claims_about_java_are_not_tried_without_figures():
    rows = Rows(
        [
            {
                "case": "auction",
                "strategy": "columns",
                "events": 100,
                "CPU s": 1e-3,
                "Hz": 2e6,
                "best Hz": 2.5e6,
            }
        ]
    )
    found = {claim.what: claim.outcome for claim in speed.crv_java.claims(rows)}
    assert found["auction: at least 1 times Java"] == "confirmed"
    assert found["injection: at least 1 times Java"] == "not tried"


def test_growth_is_told_from_the_figures():
    def rows(hz):
        return Rows(
            {"problem": name, "times": times, "events": times, "best Hz": rate}
            for name in speed.GROWTH
            for times, rate in ((1, 1000.0), (4, hz))
        )

    assert [claim.outcome for claim in speed.crv_growth.claims(rows(900.0))] == ["confirmed"]
    assert [claim.outcome for claim in speed.crv_growth.claims(rows(500.0))] == ["NOT confirmed"]
