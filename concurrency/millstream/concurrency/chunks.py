"""Chunks of events: how large they are, and how their outputs come back into order, without threads.

A hand-over costs some microseconds whatever it carries, so a chunk is as large as two milliseconds of work,
or smaller if events come so slowly that they would wait for it. No output depends on where a cut falls.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from attrs import define, field, frozen

from .failures import Failure

#: seconds of work to aim at, seconds that an event may wait for its chunk, the first and the greatest length
AIM, LATENCY, FIRST, MOST = 0.002, 0.01, 1, 4096
#: chunks that a worker may have, beside the one that is being filled
AHEAD = 2


class Located:
    """What needs to be told with the chunk that it is in: it says at which of its events something failed."""

    __slots__ = ()


@frozen
class Failed(Located):
    """Stands among the outputs of a chunk where one of its events failed."""

    index: int
    failure: Failure
    event: Any = None


@frozen
class Reply:
    """What a worker says about a chunk."""

    outputs: list[Any]
    #: whether there is a `Failed` among the outputs
    failed: bool
    #: how many events it was, and how long they took
    events: int
    seconds: float


@define
class Pace:
    """Decides how many events make a chunk, from what they take and how they come.

    >>> pace = Pace()
    >>> [pace.took(0.01, 100) or pace.length(MOST), pace.took(1.0, 2) or pace.length(MOST)]
    [20, 1]
    >>> [pace.took(0, 10) or pace.length(MOST), pace.length(8), pace.came(0.1, 40) or pace.length(MOST)]
    [4096, 8, 4]
    """

    #: seconds that an event takes, None as long as that is not known, and seconds from one event to the next
    cost: float | None = None
    apart: float = 0.0

    def took(self, seconds: float, events: int) -> None:
        """Take note how long a worker was busy with some events."""
        self.cost = seconds / max(1, events)

    def came(self, seconds: float, events: int) -> None:
        """Take note in what time some events came."""
        self.apart = seconds / max(1, events)

    def length(self, most: int) -> int:
        """Return how many events make a chunk."""
        if self.cost is None:
            return min(most, FIRST)
        longest = min(most, MOST)
        for aim, each in ((AIM, self.cost), (LATENCY, self.apart)):
            longest = min(longest, int(aim / each) if each > 0 else MOST)
        return max(1, longest)

    @property
    def is_slow(self) -> bool:
        """Return whether events come so slowly that the outputs of one can be waited for before the next."""
        return self.cost is not None and self.apart > LATENCY and self.apart > 2 * self.cost


@define
class Chunk:
    """A chunk under way: the positions of its first and last event in the input of the query."""

    first: int | None
    last: int | None
    length: int

    def position(self, index: int) -> int | None:
        """Return the position of one of its events; with other events in between, a guess."""
        if self.first is None or self.last is None:
            return self.first
        return min(self.first + index, self.last)


@define
class Ordered:
    """Takes the replies of chunks in any order, gives them in the order in which the chunks were numbered.

    >>> ordered = Ordered()
    >>> numbers = [ordered.number(Chunk(0, 0, 1)), ordered.number(Chunk(1, 1, 1))]
    >>> ordered.arrive(1, "second")
    >>> ordered.next() is None
    True
    >>> ordered.arrive(0, "first")
    >>> ordered.next()[1], ordered.next()[1]
    ('first', 'second')
    """

    begun: int = 0
    given: int = 0
    #: the events in these chunks
    events: int = 0
    _chunks: deque[Chunk] = field(factory=deque)
    _replies: dict[int, Any] = field(factory=dict)

    @property
    def under_way(self) -> int:
        """Return the number of chunks that have begun and were not given."""
        return self.begun - self.given

    def number(self, chunk: Chunk) -> int:
        """Begin a chunk and return its number."""
        self._chunks.append(chunk)
        self.events += chunk.length
        self.begun += 1
        return self.begun - 1

    def chunk(self, number: int) -> Chunk:
        """Return a chunk that has begun and was not given."""
        return self._chunks[number - self.given]

    def arrive(self, number: int, reply: Any) -> None:
        """Take the reply to a chunk."""
        self._replies[number] = reply

    def next(self) -> tuple[Chunk, Any] | None:
        """Return the next chunk in order with its reply, None if that has not arrived."""
        if self.given not in self._replies:
            return None
        reply = self._replies.pop(self.given)
        self.given += 1
        chunk = self._chunks.popleft()
        self.events -= chunk.length
        return chunk, reply
