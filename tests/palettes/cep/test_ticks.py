"""The tick simulator reproduces the tables of the paper; its machines find what a detector finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.lab.papers import composite_events as paper
from millstream.palettes.cep import Mode, Occurrence, before, both, either, first, on
from millstream.palettes.cep.forest import Analysis, Forest
from millstream.palettes.cep.hybrid import Pacer, Strategy, subtrees, table_6
from millstream.palettes.cep.stations import Merge, heartbeat
from millstream.palettes.cep.ticks import heartbeats, pps, sequential, ups

from .test_definitions import detector


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_table_is_reproduced_tick_by_tick(number):
    rows = getattr(paper, f"table_{number}")()
    assert paper.cells(rows) == paper.PAPER[number]


def test_table_2_shows_what_is_used_up():
    assert {r.tick: set(r.consumed) for r in paper.table_2() if r.consumed} == paper.PAPER_CONSUMED


def test_table_4_is_reproduced_as_sets():
    def as_sets(cells):
        return {tick: {c: set(v) for c, v in row.items()} for tick, row in cells.items()}

    assert as_sets(paper.cells(paper.table_4())) == as_sets(paper.PAPER[4])


def test_table_6_chooses_the_strategies():
    assert paper.table_6() == [
        ("ALL (X), ALL (Y)", "ups", "ups"),
        ("ALL (X), CHRONICLE (Y)", "heartbeat", "heartbeat"),
        ("CHRONICLE (X), ALL (Y)", "ups", "heartbeat"),
        ("CHRONICLE (X), CHRONICLE (Y)", "heartbeat", "heartbeat"),
    ]


def test_strategy_of_a_shared_composite_is_that_of_its_strictest_user():
    x = both("A", "B", mode=Mode.ALL)
    analysis = Analysis.of(
        Forest.of({"Y": either(x, "C"), "Z": before(x, "C", mode=Mode.RECENT)}), Mode.CHRONICLE
    )
    chosen = {n.event.word: table_6(analysis)[n.index] for n in analysis.nodes}
    assert chosen["any_of"] is chosen["before"] is Strategy.HEARTBEAT
    assert table_6(Analysis.of(Forest.of(first(x)), Mode.ALL))[2] is Strategy.HEARTBEAT


# -- the same results as sequentially

moments = st.lists(st.tuples(st.sampled_from("ABCD"), st.integers(0, 2)), max_size=12)
FIGURE_1 = either("A", before("B", both("C", "D")))


def occurrences(moments):
    time, out = 0, []
    for kind, gap in moments:
        time += gap
        out.append(Occurrence(kind, time))
    return out


def column(rows, name):
    return [text for row in rows for text in row.cells.get(name, ())]


@given(moments, st.sampled_from([Mode.ALL, Mode.CHRONICLE]))
def test_sequential_simulation_finds_what_the_detector_finds(moments, mode):
    history = occurrences(moments)
    assert column(sequential(FIGURE_1, history, mode), "OR") == [
        str(o) for o in detector(FIGURE_1, mode)(history)
    ]


@given(moments, st.data())
def test_parallel_simulations_find_the_same_set_in_mode_all(moments, data):
    history, tick, arrivals = occurrences(moments), 1, []
    for event in history:
        tick += data.draw(st.integers(0, 2))
        arrivals.append((tick, event.kind, event.time))
    expected = sorted(str(o) for o in detector(FIGURE_1, Mode.ALL)(history))
    for simulate in (pps, ups):
        assert sorted(column(simulate(FIGURE_1, arrivals, Mode.ALL), "OR")) == expected


def test_heartbeat_bounds_the_wait_for_a_silent_operand():
    arrivals = [(1, "B", "B", 1), (2, "C", "C", 2)]
    arrivals += [(t, "A", "A", t) for t in range(3, 103)]
    silent = column(heartbeats(FIGURE_1, arrivals, Mode.CHRONICLE), "OR")
    assert silent == []
    beats = [(104, leaf, "H", 102) for leaf in "ABCD"]
    assert len(column(heartbeats(FIGURE_1, arrivals + beats, Mode.CHRONICLE), "OR")) == 101


def test_merge_waits_for_silent_streams_and_keeps_order():
    merge = Merge.of(2)
    merge.add(0, ((1, 0), (1, 1, "a")))
    assert merge.take() is None
    merge.add(1, heartbeat(5))
    assert merge.take() == (0, ((1, 0), (1, 1, "a")))
    assert merge.take() is None
    merge.add(0, ((5, 3), (5, 5, "b")))
    assert merge.take() == (0, ((5, 3), (5, 5, "b")))


def test_pacer_beats_faster_when_buffers_fill_and_slower_when_few_arrive():
    pacer = Pacer(8, high=4, most=16)
    assert [pacer.beats(arrives=True) for _ in range(4)] == [False, False, False, True]
    assert pacer.interval == 4
    assert [pacer.beats(arrives=False) for _ in range(4)] == [False, False, False, True]
    assert pacer.interval == 8
    assert [pacer.beats(arrives=False) for _ in range(40)].count(True) == 3
    assert pacer.interval == 16


def test_disjoint_or_subtrees_have_their_own_leaves():
    forest = Forest.of({"X": either("A", "B"), "Y": either("C", "D"), "Z": before(on("A"), "E")})
    analysis = Analysis.of(forest, Mode.ALL)
    names = [sorted(analysis.nodes[k].event.what for k in group) for group in subtrees(analysis)]
    assert names == [["A", "B"], ["C", "D"]]
