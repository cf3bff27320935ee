"""SessionWindow: windows that a pause closes, or a number of events, or their own length."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import field

from millstream.processors import MISSING, processor, state
from millstream.processors.errors import at_least, fail_parameter
from millstream.processors.memory import Growth

from .contents import contents
from .ordered import EventTime
from .triggers import check_span


def _count(owner: Any, attribute: Any, value: Any) -> None:
    if value is not None:
        at_least(1)(owner, attribute, value)


@processor
class SessionWindow(EventTime):
    """Run a query on stretches of events without a long pause, and give its last output on each.

    Parameters
    ----------
    inner
        A query with one input and one output; a `Monoid`; or a function or expression of the whole session.
    gap
        A pause longer than this closes the session; None if only the other conditions do.
    max_count
        The session is closed by its event of this number.
    max_span
        The session is closed when time has passed its first event by this much.
    time, bound, late, partial, labels, early
        As in `TimeWindow`; the end of a session is the time of its last event.

    Examples
    --------
    >>> list(SessionWindow(list, 2, time=abs, partial=True)([1, 2, 4, 7, 8]))
    [[1, 2, 4], [7, 8]]
    >>> list(SessionWindow(list, max_count=2, max_span=5, time=abs)([1, 2, 3, 9, 10]))
    [[1, 2], [3], [9, 10]]
    """

    icon: ClassVar[str] = "◷"
    gap: Any = None
    max_count: int | None = field(default=None, validator=_count)
    max_span: Any = None
    #: times of the first and last event of the session, and their number
    first: Any = state(MISSING)
    last: Any = state(MISSING)
    count: int = state(0)

    def __attrs_post_init__(self) -> None:
        EventTime.__attrs_post_init__(self)
        for name in ("gap", "max_span"):
            if getattr(self, name) is not None:
                check_span("SessionWindow", name, getattr(self, name))
        if self.gap is None and self.max_count is None and self.max_span is None:
            fail_parameter(self, "gap", "given, or max_count, or max_span", None)

    def prepare(self) -> None:
        """Wire the inner query."""
        EventTime.prepare(self)
        self.contents = contents(self, self.inner, leaving=False)

    def add(self, time: Any, event: Any) -> None:
        """Close the session if it is over, take the event into the next or into this one."""
        self.advance(time)
        if self.held is None:
            self.held, self.first, self.count = self.contents.empty(), time, 0
            self.unsaid, self.spoke = 0, time
        self.contents.add(self.held, event)
        self.last = time
        self.count += 1
        if self.count == self.max_count:
            self.flush()
        elif self.early is not None and self.speaks(time):
            self.give(self.first, self.last, early=True)

    def advance(self, now: Any) -> None:
        """Close the session if no event at or after `now` can belong to it."""
        if self.held is not None and (
            (self.gap is not None and now - self.last > self.gap)
            or (self.max_span is not None and now - self.first >= self.max_span)
        ):
            self.flush()

    def ends(self) -> Any:
        """Return the last time at which an event can belong to the session."""
        if self.held is None:
            return None
        by_gap = [] if self.gap is None else [self.last + self.gap]
        by_span = [] if self.max_span is None else [self.first + self.max_span]
        return min(by_gap + by_span, default=None)

    def close(self, now: Any) -> None:
        """Close the session if it ends by now."""
        ends = self.ends()
        if ends is not None and ends <= now:
            self.flush()

    def flush(self) -> None:
        """Close the session."""
        if self.held is not None:
            self.give(self.first, self.last)
            self.held = None

    def growth(self) -> Growth | None:
        """Return how a session grows."""
        if self.max_count is not None or self.max_span is not None:
            return None
        return Growth("the events of a session that goes on", "max_count= or max_span=")
