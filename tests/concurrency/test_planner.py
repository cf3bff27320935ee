"""The planner: what it wraps, what it leaves, and what it says about it."""

import pickle
from itertools import count, islice
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.concurrency import PullGroup, ThreadManager, assert_equivalent, parallelize
from millstream.concurrency.costs import gain
from millstream.concurrency.planner import classify
from millstream.palettes.ltl import Monitor
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    Decimate,
    Filter,
    Fork,
    Group,
    KeepLast,
    Passthrough,
    StreamError,
    Stutter,
    Tap,
    Unpack,
    X,
    chain,
    connect,
)
from millstream.processors.push import DEPTH
from millstream.processors.testing import check_processor, pushed

from .servants import Last, nonzero, work

DEAR = Apply(work(5_000))


def adding(x, y):
    return work(5_000)(x) + y


def is_even(x):
    return work(5_000)(x) % 2 == 0


SAMPLE = list(range(1, 40))


def choices(query):
    return [decision.choice for decision in query.plan().decisions]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        (Apply(abs) | Filter(X > 1), "stateless"),
        (Last(), "bounded history"),
        (Window(Filter(X > 1), 5), "bounded history"),
        (Slice(X % 3, Count()), "keyed"),
        (Slice(X % 3, Count(), ttl=5), "order-bound"),
        (Monitor("G a", atoms={"a": X > 1}), "associative"),
        (Cumulate(add), "order-bound"),
    ],
    ids=str,
)
def test_classification(query, kind):
    assert classify(query)[0] == kind


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (DEAR, ["Pipeline"]),
        (DEAR | Cumulate(add), ["Pipeline", "as it is"]),
        (Apply(X + 1) | DEAR | Cumulate(add), ["Pipeline", "as it is"]),
        (Slice(X % 8, DEAR), ["ParallelSlice"]),
        (Apply(X + 1) | Cumulate(add), ["as it is", "as it is"]),
        (DEAR | Cumulate(add) | DEAR, ["Pipeline", "as it is", "Pipeline"]),
    ],
    ids=str,
)
def test_planner_wraps_what_pays(query, expected):
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager, sample=SAMPLE)
        assert choices(fast) == expected, str(fast.plan())
        assert_equivalent(query, fast, [SAMPLE, [], [5]])


def test_planner_lets_a_dear_stage_with_state_run_ahead():
    query = Cumulate(adding) | Cumulate(adding)
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager, sample=SAMPLE)
        assert sorted(choices(fast)) == ["PullGroup", "as it is"], str(fast.plan())
        assert_equivalent(query, fast, [SAMPLE])


@pytest.mark.parametrize(
    ("limit", "workers", "sample", "reason"),
    [
        (0, "processes", SAMPLE, "the manager lends no workers (limit 0)"),
    ],
)
def test_planner_declines_and_says_why(limit, workers, sample, reason):
    with ThreadManager(limit, workers) as manager:
        fast = parallelize(DEAR | Count(), manager, sample=sample)
        assert choices(fast) == ["as it is", "as it is"]
        assert {decision.reason for decision in fast.plan().decisions} == {reason}
        assert list(fast([3, 4])) == [1, 2]


EVENTS = list(range(1, 300))
UNDECIDED = [
    (DEAR, ["Pipeline"]),
    (DEAR | Cumulate(add), ["Pipeline", "as it is"]),
    (Last() | DEAR, ["as it is", "Pipeline"]),
    (Slice(X % 8, DEAR | Count()), ["ParallelSlice"]),
    (Slice(X % 8, DEAR, snapshot=True), None),
    (Slice(X % 8, DEAR | Count() | Last()), ["ParallelSlice"]),
    (Monitor("G (a -> F b)", atoms={"a": is_even, "b": X == 7}), ["ChunkedMonitor"]),
    (Cumulate(adding) | Cumulate(adding), None),
    (Apply(X + 1) | Cumulate(add), None),
    (Apply(X + 1) | KeepLast(), None),
    (Apply(X + 1) | Window(max, 5), None),
    (DEAR | Window(max, 5), ["Pipeline", "as it is"]),
    (Filter(X % 2) | Stutter(2) | Apply(abs), None),
    (Apply(abs) | PullGroup(Count(), ThreadManager(0)), None),
    (chain([Apply(abs), *[Stutter(1)] * 2 * DEPTH]), None),
]


@pytest.mark.parametrize(("query", "expected"), UNDECIDED, ids=str)
def test_planner_measures_the_first_events_where_there_is_no_sample(query, expected):
    traces = [EVENTS, [], [5], EVENTS[:20]]
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager)
        assert set(choices(fast)) == {"undecided"}
        assert_equivalent(query, fast, traces)
        assert expected in (None, choices(fast)), str(fast.plan())
        pushing = parallelize(query, manager)
        assert pushed(pushing, [EVENTS]) == pushed(query, [EVENTS])


@pytest.mark.parametrize("at", [0, 5, 100, 250])
def test_planner_saves_states_before_and_after_it_has_decided(at):
    query, expected, got = DEAR | Cumulate(add) | Last(), [], []
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager)
        first = fast.into(got)
        first.push_all(EVENTS[:at])
        saved = pickle.loads(pickle.dumps(first.save()))
        begun = len(got)
        for run in (first, parallelize(query, manager).into(expected), fast.into(expected)):
            if run is not first:
                run.load(saved)
            run.push_all(EVENTS[at:]), run.end()
        rest = list(query(EVENTS))
    assert got == rest
    assert expected == rest[begun:] * 2


