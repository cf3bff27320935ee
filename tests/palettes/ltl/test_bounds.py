"""Bounds refuse what has no distance within and count whole positions."""

from math import inf, nan

import pytest

from millstream.palettes.ltl import Bounds
from millstream.processors.errors import ParameterError


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((-1, 3), r"must not be negative, got \[-1,3\]"),
        ((5, 3), r"no distance lies within \[5,3\]"),
        ((3, 3, True), r"no distance lies within \(3,3\]"),
        ((inf, inf), "no distance"),
        ((nan, 3), "must be a number, got nan"),
        (("0", 3), "must be a number, got '0'"),
    ],
)
def test_bounds_refuse(args, message):
    with pytest.raises(ParameterError, match=message):
        Bounds(*args)


@pytest.mark.parametrize(
    ("bounds", "whole"),
    [
        (Bounds(0, 5), (0, 5)),
        (Bounds(0, 5, True, True), (1, 4)),
        (Bounds(0.5, 5.5, True, True), (1, 5)),
        (Bounds(2), (2, None)),
    ],
)
def test_bounds_whole_positions(bounds, whole):
    assert bounds.whole() == whole
    low, high = whole
    assert [d for d in range(9) if bounds.contains(d)] == list(range(low, 9 if high is None else high + 1))


def test_bounds_without_whole_position():
    with pytest.raises(ParameterError, match="no whole number"):
        Bounds(0, 1, True, True).whole()
