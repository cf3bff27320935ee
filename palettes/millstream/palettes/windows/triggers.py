"""When a window speaks before it closes, and what an output says about its window."""

from __future__ import annotations

from typing import Any, NamedTuple

from attrs import field, frozen

from millstream.processors import ParameterError
from millstream.processors.errors import at_least


class Pane(NamedTuple):
    """An output with the beginning and the end of its window; `early` if the window was not closed yet."""

    start: Any
    end: Any
    value: Any
    early: bool = False


@frozen
class AfterCount:
    """Speak each time the window has got so many more events.

    >>> AfterCount(0)
    Traceback (most recent call last):
    millstream.processors.errors.ParameterError: AfterCount: events must be an integer of at least 1, got 0
    """

    events: int = field(validator=at_least(1))


@frozen
class AfterTime:
    """Speak with the first event that comes so much later than the window's beginning, or its last word."""

    span: Any

    def __attrs_post_init__(self) -> None:
        check_span("AfterTime", "span", self.span)


Trigger = AfterCount | AfterTime | None


def check_span(owner: str, name: str, value: Any, *, zero: bool = False) -> None:
    """Raise a `ParameterError` unless the value is a positive (or zero) length of time."""
    try:
        none = value - value
        good = value > none or (zero and value == none)
    except TypeError:
        good = False
    if not good:
        wanted = f"{'zero or ' * zero}a positive number or timedelta"
        raise ParameterError(f"{owner}: {name} must be {wanted}, got {value!r}")
