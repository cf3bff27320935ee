"""Slices spread by key, and monitors read in chunks: always what the plain query gives."""

import os
import signal
import subprocess
import sys
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.concurrency import ChunkedMonitor, ParallelSlice, ThreadManager, WorkerDiedError
from millstream.concurrency.chunks import Failed
from millstream.concurrency.failures import Failure
from millstream.concurrency.machines import read_piece
from millstream.palettes.fsm import OTHERWISE, MooreMachine, On, V
from millstream.palettes.ltl import Monitor
from millstream.palettes.slicer import Slice
from millstream.processors import Apply, Count, Cumulate, KeepLast, ParameterError, StreamError, X
from millstream.processors.testing import check_processor, pushed

from .servants import broadcasting, killing, nonzero
from .test_manager import KINDS

EVENTS = [k * k % 23 for k in range(400)]
FORMULAS = ["G (a -> F b)", "a U b", "F G a", "G !(a & b)"]
ATOMS = {"a": X % 2 == 0, "b": X % 3 == 0}


@pytest.mark.parametrize("limit", [0, 2])
def test_parallel_slice_obeys_the_laws_of_processors(limit):
    with ThreadManager(limit) as manager:
        query = ParallelSlice(Slice(X % 3, Cumulate(add)), manager)
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
            assert pushed(ParallelSlice(plain, manager), [EVENTS]) == [expected]
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
        (Slice(X, Count(), ttl=3), "has ttl, which looks at several keys at once"),
        (Slice(X, Count(), max_slices=3), "has max_slices, which looks at several keys at once"),
    ],
    ids=["no slice", "ttl", "max_slices"],
)
def test_parallel_slice_refuses(plain, message):
    with ThreadManager(1) as manager, pytest.raises(ParameterError) as refused:
        ParallelSlice(plain, manager)
    assert message in str(refused.value)


