"""NonBlockingProcessor: the laws of the plain processor, and steps that are under way at the same time."""

from operator import add
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.concurrency import NonBlockingProcessor, ThreadManager
from millstream.palettes.ltl import Always, Exists, ForAll
from millstream.palettes.slicer import ALL, Slice
from millstream.palettes.windows import Window
from millstream.processors import (
    Apply,
    ClosedError,
    Count,
    Cumulate,
    Filter,
    KeepLast,
    StreamError,
    Uniform,
    X,
    processor,
    state,
)
from millstream.processors.testing import check_processor, pushed

from .servants import around, below_forty, domain, nonzero, one_two_three
from .test_manager import KINDS


@pytest.mark.parametrize("limit", [0, 1, 2])
@pytest.mark.parametrize("inner", [Cumulate(add), Filter(X > 0) | Count(), KeepLast()])
def test_wrapper_obeys_the_laws_of_processors(inner, limit):
    with ThreadManager(limit) as manager:
        check_processor(NonBlockingProcessor(inner, manager), st.integers(-3, 3), max_examples=5)


@given(st.lists(st.tuples(st.sampled_from(["push", "push_fast", "wait_for"]), st.integers(0, 9))))
def test_any_mixture_of_calls_gives_the_plain_outputs(calls):
    expected, got = [], []
    plain = (Filter(X > 1) | Cumulate(add)).into(expected)
    with ThreadManager(1) as manager:
        run = NonBlockingProcessor(Filter(X > 1) | Cumulate(add), manager).into(got)
        for name, event in calls:
            if name == "wait_for":
                run.wait_for()
                assert got == expected
            else:
                getattr(run, name)(event)
                plain.push(event)
        run.end()
    assert got == expected


def test_plain_run_has_the_same_calls():
    out = []
    run = Cumulate(add).into(out)
    run.push_fast(1)
    assert out == [1]
    run.wait_for()
    events = iter([2, 3])
    assert [run.pull_fast(events) for _ in range(3)] == [True, True, False]
    assert out == [1, 3, 6]


def test_steps_of_copies_are_under_way_at_the_same_time():
    meeting = Barrier(3, timeout=20)

    def meet(x):
        meeting.wait()
        return x + 1

    out = []
    with ThreadManager(3) as manager:
        run = NonBlockingProcessor(Apply(meet), manager).into(out)
        states = [run.fresh() for _ in range(3)]
        for k, _ in enumerate(run.each(zip(states, [10, 20, 30], strict=True))):
            assert out == [11, 21, 31][: k + 1]
        assert manager.statistics().running == 0


def always_all(event):
    return ALL if event == "all" else event


@pytest.mark.parametrize("host", ["window", "slice", "quantifier", "always"])
def test_hosts_step_their_copies_at_the_same_time(host, monkeypatch):
    """Three copies get an event for all; each waits for the other two, so one at a time would not do."""
    monkeypatch.setattr("millstream.concurrency.nonblocking.HAND_OVER", 0)
    monkeypatch.setattr("millstream.concurrency.chunks.LATENCY", 1000)
    meeting = Barrier(3, timeout=20)

    def meet(x):
        if x == "all" or (isinstance(x, tuple) and x[1] == "all"):
            meeting.wait()

    with ThreadManager(3) as manager:
        inner = NonBlockingProcessor(Apply(meet), manager)
        query, events = {
            "window": (Window(inner, 3), ["a", "b", "all", "c", "d"]),
            "slice": (Slice(always_all, inner, keep=True), [*range(3), "all"]),
            "quantifier": (ForAll(lambda e: (1, 2, 3), inner), ["all"]),
            "always": (Always(NonBlockingProcessor(Number() | meet, manager)), ["a", "b", "all"]),
        }[host]
        assert len(list(query(events))) > 0
        assert manager.statistics().granted > 0


@processor
class Number(Uniform):
    """Number the events: copies that began at different positions differ."""

    seen: int = state(0)

    def step(self, x):
        self.seen += 1
        return x


@pytest.mark.parametrize("kind", KINDS)
def test_copies_keep_their_states(kind):
    plain, fast = [], []
    with ThreadManager(2, kind) as manager:
        for query, out in ((Cumulate(add), plain), (NonBlockingProcessor(Cumulate(add), manager), fast)):
            run = query.into(out)
            states = [run.fresh() for _ in range(3)]
            for event in range(5):
                states = list(run.each((s, event * 10**k) for k, s in enumerate(states)))
    assert fast == plain


def test_cheap_copies_are_stepped_here_once_that_is_known():
    with ThreadManager(2) as manager:
        run = NonBlockingProcessor(Cumulate(add), manager).into()
        states = [run.fresh() for _ in range(3)]
        for event in range(20):
            states = list(run.each((s, event) for s in states))
        assert [s[0] for s in states] == [(sum(range(20)),)] * 3
        assert manager.statistics().granted < 20


def test_copies_with_a_step_under_way_are_waited_for():
    out = []
    with ThreadManager(3) as manager:
        run = NonBlockingProcessor(Cumulate(add), manager).into(out)
        run.push_fast(5)
        begun = run.take()
        states = list(run.each([(begun, 1), (run.fresh(), 2)]))
        list(run.each((s, 10) for s in states))
    assert out == [5, 6, 2, 16, 12]


