"""LatticeWindow as a processor: order of arrival, bad input, lattices as values, pictures, snapshots."""

import pickle
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest

from millstream.palettes.lattice import (
    ConjunctiveWindow,
    Lattices,
    LatticeWindow,
    LocalState,
    definitely,
    possibly,
)
from millstream.processors import E, ParameterError, StreamError, X

from .computations import figure_3

FIGURE = [LocalState("ab"[k], clock, clock[k]) for k, clock in figure_3()]


def lattices(states, **options):
    return list((LatticeWindow(["a", "b"], 3, **options) | Lattices())(states))


def test_lattice_value_has_states_edges_meet_join_and_ends():
    lattice = lattices(FIGURE)[-2]
    assert list(lattice) == [(2, 3), (2, 4), (3, 3), (3, 4), (4, 4)]
    assert list(lattice.edges()) == [
        ((2, 3), (3, 3)),
        ((2, 3), (2, 4)),
        ((2, 4), (3, 4)),
        ((3, 3), (3, 4)),
        ((3, 4), (4, 4)),
    ]
    assert lattice.meet((2, 4), (3, 3)) == lattice.bottom == (2, 3)
    assert lattice.join((2, 4), (3, 3)) == (3, 4)
    assert lattice.top == (4, 4)
    assert lattice.predecessors((3, 4)) == [(2, 4), (3, 3)]
    assert lattice.local((3, 4)) == (3, 4)
    assert lattice.bounds == ((2, 4), (2, 4))
    with pytest.raises(ValueError, match=r"\(2, 2\) is not a consistent global state of this lattice"):
        lattice.meet((2, 2), (4, 4))


def test_lattice_of_two_processes_is_drawn():
    picture = ElementTree.fromstring(lattices(FIGURE)[-2].svg())
    kinds = [element.tag.rpartition("}")[2] for element in picture]
    assert kinds.count("circle") == 5 + 2
    assert kinds.count("path") == 4
    assert kinds.count("line") == 5


def test_lattice_of_three_processes_is_not_drawn():
    states = [LocalState(p, (0, 0, 0)) for p in "abc"]
    (*_, lattice) = (LatticeWindow("abc", 2) | Lattices())(states)
    with pytest.raises(ValueError, match="only lattices of 2 processes can be drawn, this one has 3"):
        lattice.svg()


def test_any_order_of_arrival_ends_in_the_same_lattice():
    shuffled = list(FIGURE)
    Random(3).shuffle(shuffled)
    assert lattices(shuffled)[-1] == lattices(FIGURE)[-1]


def test_windows_may_have_different_widths():
    states = [LocalState(p, (0, n) if p == "b" else (n, 0)) for n in range(6) for p in "ab"]
    (*_, change) = LatticeWindow(["a", "b"], {"a": 2, "b": 5})(states)
    assert (change.size, change.least, change.greatest) == (10, (4, 1), (5, 5))
    (*_, change) = LatticeWindow(["a", "b"], {"a": 2})(states)
    assert change.size == 12, "the window of b is unbounded"


def test_events_of_another_shape_are_read_by_expressions():
    events = [{"who": "a", "vc": [0, 0], "v": 1}, {"who": "b", "vc": [0, 0], "v": 1}]
    for event in (X, E):
        window = LatticeWindow(["a", "b"], 2, process=event["who"], clock=event["vc"], value=event["v"])
        assert list((window | possibly(lambda a, b: a == b))(events)) == [False, True]


def run(states, **options):
    return list(LatticeWindow(["a", "b"], 2, **options)(states))


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([LocalState("z", (0, 0))], r"unknown process 'z' \(processes: 'a', 'b'\)"),
        ([LocalState("a", (0, 0, 0))], r"clock of process 'a' has 3 components, expected 2: \(0, 0, 0\)"),
        ([LocalState("a", (0, -1))], r"clock of process 'a' is negative: \(0, -1\)"),
        (
            [LocalState("a", (0, 2)), LocalState("a", (1, 1))],
            r"clock of process 'a' went backwards: \(1, 1\) after \(0, 2\)",
        ),
        ([LocalState("a", (0, 0))] * 2, r"process 'a' sent sequence number 0 twice \(or duplicate='drop'\)"),
        ([LocalState("a", (1, 0))], "process 'a': sequence number 0 did not come; 1 later states are held"),
    ],
)
def test_bad_input_is_a_clear_error(states, message):
    with pytest.raises(StreamError, match=message):
        run(states)


