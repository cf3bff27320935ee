"""Failures: what is said, what was delivered before, what happens afterwards, and the policies."""

import pickle
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.processors import (
    Apply,
    BufferFullError,
    ClosedError,
    Cumulate,
    Divert,
    Filter,
    Fork,
    Insert,
    Pack,
    Passthrough,
    Prefix,
    Processor,
    RunOn,
    StreamError,
    Tap,
    Trim,
    Unpack,
    X,
    chain,
    connect,
    processor,
)
from millstream.processors.testing import pushed


def reciprocal(x):
    return 12 // x


@processor
class Reciprocals(Processor):
    """Emits before it fails."""

    def step(self, x):
        self.emit(f"before {x}")
        self.emit(reciprocal(x))


def push_failing(query, events):
    out: list = []
    run = query.into(out)
    with pytest.raises(StreamError) as caught:
        run.push_all(events)
    return out, run, caught.value


def pull_failing(query, events):
    out: list = []
    with pytest.raises(StreamError) as caught:
        out.extend(query(events))
    return out, None, caught.value


@pytest.mark.parametrize("fail", [push_failing, pull_failing])
@pytest.mark.parametrize(
    ("query", "before", "processor", "place", "event"),
    [
        (Apply(reciprocal), [12, 6], "Apply(reciprocal)", "0:Apply", "0"),
        (Apply(12 // X), [12, 6], "Apply(12 // X)", "0:Apply", "0"),
        (Apply(X + 0) | reciprocal | str, ["12", "6"], "Apply(reciprocal)", "1:Apply", "0"),
        (Apply(reciprocal) | Apply(reciprocal), [1, 2], "Apply(reciprocal)", "0:Apply", "0"),
        (Filter(12 // X > 0), [1, 2], "Filter(12 // X > 0)", "0:Filter", "0"),
        (
            Reciprocals() | Filter(X != "before 0"),
            ["before 1", 12, "before 2", 6],
            "Reciprocals()",
            "0:Reciprocals",
            "0",
        ),
        (Trim(1) | Insert(5) | reciprocal, [2, 6], "Apply(reciprocal)", "2:Apply", "0"),
        (Tap(reciprocal), [1, 2], "Tap(reciprocal)", "0:Tap", "0"),
        (Prefix(5) | reciprocal, [12, 6], "Apply(reciprocal)", "1:Apply", "0"),
    ],
)
def test_failure_names_processor_place_event_and_position(fail, query, before, processor, place, event):
    out, _, error = fail(query, [1, 2, 0, 4])
    assert out == before
    assert (error.processor, error.place, error.event, error.position) == (processor, place, event, 2)
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_failure_reads_as_a_sentence():
    _, _, error = pull_failing(Apply(reciprocal), [1, 0])
    assert str(error) == (
        "Apply(reciprocal) failed on 0 at input event 1 (counted from 0), place 0:Apply: "
        "ZeroDivisionError: integer division or modulo by zero"
    )


@pytest.mark.parametrize(
    "source", [[1, 0], (1, 0), range(1, -1, -1), iter([1, 0]), (x for x in [1, 0]), {1: 0, 0: 0}]
)
def test_position_is_known_for_every_kind_of_iterable(source):
    _, _, error = pull_failing(Apply(reciprocal), source)
    assert error.position == 1


def test_failure_inside_a_hosted_query_gives_the_whole_path():
    query = Passthrough() | RunOn(Apply(X + 0) | reciprocal)
    for fail in (push_failing, pull_failing):
        _, _, error = fail(query, [[1], [2, 0]])
        assert error.place == "1:RunOn > 1:Apply"
        assert error.processor == "Apply(reciprocal)"
        assert error.position == 1


def test_failure_in_a_router_and_behind_a_join_is_named():
    _, _, error = push_failing(Divert(X) | Apply(add), [0, 1, 7])
    assert error.place == "0:Divert"
    assert "expected an output from 0 to 1, got 7" in error.reason
    query = Filter(X > 0) & Passthrough() | Apply(lambda a, b: a // b)
    run = query.into(print)
    run.push(1)
    with pytest.raises(StreamError) as caught:
        run.push(0, 1)
    assert caught.value.place == "2:Apply"
    assert caught.value.event == "1, 0"


def test_failure_at_the_end_of_the_trace_is_named():
    @processor
    class Late(Processor):
        def step(self, x):
            self.emit(x)

        def end(self):
            raise ValueError("too late")

    out: list = []
    run = Late().into(out)
    run.push(1)
    with pytest.raises(
        StreamError, match=r"Late\(\) failed at the end of the trace, place 0:Late: ValueError: too late"
    ):
        run.end()
    with pytest.raises(StreamError, match="too late"):
        list(Late()([1]))


def test_failing_sink_is_not_blamed_on_a_processor():
    def sink(y):
        raise OSError("disk full")

    for query in (Apply(X), Trim(0), Reciprocals()):
        with pytest.raises(StreamError, match=r"sink 0 failed on .*disk full"):
            query.into(sink).push(1)


def test_failing_source_is_raised_as_it_is_and_the_run_goes_on():
    def source():
        yield 1
        raise OSError("connection lost")

    out: list = []
    run = Apply(X).into(out)
    with pytest.raises(OSError, match="connection lost"):
        run.push_all(source())
    run.push(2)
    assert out == [1, 2]


def test_failed_run_refuses_events_until_a_state_is_loaded():
    run = Apply(reciprocal).into(print)
    saved = run.save()
    with pytest.raises(StreamError):
        run.push(0)
    for use in (lambda: run.push(1), lambda: run.push_all([1]), run.save):
        with pytest.raises(ClosedError, match="this run has failed"):
            use()
    run.end()
    run.load(saved)
    run.push(1)
    assert run.positions == (1,)


def test_ended_run_refuses_events():
    run = Apply(X).into(print)
    run.end()
    with pytest.raises(
        ClosedError, match="this run has ended; load a saved state, reset it, or start another"
    ):
        run.push(1)


def test_interrupted_run_is_closed():
    def interrupt(x):
        raise KeyboardInterrupt

    run = Apply(interrupt).into(print)
    with pytest.raises(KeyboardInterrupt):
        run.push(1)
    with pytest.raises(ClosedError, match="been interrupted by KeyboardInterrupt"):
        run.push(1)


def test_failure_pickles_with_its_cause():
    _, _, error = pull_failing(Apply(reciprocal), [0])
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert isinstance(copy.__cause__, ZeroDivisionError)


def test_failure_with_a_cause_that_cannot_travel_pickles_its_words():
    class LocalError(Exception):
        pass

    def fail(x):
        raise LocalError("only here")

    _, _, error = pull_failing(Apply(fail), [0])
    assert str(pickle.loads(pickle.dumps(error)).__cause__) == "LocalError: only here"


def test_skip_drops_the_failing_event_and_counts_it():
    out: list = []
    run = (Apply(reciprocal) | Cumulate(add)).into(out, on_error="skip")
    run.push_all([1, 0, 2, 0, 3])
    assert out == [12, 18, 22]
    assert run.statistics().skipped == 2
    assert list(Apply(reciprocal)([1, 0, 2], on_error="skip")) == [12, 6]


def test_dead_letters_get_error_and_event():
    letters: list = []
    assert list((Apply(X + 0) | reciprocal)([1, 0, 2], on_error=letters)) == [12, 6]
    (letter,) = letters
    assert letter.events == (0,)
    assert letter.error.place == "1:Apply"
    assert letter.error.position == 1


def test_skipping_keeps_forked_streams_aligned():
    """Where one branch of a fork fails, the event of the other branch is not paired with the next one."""
    query = Fork(2) | (Apply(reciprocal) & Apply(X * 100)) | Apply(lambda a, b: (a, b))
    assert list(query([1, 0, 2], on_error="skip")) == [(12, 100), (6, 200)]


def test_skipping_keeps_streams_of_different_clocks_aligned():
    query = Apply(reciprocal) & Filter(X > 0) | Apply(lambda a, b: (a, b))
    out: list = []
    run = query.into(out, on_error="skip")
    run.push_all([1, 0, 2])
    run.push_all([-5, 10, 20, 30], 1)
    assert out == [(12, 10), (6, 30)]


@given(st.lists(st.integers(0, 3), max_size=8))
def test_skipping_equals_removing_the_bad_events_in_a_pipeline(events):
    query = Apply(reciprocal) | Filter(X > 4) | Cumulate(add) | Pack(X > 20) | Unpack()
    good = [x for x in events if x]
    assert list(query(events, on_error="skip")) == list(query(good))
    assert pushed(query, [events], on_error="skip") == pushed(query, [good])


def test_skip_does_not_hide_a_failing_sink():
    def sink(y):
        raise OSError("disk full")

    for query in (Apply(X), Trim(0) | Pack(X > 0) | Unpack(), Reciprocals()):
        with pytest.raises(StreamError, match="disk full"):
            query.into(sink, on_error="skip").push_all([1, 2])


def test_failing_processor_in_a_deep_chain_is_named():
    query = chain([X + 1] * 500 + [reciprocal] + [X + 1] * 500)
    _, _, error = pull_failing(query, [1, -500])
    assert error.place == "500:Apply"


def test_full_join_follows_its_policy():
    pair = connect_pair()
    for full, expected in [("drop_newest", [(1, "a"), (2, "b")]), ("drop_oldest", [(2, "a"), (3, "b")])]:
        out: list = []
        run = pair.into(out, capacity=2, full=full)
        run.push_all([1, 2, 3])
        run.push_all("ab", 1)
        assert out == expected
    run = pair.into(print, capacity=2)
    run.push_all([1, 2])
    with pytest.raises(StreamError, match="input 0 holds 2 events and waits for the other inputs") as caught:
        run.push(3)
    assert isinstance(caught.value.__cause__, BufferFullError)


def connect_pair():
    pair = Apply(lambda a, b: (a, b))
    left, right = Passthrough(), Passthrough()
    return connect(
        left.outputs[0] >> pair.inputs[0],
        right.outputs[0] >> pair.inputs[1],
        inputs=[left.inputs[0], right.inputs[0]],
    )


def test_fork_read_at_different_pace_is_bounded_in_pull():
    left, right = (Fork(2) | (Passthrough() & Filter(X > 0)))(range(100), capacity=5)
    with pytest.raises(StreamError, match="a fork holds back 5 events"):
        list(left)
    assert next(right, None) is not None


def test_statistics_count_events_and_queues():
    query = Fork(2) | (Filter(X > 2) & Passthrough()) | Apply(add)
    run = query.into(print, counting=True)
    run.push_all([1, 2, 3])
    assert str(run.statistics()).splitlines() == [
        "processor      in  out  waiting",
        "0:Fork         3   3",
        "1:Filter       3   1",
        "2:Passthrough  3   3",
        "3:Apply        1   1    0 2",
    ]
    assert run.statistics().positions == (3,)


def test_statistics_without_counting_tell_queues_only():
    run = connect_pair().into(print)
    run.push_all([1, 2])
    flow = run.statistics().processors[2]
    assert (flow.taken, flow.emitted, sorted(flow.waiting)) == (None, None, [0, 2])


@pytest.mark.parametrize("taken", [0, 2])
def test_source_that_fails_is_named_with_the_position_of_the_missing_event(taken):
    def source():
        yield from range(taken)
        raise ValueError("broken file")

    message = (
        rf"the input failed at input event {taken} \(counted from 0\), place input: ValueError: broken file"
    )
    with pytest.raises(StreamError, match=message):
        list(Passthrough()(source()))
