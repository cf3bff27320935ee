"""Reorder: repair the order inside one stream, within a bound.

For a stream whose events are out of order by at most `bound` units of their own time: an event may leave when
one that is `bound` newer has been seen, because nothing older than it can follow. A heap holds what waits, so
an event costs O(log b) for b waiting events. Windows, temporal logic, complex event patterns and Spark jobs
that need ordered input put it in front.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import Any, Literal

from attrs import define, field

from millstream.processors import E, ParameterError, Router, as_function, processor, state, transient


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

    bound: float
    capacity: int | None = None
    #: (time, arrival number, event), a heap
    waiting: list[tuple[float, int, Any]] = field(factory=list)
    seq: int = 0
    newest: float = -inf
    #: time of the latest event released
    latest: float = -inf
    late: int = 0

    def copy(self) -> ReorderBuffer:
        """Return an independent copy; events are shared."""
        counts = (self.seq, self.newest, self.latest, self.late)
        return ReorderBuffer(self.bound, self.capacity, list(self.waiting), *counts)

    def add(self, time: float, event: Any) -> list[Any] | None:
        """Take an event; return the events that may leave, or None if it came too late."""
        if time != time:
            raise ValueError("the time of an event is not a number")
        if time < self.latest:
            self.late += 1
            return None
        heappush(self.waiting, (time, self.seq, event))
        self.seq += 1
        if time > self.newest:
            self.newest = time
        out = self._release(self.newest - self.bound)
        while self.capacity is not None and len(self.waiting) > self.capacity:
            out.append(self._pop())
        return out

    def flush(self) -> list[Any]:
        """End: return what still waits."""
        return self._release(inf)

    def _release(self, limit: float) -> list[Any]:
        waiting, out = self.waiting, []
        while waiting and waiting[0][0] <= limit:
            out.append(self._pop())
        return out

    def _pop(self) -> Any:
        self.latest, _, event = heappop(self.waiting)
        return event


@processor
class Reorder(Router):
    """Send the events of one stream in time order, if they are out of order by at most a bound.

    Parameters
    ----------
    bound
        How much older than the newest event seen an event may be, in units of its own time.
    time
        The timestamp of an event: a function or expression.
    capacity
        At most so many events wait; the oldest leaves early when one more comes.
    late
        An event older than the latest one sent is dropped (``"drop"``), goes to a second output
        (``"side"``), or is an error (``"raise"``).

    Examples
    --------
    >>> from millstream.processors import X
    >>> list(Reorder(2, time=X)([1, 3, 2, 5, 4, 6]))
    [1, 2, 3, 4, 5, 6]
    """

    bound: float = field()
    time: Any = field(default=E.t)
    capacity: int | None = field(default=None, kw_only=True)
    late: Literal["drop", "side", "raise"] = field(default="drop", kw_only=True)
    buffer: ReorderBuffer = state(
        of=lambda self: ReorderBuffer(self.bound, self.capacity), copy=lambda buffer: buffer.copy()
    )
    read_time: Callable[[Any], float] = transient()

    def __attrs_post_init__(self) -> None:
        if not self.bound >= 0:
            raise ParameterError(f"Reorder: bound must be at least 0, got {self.bound}")
        if self.capacity is not None and self.capacity < 1:
            raise ParameterError(f"Reorder: capacity must be at least 1, got {self.capacity}")
        if self.late not in ("drop", "side", "raise"):
            raise ParameterError(f"Reorder: late must be 'drop' or 'side' or 'raise', got {self.late!r}")

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
                f"event is late: {time}, and {self.buffer.latest} was already sent (bound {self.bound})"
            )

    def end(self) -> None:
        """Send what still waits."""
        for event in self.buffer.flush():
            self.send(0, event)
