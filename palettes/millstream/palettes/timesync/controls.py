"""Events that steer a synchroniser.

They travel with the data, on the tagged input or on any port, so a recorded run contains every decision that
was taken from outside.
"""

from __future__ import annotations

from collections.abc import Hashable

from attrs import frozen


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
