"""Possibly and Definitely, incremental and conjunctive, against exhaustive search of all states and paths."""

from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.lattice import (
    ConjunctiveWindow,
    LatticeWindow,
    LocalState,
    definitely,
    possibly,
)
from millstream.processors import X

from .computations import brute_force, computations, figure_3, in_window, paths, processes

NAMES = "pqrs"
values_of = st.lists(st.integers(0, 2), min_size=30, max_size=30)


def states_of(arrivals, values):
    """Local states whose values are drawn by process and state number."""
    return [LocalState(NAMES[k], c, values[(7 * k + c[k]) % len(values)]) for k, c in arrivals]


def expected(arrivals, values, width, predicate):
    """The verdicts (possibly, definitely) after each arrival, by searching all paths."""
    widths = [width] * processes(arrivals)
    for count in range(1, len(arrivals) + 1):
        cuts = brute_force(in_window(arrivals[:count], widths))
        good = {c for c in cuts if predicate(*[values[(7 * k + v) % len(values)] for k, v in enumerate(c)])}
        yield bool(good), bool(cuts) and all(good & set(path) for path in paths(cuts))


small = computations(max_processes=3, max_events=10)


@given(small, values_of, st.integers(1, 3))
def test_possibly_and_definitely_equal_exhaustive_search(arrivals, values, width):
    def even(*local):
        return sum(local) % 2 == 0

    names, states = NAMES[: processes(arrivals)], states_of(arrivals, values)
    wanted = list(expected(arrivals, values, width, even))
    window = LatticeWindow(names, width)
    assert list((window | possibly(even))(states)) == [p for p, _ in wanted]
    assert list((window | definitely(even))(states)) == [d for _, d in wanted]


@given(small, values_of, st.integers(1, 3))
def test_conjunctive_verdicts_equal_exhaustive_search(arrivals, values, width):
    names, states = NAMES[: processes(arrivals)], states_of(arrivals, values)
    wanted = list(expected(arrivals, values, width, lambda *local: all(local)))
    where = dict.fromkeys(names, bool)
    assert list(ConjunctiveWindow(names, width, where=where, modality="possibly")(states)) == [
        p for p, _ in wanted
    ]
    assert list(ConjunctiveWindow(names, width, where=where)(states)) == [d for _, d in wanted]


@given(computations(max_events=60), values_of, st.integers(1, 4))
def test_conjunctive_window_agrees_with_the_lattice(arrivals, values, width):
    names, states = NAMES[: processes(arrivals)], states_of(arrivals, values)
    where = dict.fromkeys(names, bool)
    pairs: list[tuple[Literal["possibly", "definitely"], Any]] = [
        ("possibly", possibly),
        ("definitely", definitely),
    ]
    for modality, verdict in pairs:
        lattice = LatticeWindow(names, width) | verdict(lambda *local: all(local))
        assert list(ConjunctiveWindow(names, width, where=where, modality=modality)(states)) == list(
            lattice(states)
        )


def test_figure_2_verdicts_while_the_window_slides():
    states = [LocalState("ab"[k], clock, clock[k]) for k, clock in figure_3()]
    window = LatticeWindow(["a", "b"], width=3)
    assert list((window | possibly(lambda a, b: (a, b) == (3, 4)))(states))[-3:] == [False, True, True]
    assert list((window | definitely(lambda a, b: a + b in (6, 7)))(states))[-3:] == [True, True, True]
    assert list((window | definitely(lambda a, b: (a, b) == (3, 4)))(states))[-3:] == [False, True, True]
    assert list((window | definitely(lambda a, b: (a, b) == (3, 3)))(states))[-3:] == [True, False, True]


def test_process_without_a_condition_is_always_true():
    states = [LocalState("p", (0, 0), 5), LocalState("q", (0, 0), None)]
    assert list(ConjunctiveWindow("pq", 2, where={"p": X == 5})(states)) == [False, True]
