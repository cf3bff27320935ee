"""Chunks of events: how large they are, and how their outputs come back into order, without threads.

A hand-over costs some microseconds whatever it carries, so a chunk is as large as a millisecond of work; a
cut depends on counts and measured cost only, and no output depends on where it falls.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from attrs import define, field, frozen

from .failures import Failure

#: seconds of work to aim at, the first guess of a chunk's length, and the greatest length
AIM, FIRST, MOST = 0.001, 16, 1024


@frozen
class Failed:
    """Stands among the outputs of a chunk where one of its events failed."""

    index: int
    failure: Failure


@frozen
class Reply:
    """What a worker says about a chunk."""

    outputs: list[Any]
    #: whether there is a `Failed` among the outputs
    failed: bool
    #: how many events it was, and how long they took
    events: int
    seconds: float


def chunk_length(seconds: float, events: int, most: int) -> int:
    """Return how many events make a chunk, given what some of them took.

    >>> (
    ...     chunk_length(0.01, 100, MOST),
    ...     chunk_length(1.0, 2, MOST),
    ...     chunk_length(0, 10, MOST),
    ...     chunk_length(0, 1, 8),
    ... )
    (10, 1, 1024, 8)
    """
    return max(1, min(most, MOST, int(AIM * events / seconds) if seconds > 0 else MOST))


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
    _chunks: deque[Chunk] = field(factory=deque)
    _replies: dict[int, Any] = field(factory=dict)

    @property
    def under_way(self) -> int:
        """Return the number of chunks that have begun and were not given."""
        return self.begun - self.given

    def number(self, chunk: Chunk) -> int:
        """Begin a chunk and return its number."""
        self._chunks.append(chunk)
        self.begun += 1
        return self.begun - 1

    def arrive(self, number: int, reply: Any) -> None:
        """Take the reply to a chunk."""
        self._replies[number] = reply

    def next(self) -> tuple[Chunk, Any] | None:
        """Return the next chunk in order with its reply, None if that has not arrived."""
        if self.given not in self._replies:
            return None
        reply = self._replies.pop(self.given)
        self.given += 1
        return self._chunks.popleft(), reply
