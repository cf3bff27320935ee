"""EventTime: the common part of windows in event time. It puts events into order and knows what is late.

Events may come out of order by at most `bound`. Those that may still be overtaken wait in a heap; `mark` says
how far time has certainly come: no event before it will be accepted any more. Subclasses see events in order
(`add`), and time passing (`advance`).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from attrs import field

from millstream.processors import (
    MISSING,
    Apply,
    E,
    Group,
    ParameterError,
    Processor,
    Router,
    as_function,
    configuration,
    processor,
    state,
    transient,
)
from millstream.processors.errors import fail_parameter
from millstream.processors.lineage import OnValue
from millstream.processors.memory import Growth

from .contents import Contents, check_inner
from .traced import traced_inner, unlabelled
from .triggers import AfterCount, AfterTime, Pane, Trigger, check_span

POLICIES = ("error", "drop", "side")


@processor
class EventTime(Router):
    """Events in the order of their times; `add`, `advance` and `flush` are for subclasses."""

    inner: Any
    time: Any = field(default=E.time, kw_only=True)
    bound: Any = field(default=None, kw_only=True)
    late: str = field(default="error", kw_only=True)
    partial: bool = field(default=False, kw_only=True)
    labels: bool = field(default=False, kw_only=True)
    early: Trigger = field(default=None, kw_only=True)
    clock: Callable[[Any], Any] = transient()
    contents: Contents = transient()
    #: (time, order of arrival, event) of what may still be overtaken: a heap
    waiting: list[Any] = state(of=lambda self: [])
    arrived: int = state(0)
    #: the latest time seen, and the time before which an event is late
    latest: Any = state(MISSING)
    mark: Any = state(MISSING)
    #: late events dropped
    dropped: int = state(0)
    #: what the window under way holds, None if there is none
    held: Any = state(None)
    #: events since the window last spoke early, and the time when it did
    unsaid: int = state(0)
    spoke: Any = state(MISSING)

    def __attrs_post_init__(self) -> None:
        check_time(type(self).__name__, self)

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input, and a second output for late events if that is the policy."""
        return 1, 2 if self.late == "side" else 1

    def prepare(self) -> None:
        """Compile the clock."""
        self.clock = as_function(self.time)

    # -- order

    def receive(self, port: int, event: Any) -> None:
        """Take an event: let it wait until nothing can overtake it."""
        time = self.clock(event)
        if time != time:
            raise ValueError(f"expected a time, got {time!r}")
        if self.mark is not MISSING and time < self.mark:
            return self._late(time, event)
        if self.latest is MISSING or time > self.latest:
            self.latest = time
            self.mark = time if self.bound is None else time - self.bound
        if self.bound is None:
            return self.add(time, event)
        heappush(self.waiting, (time, self.arrived, event))
        self.arrived += 1
        self._release()
        return None

    def _release(self) -> None:
        waiting, mark = self.waiting, self.mark
        while waiting and waiting[0][0] <= mark:
            time, _, event = heappop(waiting)
            self.add(time, event)
        self.advance(mark)

    def _late(self, time: Any, event: Any) -> None:
        if self.late == "error":
            allowed = "at all" if self.bound is None else f"by more than bound={self.bound!r}"
            raise ValueError(
                f"an event of time {time!r} came after one of time {self.latest!r}: events may not be out of "
                f"order {allowed}; raise bound, or choose late='drop' or late='side'"
            )
        if self.late == "side":
            self.send(1, event)
        else:
            self.dropped += 1

    def end(self) -> None:
        """Let the waiting events in, then close what is open if that is wanted."""
        while self.waiting:
            time, _, event = heappop(self.waiting)
            self.add(time, event)
        if self.partial:
            self.flush()

    # -- time that passes without events (`Timed`)

    def due(self) -> Any:
        """Return when an event that waits may leave or what is open is over, None if nothing is."""
        times = [self.waiting[0][0]] if self.waiting else []
        ends = self.ends()
        return min(times if ends is None else [*times, ends], default=None)

    def pass_time(self, now: Any) -> None:
        """Let in what waits until `now`, and close what is over: no event at or before it will come."""
        if self.mark is MISSING or now > self.mark:
            self.mark = now
        self._release()
        self.close(now)

    # -- for subclasses

    def add(self, time: Any, event: Any) -> None:
        """Take an event, in order."""
        raise NotImplementedError

    def advance(self, now: Any) -> None:
        """Note that no event before `now` will come."""

    def ends(self) -> Any:
        """Return when what is open is over if no event comes, None if that is never."""
        return None

    def close(self, now: Any) -> None:
        """Close what is over, given that no event at or before `now` will come."""

    def flush(self) -> None:
        """Close what is open."""

    def give(self, start: Any, end: Any, *, early: bool = False) -> None:
        """Send the value of what is held."""
        value = self.contents.value(self.held, closing=not early)
        if value is not MISSING:
            self.send(0, Pane(start, end, value, early) if self.labels else value)

    def speaks(self, time: Any) -> bool:
        """Return whether the window speaks early, after an event at a time."""
        match self.early:
            case AfterCount(events):
                self.unsaid = (self.unsaid + 1) % events
                return not self.unsaid
            case AfterTime(span):
                if time - self.spoke >= span:
                    self.spoke = time
                    return True
        return False

    def growth(self) -> Growth | None:
        """Return how much a window holds."""
        return Growth("the events of a span of time", "a shorter span, or fewer events in front of it")

    def explained(self, limit: int) -> Processor:
        """Return windows over traced events."""
        changes = {"inner": traced_inner(self.inner, limit), "time": OnValue(as_function(self.time))}
        windows = type(self)(**{**configuration(self), **changes})
        if not self.labels:
            return windows
        label = Apply(unlabelled)
        return Group(windows | (label & label if self.late == "side" else label))


def check_time(name: str, owner: Any) -> None:
    """Check the parameters that all windows in event time share."""
    check_inner(owner, owner.inner)
    as_function(owner.time)
    if owner.bound is not None:
        check_span(name, "bound", owner.bound, zero=True)
    if owner.late not in POLICIES:
        fail_parameter(owner, "late", "'error', 'drop' or 'side'", owner.late)
    if not isinstance(owner.early, (AfterCount, AfterTime, type(None))):
        raise ParameterError(f"{name}: early must be AfterCount(n) or AfterTime(span), got {owner.early!r}")
