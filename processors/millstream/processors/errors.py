"""What can go wrong, and how it is said.

A query that cannot be built raises `QueryError` (or its kind `ParameterError`) where it is written. A
processor that fails while events flow raises `StreamError`: it names the processor, its place in the query,
the event and its position, chains the cause, and survives pickling so that it can come back from another
process.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any


class MillstreamError(Exception):
    """Base of all errors raised by millstream itself."""


class QueryError(MillstreamError, ValueError):
    """A query that cannot be built: wrong arity, an unconnected input, a cycle, incompatible types."""


class ParameterError(QueryError):
    """A parameter outside its range; the message names processor, parameter, expectation and value."""


class ClosedError(MillstreamError, RuntimeError):
    """An event for a run that has ended or failed."""


class BufferFullError(MillstreamError, RuntimeError):
    """The queue of a join reached its capacity under the policy ``full="error"``."""


class StreamError(MillstreamError):
    """A processor failed on an event; everything that came out before it has been delivered.

    Attributes
    ----------
    processor : str
        The failing processor, as it prints itself.
    place : str
        Where it stands in the query: index and class, one step for each level of nesting.
    event : str
        The failing processor's own input, shortened.
    position : int or None
        How many events the run's input had taken before this one.
    reason : str
        Type and message of the cause.
    """

    def __init__(self, processor: str, place: str, event: str, position: int | None, reason: str) -> None:
        super().__init__(processor, place, event, position, reason)
        self.processor, self.place, self.event = processor, place, event
        self.position, self.reason = position, reason

    def __str__(self) -> str:
        at = (
            "at the end of the trace"
            if self.position is None
            else f"at input event {self.position} (counted from 0)"
        )
        on = f" on {self.event}" if self.event else ""
        return f"{self.processor} failed{on} {at}, place {self.place}: {self.reason}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, _portable(self.__cause__))


def _rebuild(kind: type[StreamError], args: tuple[Any, ...], cause: BaseException | None) -> StreamError:
    error = kind(*args)
    error.__cause__ = cause
    return error


def _portable(cause: BaseException | None) -> BaseException | None:
    """Return the cause if it can travel, else a RuntimeError that says the same."""
    try:
        pickle.loads(pickle.dumps(cause))
    except Exception:
        return RuntimeError(f"{type(cause).__name__}: {cause}")
    return cause


def shorten(value: Any, width: int = 120) -> str:
    """Return ``repr(value)`` cut to ``width`` characters; a failing repr is said, not raised.

    >>> shorten("a" * 200, 20)
    "'aaaaaaaaaaaaaaaa..."
    """
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr fails: {type(error).__name__}>"
    return text if len(text) <= width else text[: width - 3] + "..."


Validator = Callable[[Any, Any, Any], None]


def at_least(low: int) -> Validator:
    """Return an attrs validator: an integer (not a bool) of at least ``low``."""

    def check(owner: Any, attribute: Any, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            fail_parameter(owner, attribute.name, f"an integer of at least {low}", value)

    return check


def one_of(*choices: str) -> Validator:
    """Return an attrs validator: one of some words."""

    def check(owner: Any, attribute: Any, value: Any) -> None:
        if value not in choices:
            fail_parameter(owner, attribute.name, " or ".join(map(repr, choices)), value)

    return check


def fail_parameter(owner: Any, name: str, expected: str, got: Any) -> None:
    """Raise a `ParameterError` worded as everywhere in millstream."""
    raise ParameterError(f"{type(owner).__name__}: {name} must be {expected}, got {shorten(got)}")
