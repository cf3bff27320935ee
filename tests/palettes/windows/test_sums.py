"""Sliding sums: ints are subtracted when they leave, and nothing else is; nobody may notice."""

from fractions import Fraction
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.windows import Window
from millstream.palettes.windows.sliding import SlidingFold
from millstream.palettes.windows.sums import SlidingSum
from millstream.processors import Count, Cumulate, X, Y
from millstream.processors.testing import check_processor

from .twin import windows

SMALL = st.integers(-3, 3)
#: numbers whose sums are exact in any order: of any size without floats, or small ones with quarters
EXACT = st.integers() | st.booleans() | st.fractions(-2, 2, max_denominator=8)
QUARTERS = SMALL | st.booleans() | st.integers(-9, 9).map(lambda n: n / 4)


def ints_first(ints, others):
    return st.builds(add, st.lists(ints, max_size=25), st.lists(ints | others, max_size=25))


TRACES = ints_first(st.integers(), EXACT) | ints_first(SMALL, QUARTERS)
WIDTHS, STEPS = st.integers(1, 9), st.integers(1, 4)


def typed(values):
    return [(type(v), v) for v in values]


@pytest.mark.parametrize("inner", [Cumulate(add), Cumulate(X + Y), Cumulate(add, start=2), Count()], ids=repr)
@given(TRACES | st.lists(st.text(max_size=2), max_size=25), WIDTHS, STEPS, st.booleans())
def test_sliding_sum_equals_replay_types_included(inner, trace, width, step, partial):
    if isinstance(inner, Cumulate) and inner.start == 2:
        trace = [x for x in trace if not isinstance(x, str)]
    expected = typed(windows(inner, trace, width, step, partial))
    assert typed(Window(inner, width, step, partial=partial)(trace)) == expected
    assert typed(Window(inner, width, step, exact=True, partial=partial)(trace)) == expected


@given(st.lists(SMALL | EXACT | st.floats() | st.text(max_size=2), max_size=30), WIDTHS, STEPS, st.booleans())
def test_sliding_sum_is_the_fold_to_the_last_digit_even_after_failures(trace, width, step, partial):
    outs = []
    for kind in (SlidingSum, SlidingFold):
        query = kind(add, width, step, partial=partial)
        run = query.into(out := [], on_error="skip")
        run.push_all(trace)
        run.end()
        assert typed(map(repr, query(trace, on_error="skip"))) == typed(map(repr, out))
        outs.append(typed(map(repr, out)))
    assert outs[0] == outs[1]


@given(TRACES, st.integers(0, 50), WIDTHS)
def test_sliding_sum_continues_from_a_saved_state(trace, cut, width):
    query = SlidingSum(add, width)
    first, second = query.into(out := []), query.into(later := [])
    first.push_all(trace[:cut])
    saved, before = first.save(), len(out)
    first.push_all(trace[cut:])
    second.load(saved)
    second.push_all(trace[cut:])
    assert typed(later) == typed(out[before:])


@pytest.mark.parametrize(
    ("trace", "ints"), [([1, 2, 3, 4], True), ([1, True], False), ([1, 2, 3, 0.5, 1], False), (["a"], False)]
)
def test_sliding_sum_subtracts_while_all_events_are_ints(trace, ints):
    run = SlidingSum(add, 2).into()
    run.push_all(trace)
    assert run.processors[0].ints is ints


def test_sliding_sum_does_not_drift_after_ints():
    assert list(SlidingSum(add, 2)([1, 1, 1e16, 1.0, 9.0])) == [2, 1e16 + 1, 1e16 + 1.0, 10.0]


def test_sliding_sum_of_bools_is_what_replay_gives():
    assert typed(Window(Cumulate(add), 2, partial=True)([1, True, True])) == typed([2, 2, True])


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("partial", [False, True])
def test_sliding_sum_obeys_the_laws(step, partial):
    for events in (st.integers(), st.integers(-1, 1) | st.just(Fraction(1, 2))):
        check_processor(SlidingSum(add, 3, step, partial=partial), events, max_examples=10)
