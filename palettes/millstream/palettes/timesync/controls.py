"""Events that steer a synchroniser, and a clock that its owner moves.

They travel with the data, on the tagged input or on any port, so a recorded run contains every decision that
was taken from outside.
"""

from __future__ import annotations

from collections.abc import Hashable

from attrs import define, frozen


@frozen
class AddStream:
    """From now on, wait for this stream, too (tagged input only)."""

    name: Hashable


@frozen
class RemoveStream:
    """From now on, do not wait for this stream, and refuse its events."""

    name: Hashable


@frozen
class Tick:
    """Time has passed: release what has waited too long. Without a time, the clock is read."""

    now: float | None = None


@define
class ManualClock:
    """A clock that moves when it is told to.

    Examples
    --------
    >>> clock = ManualClock()
    >>> clock.advance(2.5)
    >>> clock()
    2.5
    """

    now: float = 0.0

    def advance(self, seconds: float) -> None:
        """Move forward."""
        if seconds < 0:
            raise ValueError(f"a clock cannot go back by {-seconds}")
        self.now += seconds

    def __call__(self) -> float:
        """Return the time."""
        return self.now
