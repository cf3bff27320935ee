"""A test that leaves a thread or a process behind fails."""

import threading
from contextlib import suppress
from pathlib import Path

import pytest


def children():
    """The processes that were started from here and have not been waited for, where the system tells."""
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(
            FileNotFoundError, ProcessLookupError
        ):  # a thread that ends meanwhile has left them to another one
            found.update(task.read_text().split())
    return found


@pytest.fixture(autouse=True)
def no_leaks():
    before = set(threading.enumerate()), children()
    yield
    assert set(threading.enumerate()) - before[0] == set()
    assert children() - before[1] == set()
