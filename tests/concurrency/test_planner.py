"""The planner: what it wraps, what it leaves, and what it says about it."""

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.concurrency import ThreadManager, assert_equivalent, parallelize
from millstream.concurrency.costs import gain
from millstream.concurrency.planner import classify
from millstream.palettes.ltl import Monitor
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, Cumulate, Filter, Fork, X

from .servants import Last, nonzero, work

DEAR = Apply(work(5_000))
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
        (Monitor("G a", atoms={"a": X > 1}), "finite state"),
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


def adding(x, y):
    return work(5_000)(x) + y


@pytest.mark.parametrize(
    ("limit", "workers", "sample", "reason"),
    [
        (0, "processes", SAMPLE, "the manager lends no workers (limit 0)"),
        (2, "processes", [], "without a sample of events nothing is known about costs"),
    ],
)
def test_planner_declines_and_says_why(limit, workers, sample, reason):
    with ThreadManager(limit, workers) as manager:
        fast = parallelize(DEAR | Count(), manager, sample=sample)
        assert choices(fast) == ["as it is", "as it is"]
        assert {decision.reason for decision in fast.plan().decisions} == {reason}
        assert list(fast([3, 4])) == [1, 2]


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


def test_equivalence_compares_failures():
    assert_equivalent(Apply(nonzero), Apply(nonzero), [[1, 0, 2]])
    with pytest.raises(AssertionError, match=r"pulled, trace 0, output 1: .* and 30"):
        assert_equivalent(Apply(nonzero), Apply(lambda x: 60 // (x or 2)), [[1, 0]])
