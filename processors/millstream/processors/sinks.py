"""Sinks: where outputs go. Anything that takes events can be one; `as_sink` finds out how."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from .errors import QueryError, shorten


def as_sink(target: Any) -> Callable[[Any], Any]:
    """Return the function that gives one event to a target.

    A callable is called, a list or deque appended to, a set added to, a queue put into (``put``), a text file
    written to (``write``), one event a line.

    >>> out = []
    >>> as_sink(out)("event")
    >>> out
    ['event']
    """
    if isinstance(target, list | deque):
        return target.append
    if isinstance(target, set):
        return target.add
    if callable(target):
        return target  # type: ignore[no-any-return]
    if hasattr(target, "put"):
        return target.put  # type: ignore[no-any-return]
    if hasattr(target, "write"):
        return _LineWriter(target)
    raise QueryError(f"expected a sink (a callable, list, set, queue or text file), got {shorten(target)}")


class _LineWriter:
    __slots__ = ("_write",)

    def __init__(self, file: Any) -> None:
        self._write = file.write

    def __call__(self, event: Any) -> None:
        self._write(f"{event}\n")


def discard(*_events: Any) -> None:
    """Take outputs and forget them."""
