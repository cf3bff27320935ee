"""Lat-Win against brute force after every arrival; Figures 1 to 3; the theorems as properties."""

from copy import copy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from millstream.palettes.lattice import LatWin

from .computations import above, brute_force, computations, figure_3, in_window, processes

widths_of = st.lists(st.one_of(st.integers(1, 4), st.none()), min_size=4, max_size=4)


def follow(arrivals, widths):
    """Yield (how many arrived, lattice, change) after each arrival."""
    lattice = LatWin.of(widths)
    for count, (k, clock) in enumerate(arrivals, 1):
        yield count, lattice, lattice.arrive(k, clock)


def unpacked(lattice, state):
    return None if state is None else lattice.packing.unpack(state)


def test_figure_1_and_2_the_window_slides_when_a_state_arrives():
    lattice = LatWin.of([3, 3])
    *before, last = figure_3()
    for k, clock in before:
        lattice.arrive(k, clock)
    assert lattice.cuts() == [(2, 3), (2, 4), (3, 3), (3, 4), (4, 4)]
    change = lattice.arrive(*last)
    assert [lattice.packing.unpack(s) for s in change.added] == [(5, 4)]
    assert sorted(lattice.packing.unpack(s) for s in change.removed) == [(2, 3), (2, 4)]
    assert lattice.cuts() == [(3, 3), (3, 4), (4, 4), (5, 4)]


def test_figure_3_the_lattice_empties_grows_and_prunes():
    sizes, ends = [], []
    for _, lattice, _ in follow(figure_3(), [3, 3]):
        sizes.append(len(lattice))
        ends.append((unpacked(lattice, lattice.bottom), unpacked(lattice, lattice.top)))
    assert sizes == [0, 0, 0, 1, 2, 3, 0, 3, 2, 5, 4]
    assert ends[6:] == [
        (None, None),
        ((1, 3), (3, 3)),
        ((2, 3), (3, 3)),
        ((2, 3), (4, 4)),
        ((3, 3), (5, 4)),
    ]


@given(computations(), widths_of)
def test_lattice_equals_brute_force_after_every_arrival(arrivals, widths):
    widths = widths[: processes(arrivals)]
    for count, lattice, _ in follow(arrivals, widths):
        expected = brute_force(in_window(arrivals[:count], widths))
        assert set(lattice.cuts()) == expected
        assert unpacked(lattice, lattice.bottom) == min(expected, key=sum, default=None)
        assert unpacked(lattice, lattice.top) == max(expected, key=sum, default=None)


@given(computations(), widths_of)
def test_added_states_are_new_and_in_topological_order(arrivals, widths):
    for _, lattice, change in follow(arrivals, widths[: processes(arrivals)]):
        cuts = [lattice.packing.unpack(s) for s in change.added]
        assert len(set(cuts)) == len(cuts)
        assert [sum(cut) for cut in cuts] == sorted(sum(cut) for cut in cuts)
        assert not set(change.added) & set(change.removed)


@given(computations(max_processes=3, max_events=12))
def test_theorem_1_window_is_a_convex_distributive_sublattice(arrivals):
    widths = [3] * processes(arrivals)
    whole = brute_force(in_window(arrivals, [None] * len(widths)))
    (*_, (_, lattice, _)) = follow(arrivals, widths)
    part = set(lattice.cuts())

    def meet(a, b):
        return tuple(map(min, a, b))

    def join(a, b):
        return tuple(map(max, a, b))

    assert part <= whole
    for a in part:
        for b in part:
            assert meet(a, b) in part
            assert join(a, b) in part
            between = {c for c in whole if meet(a, c) == a and join(c, b) == b}
            assert between <= part
            assert all(meet(a, join(b, c)) == join(meet(a, b), meet(a, c)) for c in part)


@given(computations(), widths_of)
def test_theorem_2_ends_touch_the_bounds_of_some_window(arrivals, widths):
    for _, lattice, _ in follow(arrivals, widths[: processes(arrivals)]):
        if lattice.top is not None:
            top, bottom = unpacked(lattice, lattice.top), unpacked(lattice, lattice.bottom)
            assert any(a == b for a, b in zip(top, lattice.windows.high, strict=True))
            assert any(a == b for a, b in zip(bottom, lattice.windows.low, strict=True))


@given(computations(), st.integers(1, 3))
def test_theorems_4_and_5_growing(arrivals, width):
    assume(processes(arrivals) > 1)
    widths, before = [width] * processes(arrivals), set[Any]()
    top: Any = None
    bottom: Any = None
    for count, lattice, change in follow(arrivals, widths):
        k, clock = arrivals[count - 1]
        windows = in_window(arrivals[:count], widths)
        slab = {c for c in brute_force(windows) if c[k] == clock[k]}
        if before:
            step = (*top[:k], clock[k], *top[k + 1 :])
            can = top[k] == clock[k] - 1 and all(a <= b for a, b in zip(clock, step, strict=True))
        else:
            lows = [w[0][j] if w else None for j, w in enumerate(windows)]
            can = any(c[j] == lows[j] for c in slab for j in range(len(c)) if j != k)
        assert can == bool(slab)
        assert {lattice.packing.unpack(s) for s in change.added} == slab
        if can:
            assert unpacked(lattice, lattice.top)[k] == clock[k]
        if can and not before:
            assert unpacked(lattice, lattice.bottom)[k] == clock[k]
        before = set(lattice.cuts())
        top, bottom = unpacked(lattice, lattice.top), unpacked(lattice, lattice.bottom)
        assert (top is None) == (bottom is None)


@given(computations(), st.integers(1, 3))
def test_theorems_6_and_7_pruning(arrivals, width):
    widths, before = [width] * processes(arrivals), set[Any]()
    for count, lattice, change in follow(arrivals, widths):
        k, _ = arrivals[count - 1]
        low = lattice.windows.low[k]
        grown = before | {lattice.packing.unpack(s) for s in change.added}
        stale = {c for c in grown if c[k] < low}
        assert {lattice.packing.unpack(s) for s in change.removed} == stale
        assert bool(stale) == bool(grown and min(grown, key=sum)[k] < low)
        if grown and max(grown, key=sum)[k] < low:
            assert lattice.top is lattice.bottom is None
        elif stale:
            assert unpacked(lattice, lattice.bottom)[k] == low
            assert unpacked(lattice, lattice.top) == max(grown, key=sum)
        before = set(lattice.cuts())


def test_long_chain_needs_no_recursion():
    lattice = LatWin.of([None, None])
    lattice.arrive(0, (0, 0))
    for number in range(5000):
        lattice.arrive(1, (0, number))
    assert len(lattice) == 5000
    lattice.arrive(0, (1, 0))
    assert len(lattice) == 10000


def test_copy_of_a_lattice_is_independent():
    lattice = LatWin.of([3, 3])
    *before, last = figure_3()
    for k, clock in before:
        lattice.arrive(k, clock)
    twin = copy(lattice)
    assert twin == lattice
    lattice.arrive(*last)
    assert twin != lattice
    twin.arrive(*last)
    assert twin == lattice


@given(computations(max_processes=3))
def test_every_state_but_the_least_follows_another(arrivals):
    for _, lattice, _ in follow(arrivals, [2] * processes(arrivals)):
        cuts = set(lattice.cuts())
        followers = {step for cut in cuts for step in above(cut)} & cuts
        assert cuts - followers <= {unpacked(lattice, lattice.bottom)}
