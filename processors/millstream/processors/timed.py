"""`Timed`: processors that may have something to say when time passes without an event.

A window in event time is over when time has passed its end, whether or not another event comes. Who runs a
query with a clock of its own (a watermark, a wall clock) asks such a processor when it is next `due`, and
lets time pass. Nothing is lost without that: what is due is given with the next event then.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Timed(Protocol):
    """What a processor has that acts on the passing of time alone."""

    #: function or expression that reads the time of an event, None if this one does not keep time
    time: Any

    def due(self) -> Any:
        """Return the earliest time at which letting time pass gives something, None if there is none."""

    def pass_time(self, now: Any) -> None:
        """Take note that no event at or before `now` will come, and give what follows from that."""
