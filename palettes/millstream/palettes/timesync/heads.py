"""Our own method: per-stream queues, a heap of their heads, and a watermark.

Events of one stream arrive in order, so only the *head* of each stream's queue can be the next one out: an
n-way merge over a heap of heads. An event may leave when its time is at most the *watermark*, the least of
the newest times which the awaited streams have shown. The watermark is the top of a second heap whose entries
are corrected only when they surface, so an event on a stream that is not the slowest costs O(1) there.
Together: O(log n) an event, whatever the delays, and an event is released with the very arrival that makes it
ready.

A stream that is added does not hold back the events that were already waiting (readiness tables of different
sizes, compared in their common part). Those events form an *epoch*: their times, sorted, and the streams they
wait for. An epoch is forgotten when its events have left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from heapq import heapify, heappop, heappush, heapreplace
from math import inf

from attrs import define, field

from .arena import Entry
from .streams import StreamTable


@define
class HeadsAndWatermark:
    """Release in time order whatever is not newer than the slowest stream."""

    streams: StreamTable
    queues: list[deque[Entry]] = field(factory=list)
    #: one entry per non-empty queue: (time, arrival number, stream)
    heads: list[tuple[float, int, int]] = field(factory=list)
    #: one entry per awaited stream: (a time it had shown, stream); corrected when it reaches the top
    marks: list[tuple[float, int]] = field(factory=list)
    #: whether there are marks of streams that are not awaited any more
    stale: bool = False
    #: (arrival number where it begins, sorted times of its events)
    epochs: list[tuple[int, list[float]]] = field(factory=list)
    begin: int = 0
    waiting: int = 0

    def __attrs_post_init__(self) -> None:
        """Mark the streams that exist already."""
        for number in range(len(self.queues), len(self.streams.names)):
            self.joined(number)

    def __len__(self) -> int:
        """Return the number of events that wait."""
        return self.waiting

    def copy(self, streams: StreamTable) -> HeadsAndWatermark:
        """Return an independent copy over another table of streams; entries are shared."""
        return HeadsAndWatermark(
            streams,
            [deque(queue) for queue in self.queues],
            *(list(self.heads), list(self.marks), self.stale),
            [(begin, list(times)) for begin, times in self.epochs],
            *(self.begin, self.waiting),
        )

    @property
    def visited(self) -> int:
        """No tree, no visited nodes."""
        return 0

    def add(self, entry: Entry) -> list[Entry]:
        """Queue an entry and return what can be released."""
        time, seq, number, _ = entry
        queue = self.queues[number]
        if not queue:
            heappush(self.heads, (time, seq, number))
        queue.append(entry)
        self.waiting += 1
        return self.settle()

    def settle(self) -> list[Entry]:
        """Release what the slowest stream allows."""
        limit = self.watermark()
        if self.epochs:
            limit = max(limit, self._old_limit())
        heads = self.heads
        return self.release(limit) if heads and heads[0][0] <= limit else []

    def release(self, limit: float) -> list[Entry]:
        """Release the events up to a time, ready or not."""
        heads, queues, out = self.heads, self.queues, []
        while heads and heads[0][0] <= limit:
            number = heads[0][2]
            queue = queues[number]
            out.append(queue.popleft())
            if queue:
                time, seq, _, _ = queue[0]
                heapreplace(heads, (time, seq, number))
            else:
                heappop(heads)
        self.waiting -= len(out)
        return out

    def flush(self) -> list[Entry]:
        """Release everything."""
        return self.release(inf)

    def watermark(self) -> float:
        """Return the least of the newest times of the awaited streams (infinity if none is awaited)."""
        if self.stale:
            self._mark_anew()
        marks, last = self.marks, self.streams.last
        while marks:
            time, number = marks[0]
            newest = last[number]
            if newest == time:
                return time
            heapreplace(marks, (newest, number))
        return inf

    def joined(self, number: int) -> None:
        """Begin to wait for a new stream, from the next event on."""
        seq = self.streams.joined[number]
        if self.waiting and seq > self.begin:
            old = sorted(e[0] for queue in self.queues for e in queue if e[1] >= self.begin)
            if old:
                self.epochs.append((self.begin, old))
        self.begin = seq
        if number == len(self.queues):
            self.queues.append(deque())
        self.enabled(number)

    def left(self, number: int) -> None:
        """Drop the marks of streams that are not awaited any more, before the next use."""
        self.stale = True

    def enabled(self, number: int) -> None:
        """Mark a stream that is awaited (again)."""
        heappush(self.marks, (self.streams.last[number], number))

    def reuse(self, number: int) -> bool:
        """Tell whether the events of a removed stream have left."""
        return not self.queues[number]

    def _mark_anew(self) -> None:
        last = self.streams.last
        self.marks = [(last[k], k) for k in self.streams.awaited(self.begin)]
        heapify(self.marks)
        self.stale = False

    def _old_limit(self) -> float:
        """Return the newest time of an event that waits for the streams of an earlier epoch, and is ready."""
        heads, best = self.heads, -inf
        oldest = heads[0][0] if heads else inf
        self.epochs = [(begin, times) for begin, times in self.epochs if times[-1] >= oldest]
        for begin, times in self.epochs:
            ready = bisect_right(times, self._watermark_of(begin))
            best = max(best, times[ready - 1] if ready else -inf)
        return best

    def _watermark_of(self, begin: int) -> float:
        return min((self.streams.last[k] for k in self.streams.awaited(begin)), default=inf)
