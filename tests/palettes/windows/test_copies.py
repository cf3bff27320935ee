"""Copies: what replaying every window gives."""

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.windows.copies import Copies
from millstream.palettes.windows.counted import Sliding
from millstream.processors import Count, Cumulate, Filter, KeepLast, Pack, StreamError, X
from millstream.processors.testing import check_processor

INNER = [Cumulate(add), Filter(X > 0) | Count(), KeepLast(), Pack(X == 0)]


@given(
    st.sampled_from(INNER),
    st.lists(st.integers(-2, 2), max_size=12),
    st.integers(2, 5),
    st.integers(1, 4),
    st.booleans(),
)
def test_copies_give_what_replaying_gives(inner, events, width, every, partial):
    every = min(every, width - 1)
    expected = list(Sliding(inner, width, every, partial)(events))
    assert list(Copies(inner, width, every, partial)(events)) == expected


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_copies_obey_the_laws_of_processors(inner):
    check_processor(Copies(inner, 3, 2, True), st.integers(-2, 2), max_examples=10)


def test_copies_fail_when_the_event_comes():
    out = []
    run = Copies(Cumulate(lambda x, y: x // y), 3).into(out)
    with pytest.raises(StreamError, match=r"at input event 3 .*ZeroDivisionError"):
        run.push_all([8, 2, 2, 0, 1])
    assert out == [2]
