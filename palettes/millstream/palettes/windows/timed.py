"""TimeWindow: windows of a length of event time, sliding with each event or aligned to the clock."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import Any, ClassVar

from attrs import field

from millstream.processors import E, Group, Query, processor, state, transient
from millstream.processors.errors import fail_parameter

from .contents import contents
from .ordered import EventTime, check_time
from .triggers import Trigger, check_span


@processor
class SlidingTime(EventTime):
    """After each event, value the events that are less than `span` older.

    >>> list(SlidingTime(list, 2, time=abs)([1, 2, 3, 3, 7]))
    [[1], [1, 2], [2, 3], [2, 3, 3], [7]]
    """

    icon: ClassVar[str] = "◷"
    span: Any
    exact: bool = False
    #: times of the events held
    times: deque[Any] = state(of=lambda self: deque())

    def prepare(self) -> None:
        """Wire the inner query."""
        EventTime.prepare(self)
        self.contents = contents(self, self.inner, leaving=True, exact=self.exact)

    def add(self, time: Any, event: Any) -> None:
        """Take the event, let the old ones leave, give the value."""
        times, drop = self.times, self.contents.drop
        if self.held is None:
            self.held = self.contents.empty()
        self.contents.add(self.held, event)
        times.append(time)
        oldest = time - self.span
        while times[0] <= oldest:
            times.popleft()
            drop(self.held)
        self.give(oldest, time)


@processor
class AlignedTime(EventTime):
    """Value the events of each window from ``origin + k * every`` on, `span` long; empty ones give nothing.

    >>> list(AlignedTime(list, 4, 2, time=abs)([0, 1, 3, 9, 12]))  # from -2, 0, 2, 6 and 8 on
    [[0, 1], [0, 1, 3], [3], [9], [9]]
    """

    icon: ClassVar[str] = "◷"
    span: Any
    every: Any
    exact: bool = False
    origin: Any = None
    #: how many windows begin in the span of one, if it is a whole number; else 0
    hops: int = transient()
    #: times of the events held, if windows overlap
    times: deque[Any] = state(of=lambda self: deque())
    #: number of the window under way; events of later ones may be held too
    current: int = state(0)

    def prepare(self) -> None:
        """Wire the inner query."""
        EventTime.prepare(self)
        self.contents = contents(self, self.inner, leaving=self.every < self.span, exact=self.exact)
        whole = round(self.span / self.every)
        self.hops = whole if whole * self.every == self.span else 0

    def begin(self, number: int, time: Any) -> Any:
        """Return when a window begins; `time` tells what times look like."""
        return _origin(self.origin, time) + number * self.every

    def finish(self, number: int, time: Any) -> Any:
        """Return when a window ends: exactly where another begins, if their distance says so."""
        return self.begin(number + self.hops, time) if self.hops else self.begin(number, time) + self.span

    def add(self, time: Any, event: Any) -> None:
        """Close the windows before the event, and take it into the others."""
        self.advance(time)
        if self.held is None and not self._open(time):
            return
        self.contents.add(self.held, event)
        if self.every < self.span:
            self.times.append(time)
        if self.early is not None and self.speaks(time):
            self._give(time, early=True)

    def _open(self, time: Any) -> bool:
        """Begin the first window with an event; there is none if it falls between two."""
        number = int((time - _origin(self.origin, time)) // self.every)
        while self.begin(number, time) > time:
            number -= 1
        while self.begin(number + 1, time) <= time:
            number += 1
        if self.finish(number, time) <= time:
            return False
        while self.finish(number - 1, time) > time:
            number -= 1
        self.current, self.held = number, self.contents.empty()
        self.unsaid, self.spoke = 0, self.begin(number, time)
        return True

    def advance(self, now: Any) -> None:
        """Close the windows that end by now."""
        while self.held is not None and self.finish(self.current, now) <= now:
            self._close(now)

    def ends(self) -> Any:
        """Return the end of the window under way."""
        return None if self.held is None else self.finish(self.current, self.latest)

    def _close(self, now: Any) -> None:
        self._give(now)
        self.current += 1
        start = self.begin(self.current, now)
        self.unsaid, self.spoke = 0, start
        while self.times and self.times[0] < start:
            self.times.popleft()
            self.contents.drop(self.held)
        if not self.times:
            self.held = None

    def _give(self, time: Any, *, early: bool = False) -> None:
        self.give(self.begin(self.current, time), self.finish(self.current, time), early=early)

    def flush(self) -> None:
        """Close every window that has begun."""
        while self.held is not None:
            self._close(self.latest)


def _origin(origin: Any, time: Any) -> Any:
    """Return where windows are counted from: zero, or the beginning of 1970."""
    if origin is not None:
        return origin
    if isinstance(time, datetime):
        return datetime(1970, 1, 1, tzinfo=time.tzinfo)
    return timedelta() if isinstance(time, timedelta) else 0


@processor
class TimeWindow(Group):
    """Run a query on windows of a length of event time.

    Without `every`, a window ends at each event and reaches back for less than `span`: one output for each
    event. With it, windows begin at the multiples of `every` (tumbling if it equals `span`, hopping
    otherwise), and each gives the query's last output when time has passed its end. Empty windows give
    nothing.

    Parameters
    ----------
    inner
        A query with one input and one output; a `Monoid`; or a function or expression of the whole window (a
        tuple).
    span
        Length of a window: a number, or a timedelta if times are datetimes.
    every
        From the beginning of one window to that of the next.
    time
        Function or expression that tells the time of an event.
    bound
        By how much an event may be older than the latest one; events wait that long to be put in order.
    late
        What happens to an event that is older: ``"error"``, ``"drop"`` (counted in the processor's
        `dropped`), or ``"side"``: it leaves by a second output.
    partial
        Whether the end of the trace closes the windows that have begun.
    labels
        Whether outputs are `Pane` tuples with the window's beginning and end.
    early
        `AfterCount` or `AfterTime`: when a window speaks before it closes. Of windows that overlap only the
        oldest does, and its events are counted from the time when it is the oldest.
    exact, origin
        Fold from left to right, as in `Window`; where multiples of `every` are counted from.

    Examples
    --------
    >>> from operator import add
    >>> from millstream.processors import Apply, Cumulate, E
    >>> events = [{"time": t, "n": n} for t, n in [(0, 1), (4, 2), (3, 3), (11, 4), (25, 5)]]
    >>> total = Apply(E.n) | Cumulate(add)
    >>> list(TimeWindow(total, 10, every=10, bound=2)(events))
    [6, 4]
    >>> list(TimeWindow(total, 10, bound=2, labels=True)(events))[-1]
    Pane(start=15, end=25, value=5, early=False)
    """

    icon: ClassVar[str] = "◷"
    inner: Any
    span: Any
    every: Any = None
    time: Any = field(default=E.time, kw_only=True)
    bound: Any = field(default=None, kw_only=True)
    late: str = field(default="error", kw_only=True)
    partial: bool = field(default=False, kw_only=True)
    labels: bool = field(default=False, kw_only=True)
    early: Trigger = field(default=None, kw_only=True)
    exact: bool = field(default=False, kw_only=True)
    origin: Any = field(default=None, kw_only=True)
    query: Query = field(init=False)
    label: str = field(init=False, default="TimeWindow")

    def __attrs_post_init__(self) -> None:
        check_span("TimeWindow", "span", self.span)
        check_time("TimeWindow", self)
        shared = {n: getattr(self, n) for n in ("time", "bound", "late", "partial", "labels", "early")}
        if self.every is None:
            if self.early is not None:
                fail_parameter(self, "early", "given only with every", self.early)
            self.query = SlidingTime(self.inner, self.span, self.exact, **shared)
        else:
            check_span("TimeWindow", "every", self.every)
            self.query = AlignedTime(self.inner, self.span, self.every, self.exact, self.origin, **shared)
