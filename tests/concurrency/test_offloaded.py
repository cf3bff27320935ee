"""PullGroup and Pipeline: the outputs of the plain query, in order, with every kind of worker."""

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.concurrency import (
    ParallelSlice,
    Pipeline,
    PullGroup,
    RemoteTraceback,
    ThreadManager,
    WorkerDiedError,
)
from millstream.concurrency.chunks import MOST, Chunk, Ordered, Pace
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    E,
    Filter,
    KeepLast,
    Multiplex,
    ParameterError,
    StreamError,
    Unpack,
    X,
)
from millstream.processors.testing import check_processor, pushed

from .servants import Last, SumUntil, killing, nonzero, work
from .test_manager import KINDS

STATEFUL = [Cumulate(add), Filter(X > 0) | Count(), KeepLast(), Apply(lambda x: [x] * 2) | Unpack()]
BOUNDED = [
    Apply(abs),
    Filter(X > 0) | Apply(X * 2),
    Last(),
    Apply(X + 1) | Last() | Filter(X % 2 == 0),
    Last() | Last(),
    Window(Filter(X > 0) | Apply(X + 1), 3),
    SumUntil(5),
    Apply(X + 1) | SumUntil(5),
]


@given(st.permutations(range(6)))
def test_ordered_gives_replies_in_the_order_of_chunks(arrivals):
    ordered, given_order = Ordered(), []
    for k in range(6):
        ordered.number(Chunk(k, k, 1))
    for k in arrivals:
        ordered.arrive(k, k)
        while (done := ordered.next()) is not None:
            given_order.append(done[1])
    assert given_order == list(range(6))
    assert ordered.under_way == 0


@pytest.mark.parametrize("limit", [0, 1, 2])
@pytest.mark.parametrize("inner", STATEFUL[:3], ids=str)
def test_pull_group_obeys_the_laws_of_processors(inner, limit):
    with ThreadManager(limit) as manager:
        check_processor(PullGroup(inner, manager, size=3), st.integers(-3, 3), max_examples=5)


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("inner", BOUNDED, ids=str)
def test_pipeline_obeys_the_laws_of_processors(inner, limit):
    with ThreadManager(limit) as manager:
        check_processor(Pipeline(inner, manager, depth=4), st.integers(-3, 3), max_examples=5)


EVENTS = [k * k % 23 - 7 for k in range(300)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [1, 2, 100])
def test_outputs_are_those_of_the_plain_query(kind, limit):
    if kind != "threads":
        limit = min(limit, 2)
    with ThreadManager(limit, kind) as manager:
        for inner in (Cumulate(add), Filter(X > 0) | Count(), KeepLast()):
            assert_same(PullGroup(inner, manager), inner)
            assert_same(PullGroup(inner, manager, size=7), inner)
        for inner in BOUNDED[:4] + BOUNDED[6:]:
            assert_same(Pipeline(inner, manager, depth=40), inner)
        assert manager.statistics().running == 0