@pytest.mark.parametrize("limit", [0, 2])
def test_wrapper_inside_windows_slices_and_quantifiers(limit):
    events = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9]
    by = lambda x: ALL if x == 5 else x % 3  # noqa: E731
    with ThreadManager(limit) as manager:
        wrapped = NonBlockingProcessor(Cumulate(add), manager)
        for make in (
            lambda inner: Window(inner, 4),
            lambda inner: Window(inner, 4, step=2, partial=True),
            lambda inner: Slice(by, inner),
            lambda inner: Slice(by, inner, snapshot=True),
            lambda inner: Slice(by, inner, collect=sum, until=X > 20),
            lambda inner: Slice(by, inner, max_slices=2, full="drop"),
            lambda inner: ForAll(lambda e: (1, 2, 3), Apply(X[1]) | inner | Apply(X < 40)),
        ):
            assert list(make(wrapped)(events)) == list(make(Cumulate(add))(events))


def hosts(inner, width, every):
    yield Window(inner, width, step=every, partial=True, exact=True)
    yield ForAll(one_two_three, X[1] | inner | below_forty)
    yield Exists(around, X[1] | inner | below_forty, grows=True)


def agree_on(events, width, every, manager):
    inner = Filter(X != 3) | Cumulate(add)
    spread = hosts(NonBlockingProcessor(inner, manager), width, every)
    for plain, query in zip(hosts(inner, width, every), spread, strict=True):
        assert list(query(events)) == list(plain(events))
        assert pushed(query, [events]) == pushed(plain, [events])


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=25)
def test_spread_copies_give_what_the_host_gives(events, width, every):
    """Windows that say nothing, values that come later, ends: in push and pull."""
    with ThreadManager(2) as manager:
        agree_on(events, width, every, manager)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_copies_are_spread_over_any_workers(kind, limit):
    with ThreadManager(limit, kind) as manager:
        agree_on([k * k % 11 for k in range(200)], 7, 2, manager)
        assert manager.statistics().running == 0


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("host", [0, 1, 2])
def test_hosts_of_spread_copies_obey_the_laws_of_processors(host, limit):
    with ThreadManager(limit) as manager:
        query = list(hosts(NonBlockingProcessor(Cumulate(add), manager), 3, 2))[host]
        check_processor(query, st.integers(-3, 3), max_examples=5)


@pytest.mark.parametrize("kind", KINDS)
def test_spread_copies_fail_after_earlier_outputs_with_the_position(kind):
    for host in (lambda q: Window(q, 2), lambda q: ForAll(domain, X[1] | q)):
        out, letters = [], []
        with ThreadManager(2, kind) as manager:
            query = host(NonBlockingProcessor(Apply(nonzero), manager))
            run = query.into(out)
            with pytest.raises(StreamError, match=r"at input event 4 .*ZeroDivisionError"):
                run.push_all([1, 2, 3, 4, 0, 5]), run.end()
            assert out == list(host(Apply(nonzero))([1, 2, 3, 4]))
            again = host(NonBlockingProcessor(Apply(nonzero), manager))([1, 2, 0, 3, 4], on_error=letters)
            assert list(again) == list(host(Apply(nonzero))([1, 2, 0, 3, 4], on_error="skip"))
            assert letters[0].error.position == 2


@pytest.mark.parametrize("kind", KINDS)
def test_failure_comes_when_it_is_waited_for_with_its_position(kind):
    out = []
    with ThreadManager(1, kind) as manager:
        run = NonBlockingProcessor(Apply(nonzero), manager).into(out)
        run.push_fast(2)
        run.push_fast(0)
        with pytest.raises(
            StreamError, match=r"at input event 1 .*0:NonBlockingProcessor.*: ZeroDivisionError"
        ):
            run.wait_for()
        assert out == [30]
        with pytest.raises(ClosedError):
            run.push(1)


def test_state_under_way_cannot_be_saved():
    with ThreadManager(1) as manager:
        run = NonBlockingProcessor(Cumulate(add), manager).into()
        run.push_fast(1)
        with pytest.raises(ClosedError, match="a step is under way: call wait_for before the state is saved"):
            run.save()
        run.wait_for()
        run.save()


def test_forgotten_step_gives_its_worker_back():
    with ThreadManager(1) as manager:
        run = NonBlockingProcessor(Cumulate(add), manager).into()
        run.push_fast(1)
        run.reset()
        assert manager.statistics().running == 0


def test_quantifier_steps_its_copies_on_workers():
    """The reference's use: for all values of x, phi(x) is evaluated at the same time."""
    plain, events = ForAll(_domain, Apply(_at_least)), [3, 5, 1, 4]
    with ThreadManager(2) as manager:
        fast = ForAll(_domain, NonBlockingProcessor(Apply(_at_least), manager))
        assert list(fast(events)) == list(plain(events))
        assert manager.statistics().granted > 0


def _domain(event):
    return range(4)


def _at_least(pair):
    return pair[1] >= pair[0]
