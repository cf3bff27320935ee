"""A query and its tests: what the pytest plug-in that comes with millstream is for.

The fixtures assert_trace, assert_marbles, virtual_clock and check_processor are there in every project where
millstream is installed, without an import. Run as a program, this file hands itself to pytest; in a project
the tests would stand in a file of their own.

::

    in ──> Filter(E.ok == False) ──> Count() ──> Decimate(2, last=True) ──> out

Prints:
passed: test_every_second_failure_is_told
passed: test_it_is_told_at_once
passed: test_time_is_made_by_the_test
passed: test_the_laws_hold
"""

import os
import sys
from typing import Any

import pytest
from hypothesis import strategies as st

from millstream.processors import Count, Decimate, E, Filter, Ticks

failures = Filter(E.ok == False) | Count() | Decimate(2)  # noqa: E712  (an expression, not a comparison)
GOOD, BAD = {"ok": True}, {"ok": False}


def test_every_second_failure_is_told(assert_trace: Any) -> None:
    """A trace in, a trace out."""
    assert_trace(failures, [BAD, GOOD, BAD, BAD, BAD], [1, 3])


def test_it_is_told_at_once(assert_marbles: Any) -> None:
    """A moment in, a moment out."""
    assert_marbles(failures, "gbgb-b|", "-1---3|", {"g": GOOD, "b": BAD})


def test_time_is_made_by_the_test(virtual_clock: Any) -> None:
    """Nobody waits for a minute here."""
    assert list(Ticks(every=20.0, limit=3, clock=virtual_clock)) == [20.0, 40.0, 60.0]


def test_the_laws_hold(check_processor: Any) -> None:
    """Hypothesis looks for a trace on which the query breaks a law."""
    check_processor(failures, st.fixed_dictionaries({"ok": st.booleans()}), max_examples=20)


class Report:
    """Print the outcome of each test, without pytest's timings."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell how a test went."""
        if report.when == "call":
            print(f"{report.outcome}: {report.location[2]}")


if __name__ == "__main__":
    alone = ["-c", os.devnull, "-p", "no:terminal", "-p", "no:cacheprovider"]
    sys.exit(pytest.main([__file__, *alone], plugins=[Report()]))