def assert_same(parallel, plain):
    expected = list(plain(EVENTS))
    assert list(parallel(EVENTS)) == expected
    assert pushed(parallel, [EVENTS]) == [expected]
    assert list((Apply(X + 1) | parallel | Apply(str))(EVENTS)) == list(
        (Apply(X + 1) | plain | Apply(str))(EVENTS)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_pull_group_is_started_and_stopped_while_events_flow(kind):
    out, running = [], []
    with ThreadManager(1, kind) as manager:
        group = PullGroup(Cumulate(add), manager)
        run = group.into(out)
        for start in (True, False, False, True):
            group.start() if start else group.stop()
            assert group.is_started == start
            run.push_all(range(20))
            running.append(manager.statistics().running)
        run.end()
    assert running == [1, 0, 0, 1]
    assert out == list(Cumulate(add)([*range(20)] * 4))


def test_stopped_pull_group_reads_nothing_ahead():
    read = []
    with ThreadManager(1) as manager:
        group = PullGroup(Apply(abs), manager)
        group.stop()
        pulled = group(read.append(k) or k for k in range(100))
        assert [next(pulled) for _ in range(5)] == read == list(range(5))


def test_slow_events_are_answered_before_the_next_is_read():
    pace = Pace()
    assert (pace.length(MOST), pace.is_slow) == (1, False)
    pace.took(1e-5, 10)
    pace.came(1e-4, 10)
    assert (pace.length(100), pace.is_slow) == (100, False)
    pace.came(5.0, 10)
    assert (pace.length(MOST), pace.is_slow) == (1, True)
    pace.took(4.0, 10)
    assert (pace.length(MOST), pace.is_slow) == (1, False)


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_tell_how_many_events_are_under_way(kind):
    with ThreadManager(2, kind) as manager:
        for query in (PullGroup(abs, manager), Pipeline(abs, manager)):
            run = query.into(counting=True)
            for event in range(3000):
                run.push(event)
                (flow,) = run.statistics().processors
                assert flow.taken - flow.emitted == sum(flow.waiting)
            run.wait_for()
            assert run.statistics().processors[0].waiting == (0,)
        run = ParallelSlice(Slice(X % 3, Count()), manager).into(counting=True)
        for event in range(3000):
            run.push(event)
            (flow,) = run.statistics().processors
            assert flow.taken - flow.emitted >= sum(flow.waiting)
        run.wait_for()
        assert run.statistics().processors[0].waiting == (0,)


def test_wait_for_gives_all_that_is_under_way():
    out = []
    with ThreadManager(2) as manager:
        run = Pipeline(Apply(abs), manager).into(out)
        for n in range(1, 200):
            run.push_fast(-n)
            if n % 50 == 0:
                run.wait_for()
                assert out == list(range(1, n + 1))


@given(st.lists(st.integers(0, 3), max_size=8))
def test_pull_group_survives_changes_of_the_limit(limits):
    out = []
    with ThreadManager(1) as manager:
        run = PullGroup(Cumulate(add), manager, size=3).into(out)
        for k, limit in enumerate(limits):
            manager.limit = limit
            run.push_all(range(k, k + 5))
            run.save()
        run.end()
    expected = [x for k in range(len(limits)) for x in range(k, k + 5)]
    assert out == list(Cumulate(add)(expected))


def test_changed_limit_is_noticed_while_events_flow():
    out = []
    with ThreadManager(1) as manager:
        run = Pipeline(Apply(abs), manager, depth=6).into(out)
        running = []
        for limit in (1, 3, 2, 0, 1):
            manager.limit = limit
            run.push_all(range(-40, 0))
            running.append(manager.statistics().running)
        run.end()
    assert running == [1, 3, 2, 0, 1]
    assert out == [abs(x) for x in range(-40, 0)] * 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrap", [PullGroup, Pipeline])
def test_failure_comes_after_earlier_outputs_with_its_position(kind, wrap):
    events = [*range(1, 40), 0, *range(1, 40)]
    with ThreadManager(2, kind) as manager:
        out = []
        query = Apply(X + 0) | wrap(Apply(nonzero), manager)
        run = query.into(out)
        with pytest.raises(
            StreamError, match=f"place {wrap.__name__} > 0:Apply: ZeroDivisionError"
        ) as failed:
            run.push_all(events), run.end()
        assert failed.value.position == 39
        assert out == [60 // x for x in range(1, 40)]
        assert isinstance(failed.value.__cause__, ZeroDivisionError)
        assert kind == "threads" or isinstance(failed.value.__cause__.__cause__, RemoteTraceback)
        pulled = query(events)
        assert [next(pulled) for _ in range(39)] == out
        with pytest.raises(StreamError, match="at input event 39"):
            next(pulled)
    del run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrap", [PullGroup, Pipeline])
def test_skipped_failures_leave_the_others(kind, wrap):
    events = [1, 0, *range(2, 50), 0, 1]
    with ThreadManager(2, kind) as manager:
        out, letters = [], []
        run = wrap(Apply(nonzero), manager).into(out, on_error=letters)
        run.push_all(events), run.end()
        assert out == [60 // x for x in events if x]
        assert [(letter.error.position, letter.events) for letter in letters] == [(1, (0,)), (50, (0,))]
        assert list(wrap(Apply(nonzero), manager)(events, on_error="skip")) == out


def test_failing_source_comes_after_the_outputs_of_what_it_gave():
    def source():
        yield from (1, 2, 3)
        raise OSError("the line is dead")

    with ThreadManager(1) as manager:
        pulled = PullGroup(Cumulate(add), manager)(source())
        assert [next(pulled) for _ in range(3)] == [1, 3, 6]
        with pytest.raises(StreamError, match="OSError: the line is dead"):
            next(pulled)
        assert manager.statistics().running == 0


def test_killed_worker_is_an_error():
    with ThreadManager(1, "processes") as manager:
        run = PullGroup(Apply(killing()), manager).into()
        with pytest.raises(
            StreamError, match=r"WorkerDiedError: worker 1 .* was killed by signal 9"
        ) as failed:
            run.push_all([17] * 20 + [9] * 2000), run.end()
        assert isinstance(failed.value.__cause__, WorkerDiedError)


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (Cumulate(add), "Cumulate(add) keeps a state (value) that all later outputs may depend on"),
        (Filter(X > 1) | Last(), "has Last behind a processor that drops or adds events"),
        (KeepLast(), "keeps a state (last) that all later outputs may depend on"),
    ],
    ids=str,
)
def test_pipeline_refuses(inner, message):
    with ThreadManager(1) as manager, pytest.raises(ParameterError) as refused:
        Pipeline(inner, manager)
    assert message in str(refused.value)
    assert "; copies would give other outputs. Try PullGroup" in str(refused.value)


def test_pipeline_refuses_what_is_not_one_to_one():
    with ThreadManager(1) as manager, pytest.raises(ParameterError, match="one input and one output"):
        Pipeline(Multiplex(2), manager)


def test_declared_history_is_taken_at_its_word():
    class Forgetful(Cumulate):
        pass

    with ThreadManager(2) as manager:
        query = Pipeline(Last() | Apply(work(10)), manager, history=3)
        assert list(query(EVENTS)) == list(Last()(EVENTS))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_repetitions_give_the_same(kind):
    with ThreadManager(2, kind) as manager:
        for k in range(100):
            inner = Apply(work(k % 7 * 20)) | Cumulate(add)
            assert list(PullGroup(inner, manager, size=1 + k)(EVENTS)) == list(inner(EVENTS))
            assert list(Pipeline(Last(), manager, depth=1 + k)(EVENTS)) == list(Last()(EVENTS))


@pytest.mark.parametrize("wrap", [Pipeline, PullGroup])
def test_query_on_columns_in_threads_gives_the_same(wrap):
    pa = pytest.importorskip("pyarrow")
    from millstream.palettes.columns import columnar

    rows = [{"a": k, "b": k * k % 7} for k in range(300)]
    batches = [pa.RecordBatch.from_pylist(rows[k : k + 30]) for k in range(0, 300, 30)]
    query = Filter(E.a % 3 == 1) | Apply(E.b * 2 + E.a)
    with ThreadManager(2) as manager:
        parallel = wrap(columnar(query), manager) | columnar(Cumulate(add))
        values = [y for batch in parallel(batches) for y in batch.column("value").to_pylist()]
    assert values == list((query | Cumulate(add))(rows))


def test_pipeline_refuses_a_query_on_columns_that_keeps_a_state():
    pytest.importorskip("pyarrow")
    from millstream.palettes.columns import columnar

    refused = pytest.raises(ParameterError, match=r"Pipeline: .*Columnar.* keeps a state")
    with ThreadManager(2) as manager, refused:
        Pipeline(columnar(Cumulate(add)), manager)
