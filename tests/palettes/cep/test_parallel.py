"""A detector finds the same with every strategy, on threads and on processes."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.cep import Detector, Mode, Occurrence, before, both, either, last, on, plus
from millstream.processors import BufferFullError, ParameterError, StreamError
from millstream.processors.codec import decode, encode
from millstream.processors.testing import check_processor

from .strategies import (
    CONSTRUCTORS,
    MODES,
    SELECTORS,
    TIMED,
    constructed,
    expressions,
    histories,
    is_one,
    leaves,
)  # fmt: skip
from .test_definitions import detector
from .test_detector import Timing

concurrency = pytest.importorskip("millstream.concurrency")
STRATEGIES = ["pps", "heartbeat", "ups", "hybrid", "auto"]
FIGURE_1 = either("A", before("B", both("C", "D")))
HISTORY = [Occurrence(k, int(t), {"v": 1}) for k, t in ("A1", "B2", "C3", "D4", "D5", "C6", "A7")]


@pytest.fixture(scope="module")
def manager():
    with concurrency.ThreadManager(2) as lends:
        yield lends


# -- all operators, modes and strategies


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", [*CONSTRUCTORS, *TIMED, *SELECTORS])
def test_every_operator_in_every_mode_finds_what_it_finds_sequentially(manager, name, strategy):
    make = (CONSTRUCTORS | TIMED | SELECTORS)[name]

    @settings(max_examples=10, database=None)
    @given(st.sampled_from(MODES), histories(min_size=5), st.integers(1, 20))
    def check(mode, history, chunk):
        tree = make([on("A"), on("B"), on(is_one)], mode)
        parallel = detector(tree, mode, strategy=strategy, manager=manager, chunk=chunk)
        assert list(parallel(history)) == list(detector(tree, mode)(history))

    check()


timed = constructed(constructed(leaves, TIMED))
deferred = constructed(st.one_of(leaves, leaves.map(last)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_mixed_trees_and_forests_find_what_they_find_sequentially(manager, strategy):
    @settings(max_examples=25, database=None)
    @given(
        expressions(),
        st.one_of(expressions(), timed, deferred),
        st.sampled_from(MODES),
        histories(6),
        st.data(),
    )
    def check(left, right, mode, history, data):
        forest = {"L": left, "R": right, "Y": both("L", "A").within(4)}
        chunk = data.draw(st.integers(1, 20))
        parallel = detector(forest, mode, strategy=strategy, manager=manager, chunk=chunk)
        assert list(parallel(history)) == list(detector(forest, mode)(history))

    check()


def skewed(number):
    """Almost only A, and the others late."""
    return [Occurrence("BCD"[t % 3] if t % 97 == 96 else "A", t) for t in range(number)]


def bursts(number):
    """Many of one type at once, then of the next; each at one time."""
    return [Occurrence("ABCD"[t // 40 % 4], t // 40) for t in range(number)]


def silent(number):
    """The paper's example: B, C, then A for a long time, and D at the very end."""
    return [Occurrence("B", 1), Occurrence("C", 2), *(Occurrence("A", t) for t in range(3, number)),
            Occurrence("D", number)]  # fmt: skip


