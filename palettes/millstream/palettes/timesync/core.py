"""The synchroniser without any engine around it: events in, events in time order out.

One deterministic object decides everything: which events are released (by one of three methods), which are
late, and what happens to events that wait for a silent stream. It reads no clock; the caller says what time
it is, so a test, a replay and a live run are the same code.

The maximum delay MD: an event that has waited longer is released at the next processing step, with everything
older. The maximum failures MS: each such event is a failure of the streams that it waited for; a stream that
reaches MS is disabled (nothing waits for it) until an event newer than the latest one released arrives on it.
The paper's text charges the stream that *produced* the event, which leaves the silent one blocking for ever;
that reading is kept as ``blame="producer"``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from math import inf
from typing import Any, Literal, Protocol

from attrs import define, evolve, field

from millstream.processors import ParameterError

from .arena import Entry
from .heads import HeadsAndWatermark
from .methods import AddAndProcess, AddThenProcess
from .streams import StreamTable

Method = Literal["heads", "method 1", "method 2"]
Blame = Literal["silent", "producer"]


class Buffer(Protocol):
    """What a synchronisation method offers."""

    @property
    def visited(self) -> int:
        """Tree nodes looked at so far."""

    def __len__(self) -> int:
        """Events that wait."""

    def copy(self, streams: StreamTable) -> Buffer:
        """Copy, over another table of streams."""

    def add(self, entry: Entry) -> list[Entry]:
        """Take an entry; return those that can leave."""

    def settle(self) -> list[Entry]:
        """Return those that can leave now that other streams are awaited."""

    def release(self, limit: float) -> list[Entry]:
        """Return those up to a time."""

    def flush(self) -> list[Entry]:
        """Return all."""

    def joined(self, number: int) -> None:
        """Learn about a new stream."""

    def left(self, number: int) -> None:
        """Learn that a stream is not awaited any more."""

    def enabled(self, number: int) -> None:
        """Learn that a stream is awaited again."""

    def reuse(self, number: int) -> bool:
        """Forget a removed stream if possible now; return whether its number is free for another."""


METHODS = {"heads": HeadsAndWatermark, "method 1": AddThenProcess, "method 2": AddAndProcess}


def buffer_of(method: str, streams: StreamTable) -> Buffer:
    """Make the buffer of a method over a table of streams."""
    if method not in METHODS:
        names = " or ".join(map(repr, METHODS))
        raise ParameterError(f"Synchronizer: method must be {names}, got {method!r}")
    buffer: Buffer = METHODS[method](streams)
    return buffer


@define
class SyncCore:
    """Bring the events of several streams into time order.

    Examples
    --------
    >>> core = SyncCore.of(["a", "b"])
    >>> core.arrive("a", 1, "a1"), core.arrive("a", 3, "a3"), core.arrive("b", 2, "b2")
    ([], [], ['a1', 'b2'])
    >>> core.flush()
    ['a3']
    """

    streams: StreamTable
    buffer: Buffer
    max_delay: float | None = None
    max_failures: int | None = None
    blame: Blame = "silent"
    seq: int = 0
    #: (time, arrival number) of the latest event released
    latest: tuple[float, int] = (-inf, -1)
    #: with a maximum delay: (arrival time, time, arrival number, stream) of events in order of arrival
    pending: deque[tuple[float, float, int, Hashable]] = field(factory=deque)
    late: int = 0
    timeouts: int = 0

    @classmethod
    def of(
        cls,
        streams: Iterable[Hashable] = (),
        method: Method = "heads",
        max_delay: float | None = None,
        max_failures: int | None = None,
        blame: Blame = "silent",
    ) -> SyncCore:
        """Make a core for some streams; more can be added later."""
        table = StreamTable.of(streams)
        return cls(table, buffer_of(method, table), max_delay, max_failures, blame)

    def __len__(self) -> int:
        """Return the number of events that wait."""
        return len(self.buffer)

    def __copy__(self) -> SyncCore:
        """Return an independent copy; events are shared."""
        streams = self.streams.copy()
        buffer, pending = self.buffer.copy(streams), deque(self.pending)
        return evolve(self, streams=streams, buffer=buffer, pending=pending)

    def arrive(self, stream: Hashable, time: float, event: Any, now: float = 0.0) -> list[Any] | None:
        """Take an event; return the events that it releases, or None if it came too late (then `tick`)."""
        number = self.streams.number(stream)
        self.streams.see(number, time)
        if time < self.latest[0]:
            self.late += 1
            return None
        if not self.streams.is_active(number) and time > self.latest[0]:
            self.streams.enable(number)
            self.buffer.enabled(number)
        seq = self.seq
        self.seq = seq + 1
        if self.max_delay is None:
            return self._sent(self.buffer.add((time, seq, number, event)))
        self.pending.append((now, time, seq, stream))
        return self._sent(self.buffer.add((time, seq, number, event))) + self.tick(now)

    def tick(self, now: float) -> list[Any]:
        """Release what has waited longer than the maximum delay, and what no stream blocks then."""
        if self.max_delay is None or not self.pending:
            return []
        limit = -inf
        for time, seq, stream in self._timed_out(now - self.max_delay):
            limit = max(limit, time)
            self._charge(time, seq, stream)
        if limit == -inf:
            return []
        return self._sent(self.buffer.release(limit)) + self._sent(self.buffer.settle())

    def add(self, stream: Hashable) -> None:
        """Add a stream: events that arrive from now on wait for it."""
        number = next((k for k in self.streams.free if self.buffer.reuse(k)), None)
        self.buffer.joined(self.streams.add(stream, self.seq, number))

    def remove(self, stream: Hashable) -> list[Any]:
        """Remove a stream; return the events that waited for it only."""
        self.buffer.left(self.streams.remove(stream))
        return self._sent(self.buffer.settle())

    def flush(self) -> list[Any]:
        """End: return everything that still waits."""
        return self._sent(self.buffer.flush())

    def _sent(self, entries: list[Entry]) -> list[Any]:
        if not entries:
            return []
        time, seq, _, _ = entries[-1]
        self.latest = (time, seq)
        return [entry[3] for entry in entries]

    def _timed_out(self, before: float) -> Iterable[tuple[float, int, Hashable]]:
        """Take the events that arrived before this instant and still wait."""
        pending = self.pending
        while pending:
            arrival, time, seq, stream = pending[0]
            waits = (time, seq) > self.latest
            if waits and arrival >= before:
                break
            pending.popleft()
            if waits:
                yield time, seq, stream

    def _charge(self, time: float, seq: int, producer: Hashable) -> None:
        """Count a timed-out wait as a failure of the streams to blame, if they are still there."""
        self.timeouts += 1
        if self.blame == "silent":
            blamed = self.streams.blockers(time, seq)
        else:
            blamed = [k for k in (self.streams.numbers.get(producer),) if k is not None]
        for number in blamed:
            if self.streams.fail(number, self.max_failures):
                self.buffer.left(number)
