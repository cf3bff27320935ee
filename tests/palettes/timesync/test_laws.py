"""Every processor of the palette obeys the laws of processors."""

from operator import add

import pytest
from hypothesis import strategies as st

from millstream.palettes.timesync import AddStream, RemoveStream, Reorder, Synchronizer, Tick
from millstream.processors import Cumulate, Uniform, VirtualClock, X, processor, state
from millstream.processors.testing import check_processor

METHODS = ("heads", "method 1", "method 2")


@processor
class InOrder(Uniform):
    """Turns (stream, by) into (stream, time, arrival): each stream is in order, the arrivals are, too."""

    times: dict = state(of=lambda _: {})
    now: int = state(0)

    def step(self, event):
        if not isinstance(event, tuple):
            return event
        stream, by = event
        self.now += 1
        self.times[stream] = self.times.get(stream, 0) + by
        return stream, self.times[stream], self.now


tagged = st.tuples(st.sampled_from("abc"), st.integers(0, 3))
steps = st.integers(0, 3)


@pytest.mark.parametrize("late", ["drop", "side"])
@pytest.mark.parametrize("capacity", [None, 2])
def test_reorder(late, capacity):
    check_processor(Reorder(3, time=X, late=late, capacity=capacity), st.integers(0, 12), max_examples=15)


def test_reorder_by_a_field():
    check_processor(Reorder(2), st.fixed_dictionaries({"t": st.integers(0, 9)}), max_examples=15)


@pytest.mark.parametrize("method", METHODS)
def test_synchronizer_with_tagged_events(method):
    check_processor(InOrder() | Synchronizer(X[1], "abc", X[0], method=method), tagged, max_examples=15)


@pytest.mark.parametrize("method", METHODS)
def test_synchronizer_with_delays_and_failures(method):
    query = InOrder() | Synchronizer(
        X[1], "ab", X[0], method=method, max_delay=2, max_failures=2, late="side", arrival=X[2], grow=True
    )
    check_processor(query, tagged, max_examples=15)


@pytest.mark.parametrize("method", METHODS)
def test_synchronizer_that_is_steered(method):
    query = InOrder() | Synchronizer(X[1], "a", X[0], method=method, max_delay=2, clock=VirtualClock().now)
    steer = st.just(Tick(3)) | st.sampled_from("a").map(lambda _: Tick())
    check_processor(query, st.tuples(st.just("a"), steps) | steer, max_examples=15)


@processor
class Coming(Uniform):
    """Turns stream names into commands that add and remove them in turn."""

    present: set = state(of=lambda _: set())

    def step(self, event):
        if isinstance(event, tuple):
            return event
        self.present ^= {event}
        return AddStream(event) if event in self.present else RemoveStream(event)


@pytest.mark.parametrize("method", METHODS)
def test_synchronizer_whose_streams_come_and_go(method):
    query = InOrder() | Coming() | Synchronizer(X[1], ["a", "z"], X[0], method=method)
    check_processor(query, st.tuples(st.sampled_from("az"), steps) | st.sampled_from("bcd"), max_examples=20)


@pytest.mark.parametrize("late", ["drop", "side"])
def test_synchronizer_with_an_input_for_each_stream(late):
    check_processor(Synchronizer(X, "a", late=late), st.just(1), max_examples=5)
    query = (Cumulate(add) & Cumulate(add)) | Synchronizer(X, "ab", late=late)
    check_processor(query, steps, steps, max_examples=15)
