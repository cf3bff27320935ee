"""`ParallelDetector` finds what the detector finds, on threads and on processes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.cep import Detector, Occurrence, before, both, either, on
from millstream.palettes.cep.parallel import ParallelDetector
from millstream.processors import ParameterError, StreamError
from millstream.processors.testing import check_processor

from .strategies import MODES, expressions, histories, is_one
from .test_definitions import detector
from .test_detector import Timing

concurrency = pytest.importorskip("millstream.concurrency")
FIGURE_1 = either("A", before("B", both("C", "D")))
HISTORY = [Occurrence(k, int(t), {"v": 1}) for k, t in ("A1", "B2", "C3", "D4", "D5", "C6", "A7")]


@pytest.fixture(scope="module")
def manager():
    with concurrency.ThreadManager(2) as lends:
        yield lends


@pytest.mark.parametrize("strategy", ["sequential", "pps", "ups", "hybrid", "auto"])
def test_parallel_detector_equals_the_sequential_one(manager, strategy):
    @settings(max_examples=40, database=None)
    @given(expressions(), st.sampled_from(MODES), histories(min_size=6), st.integers(1, 5))
    def check(tree, mode, history, chunk):
        query = detector(tree, mode)
        assert list(ParallelDetector(query, manager, strategy, chunk)(history)) == list(query(history))

    check()


@pytest.mark.parametrize("mode", MODES, ids=lambda m: m.name)
def test_parallel_detector_obeys_the_laws(manager, mode):
    query = Timing() | ParallelDetector(detector(before("A", both("B", "C")), mode), manager, "pps", 3)
    numbers = st.tuples(st.sampled_from("ABC"), st.integers(0, 1))
    check_processor(query, numbers, max_examples=3, max_size=5, pickles=False)


def test_parallel_forest_keeps_the_order_of_its_outputs(manager):
    query = Detector({"X": before("A", "B"), "Y": before("X", "D"), "Z": both("A", on(is_one))})
    assert list(ParallelDetector(query, manager, "ups", 2)(HISTORY)) == list(query(HISTORY))


def test_parallel_detector_runs_on_processes():
    query = Detector(both(on(is_one), before("B", "C")))
    with concurrency.ThreadManager(2, "processes") as processes:
        assert list(ParallelDetector(query, processes, "ups", 3)(HISTORY)) == list(query(HISTORY))
        assert processes.statistics().granted > 0


def test_manager_that_lends_nothing_makes_it_sequential():
    with concurrency.ThreadManager(0) as nobody:
        query = Detector(FIGURE_1)
        assert list(ParallelDetector(query, nobody, "pps")(HISTORY)) == list(query(HISTORY))


def slow(event):
    return sum(range(40_000)) > 0


def test_auto_keeps_trivial_predicates_sequential_and_spreads_slow_ones(manager):
    history = [Occurrence("A", t) for t in range(40)]
    for expression, expected in ((before("A", "B"), "sequential"), (both(on(slow), "B"), "ups")):
        run = ParallelDetector(Detector(expression), manager).into()
        run.push_all(history)
        assert run.processors[0].chosen == expected


def failing(event):
    raise ValueError("cannot be asked")


def test_failure_in_a_worker_is_named(manager):
    with pytest.raises(StreamError, match="cannot be asked"):
        list(ParallelDetector(Detector(both(on(failing), "B")), manager, "pps")(HISTORY))


def test_run_is_closed_to_further_events_after_a_failure(manager):
    letters = []
    run = ParallelDetector(Detector(both(on(failing), "B")), manager, "pps", 2).into(on_error=letters)
    run.push_all(HISTORY[:4])
    assert "cannot be asked" in str(letters[0])
    assert "a chunk of events has failed" in str(letters[1])


def test_out_of_order_event_is_refused_at_once(manager):
    run = ParallelDetector(Detector(before("A", "B")), manager, "pps").into()
    run.push(Occurrence("A", 3))
    with pytest.raises(StreamError, match="out of order"):
        run.push(Occurrence("B", 2))


def test_wrong_strategy_is_named(manager):
    with pytest.raises(ParameterError, match="one of sequential, pps, ups, hybrid, auto, got 'x'"):
        ParallelDetector(Detector("A"), manager, "x")
