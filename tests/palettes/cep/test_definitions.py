"""All operators in all modes against their brute-force definitions."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.cep import Detector, GrowingMemoryWarning, Occurrence, lacking, last, on

from .oracle import detect
from .strategies import CONSTRUCTORS, MODES, SELECTORS, TIMED, constructed, expressions, histories, leaves


def detector(expression, mode, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrowingMemoryWarning)
        return Detector(expression, mode, **options)


def shape(item):
    """Return an occurrence as the oracle does: the number of an atomic one, or time and constituents."""
    return (item.time, tuple(map(shape, item.constituents))) if item.constituents else item.n


def found(expression, history, mode):
    shapes = [shape(o) for o in detector(expression, mode)(history)]
    return [s if isinstance(s, tuple) else (history[s].time, (s,)) for s in shapes]


A, B, C = on("A"), on("B"), on("C")


@pytest.mark.parametrize("mode", MODES, ids=lambda m: m.name)
@pytest.mark.parametrize("name", [*CONSTRUCTORS, *TIMED, *SELECTORS])
def test_operator_follows_its_definition(name, mode):
    expression = (CONSTRUCTORS | TIMED | SELECTORS)[name]([A, B, C], mode)

    @settings(max_examples=30, database=None)
    @given(histories())
    def check(history):
        assert found(expression, history, mode) == detect(expression, history, mode)

    check()


@settings(max_examples=150)
@given(expressions(), st.sampled_from(MODES), histories(min_size=7))
def test_mixed_trees_follow_their_definition(expression, mode, history):
    assert found(expression, history, mode) == detect(expression, history, mode)


@settings(max_examples=60)
@given(constructed(constructed(leaves, TIMED)), st.sampled_from(MODES), histories(min_size=7))
def test_trees_over_timed_operators_follow_their_definition(expression, mode, history):
    assert found(expression, history, mode) == detect(expression, history, mode)


@given(constructed(st.one_of(leaves, leaves.map(last))), st.sampled_from(MODES), histories(min_size=7))
def test_what_stands_above_last_is_found_at_the_end(expression, mode, history):
    assert found(expression, history, mode) == detect(expression, history, mode)


@pytest.mark.parametrize("mode", MODES, ids=lambda m: m.name)
@given(history=histories())
def test_absence_until_the_end_of_the_trace(mode, history):
    expression = lacking(A, B)
    assert found(expression, history, mode) == detect(expression, history, mode)


def test_absence_at_the_end_is_stamped_with_the_last_event():
    history = [Occurrence("A", 1), Occurrence("B", 2), Occurrence("A", 3), Occurrence("C", 9)]
    (only,) = Detector(lacking("A", "B"))(history)
    assert (only.time, only.constituents) == (9, (history[2],))