def simultaneous(number):
    """Everything happens at the same few moments."""
    return [Occurrence("ABCD"[(t * 7) % 4], t // 90) for t in range(number)]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("history", [skewed, bursts, silent, simultaneous], ids=lambda h: h.__name__)
def test_chronicle_is_equal_and_in_order(manager, history, strategy):
    events = history(400)
    found = list(Detector(FIGURE_1, strategy=strategy, manager=manager, chunk=50)(events))
    assert found == list(Detector(FIGURE_1)(events))
    assert [o.time for o in found] == sorted(o.time for o in found)


def test_silent_operand_holds_pps_up_until_the_end_but_not_hearts(manager):
    def while_running(strategy):
        out = []
        run = Detector(FIGURE_1, strategy=strategy, manager=manager, chunk=50).into(out)
        run.push_all(silent(400)[:-1])
        return len(out)

    assert while_running("pps") == 0
    assert all(while_running(s) > 300 for s in ("heartbeat", "ups", "hybrid"))


# -- workers


@pytest.mark.parametrize("strategy", ["pps", "heartbeat", "ups", "hybrid"])
def test_detector_runs_on_processes(strategy):
    query = partial(Detector, {"X": both(on(is_one), before("B", "C")), "Y": before("X", "A")})
    events = [Occurrence("ABCD"[t % 4], t, {"v": t % 2}) for t in range(80)]
    with concurrency.ThreadManager(2, "processes") as processes:
        for mode in (Mode.CHRONICLE, Mode.RECENT):
            parallel = query(mode, strategy=strategy, manager=processes, chunk=30)
            assert list(parallel(events)) == list(query(mode)(events))
        assert processes.statistics().started == 2


def test_manager_that_lends_nothing_makes_it_sequential():
    with concurrency.ThreadManager(0) as nobody:
        parallel = Detector(FIGURE_1, strategy="heartbeat", manager=nobody)
        assert list(parallel(HISTORY)) == list(Detector(FIGURE_1)(HISTORY))


@pytest.mark.parametrize("limits", [(2, 1), (1, 0), (0, 2)])
def test_limit_may_change_while_events_flow(limits):
    events = [Occurrence("ABCD"[(t * 7) % 4], t) for t in range(60)]
    for strategy in ("ups", "heartbeat"):
        with concurrency.ThreadManager(limits[0]) as lends:
            out = []
            query = detector(FIGURE_1, Mode.ALL, strategy=strategy, manager=lends, chunk=9)
            run = query.into(out)
            run.push_all(events[:30])
            lends.limit = limits[1]
            run.push_all(events[30:])
            run.end()
            assert out == list(detector(FIGURE_1, Mode.ALL)(events))


def test_workers_go_back_at_the_end(manager):
    with concurrency.ThreadManager(2) as lends:
        run = Detector(FIGURE_1, strategy="pps", manager=lends, chunk=2).into()
        run.push_all(HISTORY)
        assert lends.statistics().running == 2
        run.end()
        assert lends.statistics().running == 0


# -- laws and states


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("mode", [Mode.ALL, Mode.CHRONICLE], ids=lambda m: m.name)
def test_parallel_detector_obeys_the_laws(manager, mode, strategy):
    tree = before("A", both("B", "C"))
    query = Timing() | detector(tree, mode, strategy=strategy, manager=manager, chunk=3)
    numbers = st.tuples(st.sampled_from("ABC"), st.integers(0, 1))
    check_processor(query, numbers, max_examples=2, max_size=4)


def test_saved_state_is_plain_data_and_goes_on_elsewhere():
    query = partial(Detector, both(on(is_one), before("B", "C")), strategy="pps", chunk=3)
    events = [Occurrence("ABCD"[t % 4], t, {"v": t % 2}) for t in range(30)]
    expected = list(Detector(both(on(is_one), before("B", "C")))(events))
    with concurrency.ThreadManager(2, "processes") as processes:
        before_, after = [], []
        parallel = query(manager=processes)
        run = parallel.into(before_)
        run.push_all(events[:17])
        other = parallel.into(after)
        other.load(decode(encode(run.save(), parallel), parallel))
        other.push_all(events[17:])
        other.end()
    assert before_ + after == expected


@pytest.mark.parametrize(("kind", "expected"), [("threads", [2, 3]), ("processes", [0, 1, 2, 3])])
def test_explained_run_on_workers_tells_the_events_of_an_output(kind, expected):
    with concurrency.ThreadManager(1, kind) as lends:
        run = Detector(before("A", "B"), strategy="pps", manager=lends).into(explain=True)
        run.push_all(Occurrence("AB"[t % 2], t) for t in range(4))
        run.end()
        assert run.explain(1).positions == expected


# -- auto


def slow(event):
    return sum(range(40_000)) > 0


def test_auto_keeps_trivial_predicates_sequential_and_turns_to_workers_for_slow_ones(manager):
    events = [Occurrence("AB"[t % 2], t) for t in range(300)]
    for tree, sequential in ((before("A", on(trivial)), True), (both(on(slow), "B"), False)):
        out = []
        run = Detector(tree, strategy="auto", manager=manager).into(out)
        run.push_all(events)
        assert isinstance(run.processors[0].remembered, list) == sequential
        run.end()
        assert out == list(Detector(tree)(events))


def trivial(event):
    return event.kind == "B"


# -- failures


def fails_at_12(event):
    if event.time == 12:
        raise ValueError("cannot be asked")
    return True


def push(query, events, out):
    run = query.into(out)
    run.push_all(events)
    run.end()


FAILING = [Occurrence("AB"[t % 2], t) for t in range(30)]


@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.parametrize("strategy", ["pps", "heartbeat", "ups", "hybrid"])
def test_failure_comes_after_everything_before_it_and_names_its_event(kind, strategy):
    out = []
    with concurrency.ThreadManager(2, kind) as lends:
        query = Detector(before(on(fails_at_12), "B"), strategy=strategy, manager=lends, chunk=20)
        with pytest.raises(StreamError, match="cannot be asked") as caught:
            push(query, FAILING, out)
    assert caught.value.position == 12
    assert caught.value.event == "Occurrence('A', 12)"
    assert isinstance(caught.value.__cause__, ValueError)
    assert [o.time for o in out] == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize("strategy", ["pps", "heartbeat", "ups"])
def test_tolerant_run_notes_the_failure_and_loses_nothing_else(manager, strategy):
    out, letters = [], []
    tree = before(on(fails_at_12), "B")
    run = detector(tree, Mode.RECENT, strategy=strategy, manager=manager, chunk=7).into(out, on_error=letters)
    run.push_all(FAILING)
    run.end()
    assert "cannot be asked" in str(letters[0].error)
    assert letters[0].events == (FAILING[12],)
    rest = [e for e in FAILING if e.time != 12]
    assert out == list(Detector(tree, Mode.RECENT)(rest))


def dies(event):
    import os

    os._exit(3)


def test_worker_that_dies_is_named_and_the_run_goes_on_only_from_a_saved_state():
    letters = []
    with concurrency.ThreadManager(1, "processes") as processes:
        query = Detector(before(on(dies), "B"), strategy="pps", manager=processes, chunk=2)
        run = query.into(on_error=letters)
        run.push_all(HISTORY[:4])
    assert "ended with status 3" in str(letters[0].error)
    assert "load a saved state or reset the run" in str(letters[1].error)


def test_full_buffer_in_a_shared_join_is_told_once(manager):
    tree = before("A", "B")
    query = Detector(tree, Mode.ALL, strategy="ups", manager=manager, max_pending=2, chunk=8)
    letters = []
    run = query.into(on_error=letters)
    run.push_all(Occurrence("A", t) for t in range(3))
    run.end()
    assert len(letters) == 1
    assert isinstance(letters[0].error.__cause__, BufferFullError)


@pytest.mark.parametrize("full", ["drop_newest", "drop_oldest"])
def test_full_buffers_drop_the_same_with_every_strategy(manager, full):
    events = bursts(300)
    for mode in (Mode.ALL, Mode.CHRONICLE):
        bounds = {"max_pending": 5, "full": full}
        expected = list(Detector(FIGURE_1, mode, **bounds)(events))
        for strategy in STRATEGIES:
            query = Detector(FIGURE_1, mode, strategy=strategy, manager=manager, chunk=64, **bounds)
            assert list(query(events)) == expected


def test_out_of_order_event_is_refused_at_once(manager):
    out, letters = [], []
    run = Detector(before("A", "B"), strategy="pps", manager=manager).into(out, on_error=letters)
    run.push_all([Occurrence("A", 3), Occurrence("B", 2), Occurrence("B", 4)])
    run.end()
    assert "out of order: its time stamp is 2, 3 came before" in str(letters[0].error)
    assert [str(o) for o in out] == ["(A.3, B.4, 4)"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "x"}, "one of sequential, pps, heartbeat, ups, hybrid, auto, got 'x'"),
        ({"strategy": "ups"}, "strategy='ups' needs a manager that lends workers, such as ThreadManager"),
        ({"chunk": 0}, "chunk must be an integer of at least 1, got 0"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        Detector(plus("A", 1), **options)