OPTIONS = [{}, {"keep": True}, {"snapshot": True}, {"collect": sum}, {"collect": list}, {"until": X > 9}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("inner", [Cumulate(add), KeepLast(), Count()], ids=str)
@settings(max_examples=20)
@given(
    events=st.lists(st.integers(0, 9), max_size=25),
    limits=st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
def test_parallel_slice_takes_events_for_several_slices(inner, options, events, limits):
    plain, out = Slice(broadcasting, inner, **options), []
    with ThreadManager(2) as manager:
        run = ParallelSlice(plain, manager).into(out)
        for k, x in enumerate(events):
            manager.limit = limits[k * len(limits) // len(events)]
            run.push(x)
        run.end()
    assert out == pushed(plain, [events])[0]


@pytest.mark.parametrize("kind", KINDS)
def test_parallel_slice_sends_keys_of_every_kind(kind):
    with ThreadManager(2, kind) as manager:
        for options in OPTIONS:
            plain = Slice(broadcasting, Cumulate(add), **options)
            assert list(ParallelSlice(plain, manager)(EVENTS)) == list(plain(EVENTS))


def test_parallel_slice_failing_for_all_gives_the_outputs_of_earlier_slices():
    """The second slice fails on the event for all; the third comes after it."""
    plain, outs = Slice(broadcasting, Cumulate(division), keep=True), []
    with ThreadManager(2) as manager:
        for query in (plain, ParallelSlice(plain, manager)):
            outs.append([])
            run = query.into(outs[-1])
            with pytest.raises(StreamError, match=r"at input event 3 .*ZeroDivisionError"):
                run.push_all([1, 3, 2, 5]), run.end()
    assert outs[0] == outs[1] == [(1, 1), (0, 3), (2, 2), (1, 4)]


def division(x, y):
    return x // (x - 3) + y


def test_parallel_slice_goes_on_after_a_failure_that_is_skipped():
    outs = []
    plain = Slice(X % 3, Apply(nonzero) | Cumulate(add))
    with ThreadManager(2) as manager:
        for query in (plain, ParallelSlice(plain, manager)):
            outs.append([])
            run = query.into(outs[-1], on_error="skip")
            run.push_all([1, 3, 0, 6, 4, 0, 9]), run.end()
            assert run.statistics().skipped == 2
    assert outs[0] == outs[1]


def test_parallel_slice_gives_everything_before_a_worker_that_dies():
    """The deadly event is the only one of its worker."""
    events = [*([17] * 50), signal.SIGABRT, *([17] * 50)]
    out = []
    with ThreadManager(2, "processes") as manager:
        run = ParallelSlice(Slice(X, Apply(killing())), manager).into(out, on_error="skip")
        with pytest.raises(StreamError, match=r"WorkerDiedError: .* was killed by signal 6") as failed:
            run.push_all(events), run.end()
        assert isinstance(failed.value.__cause__, WorkerDiedError)
    assert out == [(17, None)] * 50


def test_parallel_slice_gives_what_it_has_when_asked():
    out = []
    with ThreadManager(2) as manager:
        run = ParallelSlice(Slice(X % 3, Count()), manager).into(out)
        for n in range(1, 50):
            run.push_fast(n)
            if n % 10 == 0:
                run.wait_for()
                assert len(out) == n


@pytest.mark.parametrize("seed", ["1", "2"])
def test_saved_parallel_slice_goes_on_in_another_process(seed, tmp_path):
    """The hash of a text differs from process to process; its slice must be found all the same."""
    script = """
import pickle, sys
from millstream.concurrency import ParallelSlice, ThreadManager
from millstream.palettes.slicer import Slice
from millstream.processors import Count, X
with ThreadManager(2) as manager:
    out = []
    run = ParallelSlice(Slice(X, Count()), manager).into(out)
    if sys.argv[1] == "save":
        run.push_all("abcab"), run.wait_for()
        sys.stdout.buffer.write(pickle.dumps(run.save()))
    else:
        run.load(pickle.loads(sys.stdin.buffer.read()))
        run.push_all("abc"), run.end()
        print(out)
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    saved, went_on = None, None
    for what, hashes in (("save", "0"), ("load", seed)):
        command = [sys.executable, "-c", script, what]
        done = subprocess.run(
            command, input=saved, capture_output=True, timeout=60, env={**env, "PYTHONHASHSEED": hashes}
        )
        assert done.returncode == 0, done.stderr
        saved, went_on = done.stdout, done.stdout
    assert went_on == b"[('a', 3), ('b', 3), ('c', 2)]\n"


@st.composite
def machines(draw):
    states, letters = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, states - 1), min_size=letters, max_size=letters)
    table = draw(st.lists(row, min_size=states, max_size=states))
    return table, draw(st.lists(st.integers(0, letters - 1), max_size=12))


@given(machines())
def test_piece_follows_every_state(machine):
    table, letters = machine
    piece, failed = read_piece(Table(table), letters)
    assert failed == any(isinstance(y, Failed) for outputs in (*piece.outputs, piece.common) for y in outputs)
    for before in range(len(table)):
        states, s = [], before
        for k, letter in enumerate(letters):
            s, y = Table(table).advance(letter, [s])[0]
            states.append(Failed(k, y.failure, letter) if isinstance(y, Failed) else y)
        assert piece.outputs[before] + piece.common == states
        assert piece.ends[before] == s


class Table:
    """A machine given by a table; letter 0 fails in state 1."""

    start = 0

    def __init__(self, table):
        self.table, self.count = table, len(table)

    def advance(self, letter, states):
        return [self.move(letter, s) for s in states]

    def move(self, letter, s):
        return (s, NO) if (s, letter) == (1, 0) else (self.table[s][letter],) * 2


NO = Failed(0, Failure(ValueError("no")))


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


def is_small(x):
    return x < 3


ROWS = [
    On("low", X > 15, "high"),
    On("low", X == 7, "off"),
    On("low", OTHERWISE, "low"),
    On("high", X < 5, "low"),
    On("high", X == 6, "off"),
    On("high", OTHERWISE, "high"),
    On("off", X % 2 == 1, "low"),
    On("off", X % 2 == 0, "off"),
]
MACHINES = [
    MooreMachine("low", ROWS),
    MooreMachine("low", ROWS, {"low": 0, "high": X * 2}),
    MooreMachine("low", [*ROWS[:2], ROWS[3]], unmatched="stay"),
    MooreMachine("off", [*ROWS, On("off", is_small, "high")], overlap="error"),
]


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_chunked_machine_says_what_the_machine_says(kind):
    with ThreadManager(2, kind) as manager:
        for plain in MACHINES[:3]:
            assert list(ChunkedMonitor(plain, manager)(EVENTS)) == list(plain(EVENTS))


@pytest.mark.parametrize("plain", MACHINES, ids=["plain", "symbols", "stay", "overlap"])
@given(events=st.lists(st.one_of(st.integers(0, 24), st.just("text")), max_size=30))
@settings(max_examples=20)
def test_chunked_machine_fails_where_the_machine_fails(plain, events):
    """A text cannot be compared with a number: the guards of some states fail on it."""
    with ThreadManager(2) as manager:
        told = []
        for query in (plain, ChunkedMonitor(plain, manager)):
            out, letters = [], []
            run = query.into(out, on_error=letters)
            run.push_all(events), run.end()
            told.append((out, [(n.error.position, n.error.reason) for n in letters]))
    assert told[0] == told[1]


@pytest.mark.parametrize("limit", [0, 2])
def test_chunked_machine_obeys_the_laws_of_processors(limit):
    with ThreadManager(limit) as manager:
        check_processor(ChunkedMonitor(MACHINES[1], manager), st.integers(0, 24), max_examples=5)


def test_chunked_monitor_refuses_what_has_no_automaton():
    counting = MooreMachine("a", [On("a", OTHERWISE, "a", set={"n": V.n + 1})], variables={"n": 0})
    with ThreadManager(1) as manager:
        for inner in (Count(), counting):
            with pytest.raises(
                ParameterError, match="Monitor without explanations or a MooreMachine without variables"
            ):
                ChunkedMonitor(inner, manager)
        with pytest.raises(ParameterError, match="has no small automaton"):
            ChunkedMonitor(Monitor("G (a -> F[0,5] b)", time=X), manager)
