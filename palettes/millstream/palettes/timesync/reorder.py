"""Reorder: repair the order inside one stream, within a bound.

For a stream whose events are out of order by at most `bound` units of their own time: an event may leave when
one that is `bound` newer has been seen, because nothing older than it can follow. A heap holds what waits, so
an event costs O(log b) for b waiting events. Windows, temporal logic, complex event patterns and Spark jobs
that need ordered input put it in front: ``Reorder(bound=5, time=E.t) | query``.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Literal

from attrs import define, field
from attrs.validators import optional

from millstream.processors import E, Router, as_function, processor, state, transient
from millstream.processors.errors import at_least, one_of
from millstream.processors.lineage import Parts, Tracker
from millstream.processors.memory import Growth

from .checks import not_negative


@define
class ReorderBuffer:
    """The algorithm without an engine around it.

    Examples
    --------
    >>> buffer = ReorderBuffer(bound=2)
    >>> [buffer.add(t, t) for t in (1, 3, 2, 5)]
    [[], [1], [], [2, 3]]
    >>> buffer.add(1, "too late"), buffer.flush()
    (None, [5])
    """

    bound: Any
    capacity: int | None = None
    #: (time, arrival number, event), a heap
    waiting: list[tuple[Any, int, Any]] = field(factory=list)
    seq: int = 0
    #: newest time seen, and time of the latest event released
    newest: Any = None
    latest: Any = None
    late: int = 0

    def __copy__(self) -> ReorderBuffer:
        """Return an independent copy; events are shared."""
        counts = (self.seq, self.newest, self.latest, self.late)
        return ReorderBuffer(self.bound, self.capacity, list(self.waiting), *counts)

    def add(self, time: Any, event: Any) -> list[Any] | None:
        """Take an event; return the events that may leave, or None if it came too late."""
        if time != time:
            raise ValueError(f"the time of an event must be a number, got {time}")
        if self.latest is not None and time < self.latest:
            self.late += 1
            return None
        heappush(self.waiting, (time, self.seq, event))
        self.seq += 1
        if self.newest is None or time > self.newest:
            self.newest = time
        waiting, limit, out = self.waiting, self.newest - self.bound, []
        while waiting and waiting[0][0] <= limit:
            out.append(self._pop())
        while self.capacity is not None and len(self.waiting) > self.capacity:
            out.append(self._pop())
        return out

    def flush(self) -> list[Any]:
        """End: return what still waits."""
        return [self._pop() for _ in range(len(self.waiting))]

    def _pop(self) -> Any:
        self.latest, _, event = heappop(self.waiting)
        return event


@processor
class Reorder(Router):
    """Send the events of one stream in time order, if they are out of order by at most a bound.

    Parameters
    ----------
    bound
        How much older than the newest event seen an event may be, in units of its own time (a number, or a
        timedelta if times are datetimes).
    time
        The timestamp of an event: a function or expression.
    capacity
        At most so many events wait; the oldest leaves early when one more comes.
    late
        An event older than the latest one sent is dropped (``"drop"``), goes to a second output
        (``"side"``), or is an error (``"raise"``).

    Examples
    --------
    >>> from millstream.processors import Apply, X
    >>> list(Reorder(2, time=X)([1, 3, 2, 5, 4, 6]))
    [1, 2, 3, 4, 5, 6]
    >>> query = Reorder(bound=5, time=E.t) | Apply(E.name)  # or any other query
    >>> list(query([{"t": 4, "name": "b"}, {"t": 2, "name": "a"}, {"t": 9, "name": "c"}]))
    ['a', 'b', 'c']
    """

    bound: Any = field(validator=not_negative)
    time: Any = E.t
    capacity: int | None = field(default=None, kw_only=True, validator=optional(at_least(1)))
    late: Literal["drop", "side", "raise"] = field(
        default="drop", kw_only=True, validator=one_of("drop", "side", "raise")
    )
    buffer: ReorderBuffer = state(of=lambda self: ReorderBuffer(self.bound, self.capacity))
    read_time: Callable[[Any], Any] = transient()

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input; a second output for late events."""
        return 1, (2 if self.late == "side" else 1)

    def prepare(self) -> None:
        """Compile the expression."""
        self.read_time = as_function(self.time)

    def receive(self, port: int, event: Any) -> None:
        """Take an event."""
        time = self.read_time(event)
        released = self.buffer.add(time, event)
        if released is not None:
            for ready in released:
                self.send(0, ready)
        elif self.late == "side":
            self.send(1, event)
        elif self.late == "raise":
            raise ValueError(
                f"event is late: {time}, and {self.buffer.latest} was already sent"
                f" (bound {self.bound}: raise it, or take late events with late='side')"
            )

    def end(self) -> None:
        """Send what still waits."""
        for event in self.buffer.flush():
            self.send(0, event)

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event that comes out."""
        return Parts(limit)

    def growth(self) -> Growth | None:
        """Return how much waits."""
        if self.capacity is not None:
            return None
        return Growth("the events that arrive within the bound", "capacity=")
