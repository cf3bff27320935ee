"""The output queue and the event feeder of the paper's integration (Section IV.D).

A synchroniser releases events in bursts. Between it and a slower consumer stand a queue, which takes a burst
at once, and a feeder, an autonomous routine which hands the events on. The queue is the synchroniser's sink;
`Feeder.feed` moves some events and is all that tests need; `Feeder.start` does the same on a thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from typing import Any, Literal, Self


class OutputQueue:
    """A queue that takes bursts: a sink for a synchroniser, a source for a feeder.

    Parameters
    ----------
    capacity
        The most events that it holds; None: unbounded.
    full
        When it is full: ``"wait"`` for the feeder, ``"drop"`` the oldest event and count it, or ``"raise"``.

    Examples
    --------
    >>> queue = OutputQueue(capacity=2, full="drop")
    >>> for event in "abc":
    ...     queue(event)
    >>> queue.take(5), queue.dropped
    (['b', 'c'], 1)
    """

    def __init__(self, capacity: int | None = None, full: Literal["wait", "drop", "raise"] = "wait") -> None:
        if capacity is not None and capacity < 1:
            raise ValueError(f"OutputQueue: capacity must be at least 1, got {capacity}")
        if full not in ("wait", "drop", "raise"):
            raise ValueError(f"OutputQueue: full must be 'wait' or 'drop' or 'raise', got {full!r}")
        self.capacity, self.full = capacity, full
        #: guards and announces every change of the attributes below
        self._changed = Condition()
        #: events on their way; appended by the producer, taken by the feeder
        self._events: deque[Any] = deque()
        self._closed = False
        #: how many events were dropped, and the most that waited at once; written by the producer
        self.dropped = 0
        self.peak = 0

    def __call__(self, event: Any) -> None:
        """Put an event at the end."""
        with self._changed:
            if self._closed:
                raise ValueError("OutputQueue: closed")
            while self.capacity is not None and len(self._events) >= self.capacity:
                self._make_room()
            self._events.append(event)
            self.peak = max(self.peak, len(self._events))
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._events)

    def take(self, most: int | None = None, wait: bool = False) -> list[Any]:
        """Take up to `most` events from the front; with `wait`, at least one unless the queue is closed."""
        with self._changed:
            while wait and not self._events and not self._closed:
                self._changed.wait()
            count = len(self._events) if most is None else min(most, len(self._events))
            taken = [self._events.popleft() for _ in range(count)]
            self._changed.notify_all()
            return taken

    def close(self) -> None:
        """Say that nothing more will come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _make_room(self) -> None:
        if self.full == "raise":
            raise ValueError(f"OutputQueue: full, {self.capacity} events wait for the feeder")
        if self.full == "drop":
            self._events.popleft()
            self.dropped += 1
        else:
            self._changed.wait()


class Feeder:
    """Take events from an output queue and hand them to a sink, on a thread of its own if started.

    Examples
    --------
    >>> queue, seen = OutputQueue(), []
    >>> with Feeder(queue, seen.append):
    ...     for event in "abc":
    ...         queue(event)
    >>> seen
    ['a', 'b', 'c']
    """

    def __init__(self, queue: OutputQueue, sink: Callable[[Any], Any], batch: int | None = None) -> None:
        self.queue, self.sink, self.batch = queue, sink, batch
        self._thread: Thread | None = None
        #: what the sink raised on the thread; raised again by `stop`
        self._error: BaseException | None = None

    def feed(self, wait: bool = False) -> int:
        """Hand on one batch; return how many events it had."""
        events = self.queue.take(self.batch, wait)
        for event in events:
            self.sink(event)
        return len(events)

    def start(self) -> Self:
        """Feed on a thread until the queue is closed and empty."""
        self._thread = Thread(target=self._run, name="millstream-feeder", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close the queue, wait until everything has been handed on, and raise what the sink raised."""
        self.queue.close()
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while self.feed(wait=True):
                pass
        except BaseException as error:
            self._error = error
            self.queue.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()