def test_planner_without_a_sample_runs_nothing_twice_and_reads_nothing_ahead(monkeypatch):
    monkeypatch.setattr("millstream.concurrency.planner.WORTH", 100)  # nothing pays
    read, ran = [], []
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(Tap(ran.append) | Count() | Cumulate(add), manager)
        pulled = fast(read.append(k) or k for k in range(400))
        for n in range(1, 300):
            next(pulled)
            assert len(read) == n
        assert ran == read
        assert choices(fast) == ["as it is"] * 3


@pytest.mark.parametrize("query", [Apply(X + 1), Filter(X > 1) | Count(), Count() | Stutter(2)], ids=str)
def test_query_that_stays_what_it_is_has_nothing_between_it_and_its_reader(query):
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager)
        pulled = fast(count())
        outputs = list(islice(pulled, 500))
        assert set(choices(fast)) == {"as it is"}, str(fast.plan())
        assert pulled.gi_yieldfrom is None
        assert outputs == list(islice(query(count()), 500))


def test_planner_without_a_sample_leaves_joins_alone():
    whole, half, both = Passthrough(), Decimate(2), Apply(add)
    joined = connect(
        whole.outputs[0] >> both.inputs[0],
        whole.outputs[0] >> half.inputs[0],
        half.outputs[0] >> both.inputs[1],
    )
    query = DEAR | Group(joined, "joined")
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager)
        assert "joins streams of different clocks" in str(fast.plan())
        assert_equivalent(query, fast, [EVENTS])
        fast = parallelize(query, manager, sample=SAMPLE)
        assert choices(fast)[0] == "Pipeline", str(fast.plan())
        assert_equivalent(query, fast, [EVENTS])


def test_planner_gives_what_comes_before_a_failure_among_the_first_events():
    got = []
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(Unpack() | Apply(nonzero), manager)
        with pytest.raises(StreamError, match="at input event 1") as failed:
            got.extend(fast([[1, 2], [3, 0, 4]]))
        assert got == [nonzero(1), nonzero(2), nonzero(3)]
        assert isinstance(failed.value.__cause__, ZeroDivisionError)


def test_undecided_query_survives_failures_as_it_does_alone():
    query, events = Unpack() | Apply(nonzero) | Count(), [[1, 0, 2], [3], [0]] * 50
    alone, got, letters = query.into(on_error="skip"), [], []
    expected = list(query(events, on_error="skip"))
    alone.push_all(events)
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(query, manager)
        assert list(fast(events, on_error=letters)) == expected
        assert len(letters) == alone.statistics().skipped == 100
        assert letters[0].events == (0,)
        assert letters[0].error.position == 0
        run = parallelize(query, manager).into(got, on_error="skip")
        run.push_all(events)
        assert got == expected
        assert run.statistics().skipped == 100


def test_planner_without_a_sample_names_the_event_that_fails():
    events = [*range(1, 250), 0, 1]
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(Apply(nonzero) | Count(), manager)
        for run in (lambda: list(fast(events)), lambda: fast.into().push_all(events)):
            with pytest.raises(StreamError, match="at input event 249") as failed:
                run()
            assert isinstance(failed.value.__cause__, ZeroDivisionError)


def test_planner_declines_what_does_not_pickle():
    with ThreadManager(2, "processes") as manager:
        fast = parallelize(Apply(lambda x: work(5_000)(x)), manager, sample=SAMPLE)
        assert choices(fast) == ["as it is"]
        assert "cannot be pickled" in str(fast.plan())


def test_planner_declines_several_outputs():
    with ThreadManager(2, "processes") as manager:
        plan = parallelize(Fork(2), manager, sample=SAMPLE).plan()
        assert "only queries with one input and one output" in str(plan)


def test_planner_leaves_the_query_as_it_is_where_nothing_pays():
    query = Apply(X + 1) | Cumulate(add)
    with ThreadManager(2, "processes") as manager:
        assert parallelize(query, manager, sample=SAMPLE).query is query


@given(st.floats(1e-7, 1e-3), st.floats(0, 1e-5), st.floats(0, 1e-3), st.integers(1, 8), st.integers(2, 8))
def test_gain_is_never_more_than_the_cores(cost, moving, rest, workers, cores):
    assert 0 < gain("processes", cost, moving, rest, workers, cores) <= min(cores, workers + 1)


@pytest.mark.parametrize("query", [Apply(X + 1) | Count(), Slice(X % 2, Count()) | str], ids=str)
def test_undecided_query_obeys_the_laws_of_processors(query, monkeypatch):
    monkeypatch.setattr("millstream.concurrency.deciding.MOST", 3)
    with ThreadManager(2, "processes") as manager:
        check_processor(parallelize(query, manager), st.integers(-3, 3), max_examples=10)


def test_equivalence_compares_failures():
    assert_equivalent(Apply(nonzero), Apply(nonzero), [[1, 0, 2]])
    with pytest.raises(AssertionError, match=r"pulled, trace 0, output 1: .* and 30"):
        assert_equivalent(Apply(nonzero), Apply(lambda x: 60 // (x or 2)), [[1, 0]])
