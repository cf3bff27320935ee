"""Clocks: where time comes from. Real runs use the system's, tests drive one by hand."""

from __future__ import annotations

import time
from typing import Protocol

from attrs import define

from .errors import ParameterError


class Clock(Protocol):
    """What a source needs of time."""

    def now(self) -> float:
        """Return the time in seconds."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Return the time in seconds since some fixed moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@define
class VirtualClock:
    """A clock that only moves when it is told to; sleeping moves it at once.

    >>> clock = VirtualClock()
    >>> clock.sleep(1.5)
    >>> clock.now()
    1.5
    """

    time: float = 0.0

    def now(self) -> float:
        """Return the time."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Advance by some seconds."""
        if seconds < 0:
            raise ParameterError(f"VirtualClock: time does not go back, got {seconds}")
        self.time += seconds