def test_wait_for_a_missing_state_is_bounded():
    early = [LocalState("a", (n, 0)) for n in range(3, 9)]
    with pytest.raises(
        StreamError, match=r"sequence number 0 to 2 did not come; 5 later states .*patience 4"
    ):
        run(early, patience=4)


def test_gaps_can_be_filled_with_stand_ins():
    states = [LocalState("a", (0, 0), "x"), LocalState("a", (3, 0), "y"), LocalState("b", (3, 0), "z")]
    changes = run(states, gap="fill", patience=0)
    assert [(c.number, c.value) for c in changes] == [(0, "x"), (1, "x"), (2, "x"), (3, "y"), (0, "z")]
    assert changes[-1].least == (3, 0)


def test_duplicates_can_be_dropped():
    twice = [
        LocalState("a", (0, 0)),
        LocalState("a", (0, 0)),
        LocalState("a", (2, 0)),
        LocalState("a", (2, 0)),
    ]
    assert len(run([*twice, LocalState("a", (1, 0))], duplicate="drop")) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processes": []}, r"processes must be different names, at least one, got \[\]"),
        ({"processes": ["a", "a"]}, r"processes must be different names, .*, got \['a', 'a'\]"),
        ({"width": 0}, "width must be None or an integer of at least 1, got 0"),
        ({"width": 2.5}, "width must be None or an integer of at least 1, got 2.5"),
        ({"width": {"z": 3}}, r"width names unknown process 'z' \(processes: 'a', 'b'\)"),
        ({"patience": -1}, "patience must be an integer of at least 0, got -1"),
        ({"gap": "skip"}, "gap must be 'raise' or 'fill', got 'skip'"),
        ({"where": {"z": X}}, "where names unknown process 'z'"),
        ({"modality": "maybe"}, "modality must be 'possibly' or 'definitely', got 'maybe'"),
    ],
)
def test_wrong_parameters_are_refused_where_they_are_written(options, message):
    with pytest.raises(ParameterError, match=f"ConjunctiveWindow: {message}"):
        ConjunctiveWindow(**{"processes": ["a", "b"], "width": 2, **options})


def both(a, b):
    return a == b


@pytest.mark.parametrize(
    "query",
    [
        LatticeWindow(["a", "b"], 3) | definitely(both),
        LatticeWindow(["a", "b"], 3) | possibly(both),
        LatticeWindow(["a", "b"], 3) | Lattices(),
        ConjunctiveWindow(["a", "b"], 3, where={"a": bool}, modality="possibly"),
        ConjunctiveWindow(["a", "b"], 3, where={"a": bool}),
    ],
)
def test_snapshot_in_the_middle_continues_identically(query):
    out: list[Any] = []
    first = query.into(out)
    first.push_all(FIGURE[:7])
    saved = pickle.loads(pickle.dumps(first.save()))
    first.push_all(FIGURE[7:])
    first.end()
    rest: list[Any] = []
    second = query.into(rest)
    second.load(saved)
    second.push_all(FIGURE[7:])
    second.end()
    assert out[-len(rest) :] == rest
    assert len(rest) == 4


@pytest.mark.parametrize(
    "query",
    [
        LatticeWindow(["a", "b"], 3) | definitely(both),
        LatticeWindow(["a", "b"], 3) | possibly(both),
        LatticeWindow(["a", "b"], 3) | Lattices(),
        ConjunctiveWindow(["a", "b"], 3, where={"a": bool}, modality="possibly"),
        ConjunctiveWindow(["a", "b"], 3, where={"a": bool}),
    ],
)
def test_memory_of_a_long_stream_is_that_of_its_window(query):
    def size_after(rounds):
        run = query.into()
        for n in range(rounds):
            run.push(LocalState("a", (n, max(0, n - 1)), 1))
            run.push(LocalState("b", (max(0, n - 1), n), n % 2))
        return len(pickle.dumps(run.save()))

    assert size_after(3000) < 1.1 * size_after(300)
