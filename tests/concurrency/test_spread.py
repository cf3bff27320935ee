"""Slices spread by key, and monitors read in chunks: always what the plain query gives."""

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.concurrency import ChunkedMonitor, ParallelSlice, ThreadManager
from millstream.concurrency.machines import read_piece
from millstream.palettes.ltl import Monitor
from millstream.palettes.slicer import ALL, Slice
from millstream.processors import Apply, Count, Cumulate, KeepLast, ParameterError, StreamError, X
from millstream.processors.testing import check_processor, pushed

from .servants import nonzero
from .test_manager import KINDS

EVENTS = [k * k % 23 for k in range(400)]
FORMULAS = ["G (a -> F b)", "a U b", "F G a", "G !(a & b)"]
ATOMS = {"a": X % 2 == 0, "b": X % 3 == 0}


@pytest.mark.parametrize("limit", [0, 2])
def test_parallel_slice_obeys_the_laws_of_processors(limit):
    with ThreadManager(limit) as manager:
        query = ParallelSlice(Slice(X % 3, Cumulate(add)), manager, shards=2)
        check_processor(query, st.integers(-5, 5), max_examples=5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_parallel_slice_gives_what_the_slice_gives(kind, limit):
    with ThreadManager(limit, kind) as manager:
        for plain in (
            Slice(X % 7, Cumulate(add)),
            Slice(X % 7, Count() | Apply(X * 2), keep=True),
            Slice(X % 5, Count(), until=X == 3),
        ):
            expected = list(plain(EVENTS))
            assert list(ParallelSlice(plain, manager)(EVENTS)) == expected
            assert pushed(ParallelSlice(plain, manager, shards=3), [EVENTS]) == [expected]
        assert manager.statistics().running == 0


def test_parallel_slice_notices_a_changed_limit():
    out = []
    with ThreadManager(1) as manager:
        run = ParallelSlice(Slice(X % 7, Cumulate(add)), manager).into(out)
        for limit in (1, 3, 0, 2):
            manager.limit = limit
            run.push_all(EVENTS[:100])
            assert manager.statistics().running == limit
        run.end()
    assert out == list(Slice(X % 7, Cumulate(add))(EVENTS[:100] * 4))


def none_for_five(x):
    return None if x == 5 else x % 3


def test_parallel_slice_ignores_events_without_a_key():
    plain = Slice(none_for_five, Count())
    with ThreadManager(2) as manager:
        assert list(ParallelSlice(plain, manager)(EVENTS)) == list(plain(EVENTS))


@pytest.mark.parametrize("kind", KINDS)
def test_parallel_slice_fails_after_earlier_outputs_with_the_position(kind):
    out = []
    with ThreadManager(2, kind) as manager:
        run = ParallelSlice(Slice(X % 3, Apply(nonzero)), manager).into(out)
        with pytest.raises(StreamError, match=r"at input event 30 .*ZeroDivisionError") as failed:
            run.push_all([*range(1, 31), 0, *range(1, 50)]), run.end()
        assert failed.value.place.startswith("ParallelSlice > ")
        assert out == [(k % 3, 60 // k) for k in range(1, 31)]
        assert manager.statistics().running == 0


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (Count(), "Count() is not a Slice"),
        (Slice(X, Count(), snapshot=True), "has snapshot, which looks at several keys at once"),
        (
            Slice(X, KeepLast()),
            "gives the outputs of KeepLast at the end of the trace in the order of slices",
        ),
    ],
    ids=["no slice", "snapshot", "end"],
)
def test_parallel_slice_refuses(plain, message):
    with ThreadManager(1) as manager, pytest.raises(ParameterError) as refused:
        ParallelSlice(plain, manager)
    assert message in str(refused.value)


def test_parallel_slice_refuses_an_event_for_all():
    with ThreadManager(1) as manager:
        run = ParallelSlice(Slice(lambda x: ALL, Count()), manager).into()
        with pytest.raises(StreamError, match="by must be a plain key, which belongs to one worker, got ALL"):
            run.push(1)


@st.composite
def machines(draw):
    states, letters = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, states - 1), min_size=letters, max_size=letters)
    table = draw(st.lists(row, min_size=states, max_size=states))
    return table, draw(st.lists(st.integers(0, letters - 1), max_size=12))


@given(machines())
def test_piece_follows_every_state(machine):
    table, letters = machine
    piece = read_piece(table, letters)
    for before in range(len(table)):
        states, s = [], before
        for letter in letters:
            s = table[s][letter]
            states.append(s)
        assert piece.states(before) == tuple(states)


@pytest.mark.parametrize("limit", [0, 2])
def test_chunked_monitor_obeys_the_laws_of_processors(limit):
    with ThreadManager(limit) as manager:
        query = ChunkedMonitor(Monitor("a U b", atoms=ATOMS), manager)
        check_processor(query, st.integers(0, 5), max_examples=5)


@pytest.mark.parametrize("kind", ["threads", "processes"])
@pytest.mark.parametrize("semantics", ["ltl3", "rv-ltl", "ltlf"])
def test_chunked_monitor_says_what_the_monitor_says(kind, semantics):
    with ThreadManager(2, kind) as manager:
        for formula in FORMULAS:
            plain = Monitor(formula, atoms=ATOMS, semantics=semantics)
            assert list(ChunkedMonitor(plain, manager)(EVENTS)) == list(plain(EVENTS))


def test_chunked_monitor_refuses_what_has_no_automaton():
    with ThreadManager(1) as manager:
        with pytest.raises(ParameterError, match="inner must be a Monitor without explanations"):
            ChunkedMonitor(Count(), manager)
        with pytest.raises(ParameterError, match="has no small automaton"):
            ChunkedMonitor(Monitor("G (a -> F[0,5] b)", time=X), manager)
