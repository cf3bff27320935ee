"""Fixtures for tests of queries; pytest finds this module by itself where millstream is installed.

Nothing of millstream is imported before a test asks for it, so that other people's tests do not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from millstream.processors import VirtualClock


@pytest.fixture
def assert_trace() -> Any:
    """Check that a query gives these outputs for these inputs: ``assert_trace(query, inputs, outputs)``."""
    from millstream.processors.testing import assert_trace

    return assert_trace


@pytest.fixture
def assert_marbles() -> Any:
    """Check what comes out of a query, and when: ``assert_marbles(query, "ab-c|", "a--c|")``."""
    from millstream.processors.testing import assert_marbles

    return assert_marbles


@pytest.fixture
def check_processor() -> Any:
    """Check the laws that every processor obeys (needs hypothesis): ``check_processor(query, events)``."""
    from millstream.processors.testing import check_processor

    return check_processor


@pytest.fixture
def virtual_clock() -> VirtualClock:
    """Give a clock that starts at 0 and only moves when it is told to, or sleeps."""
    from millstream.processors import VirtualClock

    return VirtualClock()
