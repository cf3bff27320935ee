"""The experiments of the papers: quick points give rows, and claims say plainly what did not come out."""

import pytest

from millstream.lab import Rows, Trial, catalogue
from millstream.lab.papers.correlation import Work, layered
from millstream.lab.papers.detection import arrivals, history, schedule

PAPERS = catalogue.experiments(m for m in catalogue.MODULES if ".papers." in m)
#: the first worker takes a second to start: one point of it is enough
CHEAP = sorted(name for name in set(PAPERS) - {"phased"} if PAPERS[name].points(quick=True))


def rows_of(name: str, points=None) -> Rows:
    """Run the quick points of an experiment here, once each."""
    made = PAPERS[name]
    found = []
    for point in made.points(quick=True)[:points]:
        told = []
        made.function(Trial(told.append, seed=1, quick=True, warm_up=0, repetitions=1), **point)
        found += [point | message["figures"] for message in told if message["kind"] == "row"]
    return Rows(found)


@pytest.fixture(scope="module")
def rows():
    return {name: rows_of(name) for name in CHEAP}


def outcomes(rows, name: str) -> dict[str, str]:
    return {claim.what: claim.outcome for claim in PAPERS[name].claims(rows[name])}


@pytest.mark.parametrize("name", CHEAP)
def test_quick_points_give_tables_plots_and_claims(rows, name):
    from millstream.lab.plots import render

    made = PAPERS[name]
    assert all("cannot be made" not in str(table) for table in made.made(rows[name]).values())
    for draw in made.plots.values():
        assert render(lambda figure, draw=draw: draw(rows[name], figure)).startswith(b"<?xml")
    said = made.claims(rows[name])
    assert said
    assert not any("Error" in str(claim.ours) for claim in said)


def test_tables_of_composite_events_are_those_of_the_paper(rows):
    assert set(outcomes(rows, "cep-tables").values()) == {"confirmed"}


def test_claims_about_ticks_are_confirmed(rows):
    assert set(outcomes(rows, "cep-strategies").values()) == {"confirmed"}
    assert set(outcomes(rows, "cep-skew").values()) == {"confirmed"}


def test_claims_that_do_not_reproduce_are_said_plainly(rows):
    said = (
        outcomes(rows, "sync-structures") | outcomes(rows, "sync-streams") | outcomes(rows, "office-benefits")
    )
    said |= outcomes(rows, "office-processes")
    assert said["Table I: the tree has the fewest updates"] == "NOT confirmed"
    assert said["Fig. 5: method 2 visits fewer nodes"] == "NOT confirmed"
    assert said["Fig. 4: cost jumps at multiples of 64 streams"] == "not tried"
    assert said["Fig. 4: Perc_det rises from w = 1 to 4"] == "NOT confirmed"
    assert said["Fig. 4: S at w = 4 (fitted)"] == "confirmed"
    assert said["Table 2: S beside the paper's, n from 7"] == "not tried"


def test_leaves_take_one_event_a_tick():
    from random import Random

    entered = schedule(history(Random(1), 50))
    assert len({(tick, leaf) for tick, leaf, _ in entered}) == len(entered) == 50


def test_without_heartbeats_every_event_waits_for_the_rare_one(rows):
    skew = rows["cep-skew"]
    assert skew.one(beat=0)["greatest delay"] > skew.one(beat=20)["greatest delay"]
    assert all(count == 200 for count in skew.column("out"))
    assert {leaf for _, leaf, kind, _ in arrivals(10, 5, 5) if kind == "H"} == {"A", "B"}


def test_phased_graph_computes_less_when_messages_are_sparse():
    counts = {}
    for name, sent in (("dense", 10), ("sparse", 3)):
        work = Work(microseconds=0, sent=sent)
        list(layered(work).run([(p, {f"v0.{k}": p * k % 1000 for k in range(6)}) for p in range(20)]))
        counts[name] = work.calls
    assert counts["dense"] == 20 * 24
    assert counts["sparse"] < counts["dense"]


def test_phased_graph_gives_the_same_on_workers():
    (row,) = rows_of("phased", points=1)
    assert row["pairs"] == row["computed"]
    assert row["k = 2 Hz"] > 0


def test_strategies_on_workers_agree_and_their_figures_are_shown():
    told = []
    made = PAPERS["cep-workers"]
    made.function(Trial(told.append, warm_up=0, repetitions=1), rare=5, events=20)
    rows = Rows({"rare": 5} | message["figures"] for message in told if message["kind"] == "row")
    assert made.made(rows)["Delay, in events"][0]["mean delay"] == 0
    assert len(made.claims(rows)) == 2
