"""Snapshots looked at by several workers.

A file is cut into pieces, one for each worker. The properties of this folder relate a snapshot to the next
one, so a piece is judged with one message of the piece after it, and by itself otherwise. Of a stream that is
no file, the workers of a `Pipeline` read the messages, which has no state; the monitor follows here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from millstream.processors import Apply, Query

from .parts import in_workers, lent, stretch
from .pingus import is_packed, located, messages
from .problem import Path, Verdict

if TYPE_CHECKING:
    from millstream.concurrency import ThreadManager


@frozen
class Messages:
    """A property of messages: a function of each, a query over what it gives, and how that is judged."""

    read: Callable[[str], Any]
    query: Callable[[], Query]
    judge: Callable[[Iterable[Any]], Verdict]

    def one(self, path: Path) -> Verdict:
        """Return the verdict on a file, found in this process."""
        return self.judge((Apply(self.read) | self.query())(messages(path)))

    def versions(self) -> dict[str, Callable[..., Verdict]]:
        """Return all ways to judge a file."""
        return {"text": self.one, "workers": self.pieces, "pipeline": self.pipeline, "spark": self.on_spark}

    def pipeline(self, path: Path, manager: ThreadManager | None = None) -> Verdict:
        """Return the verdict on a file whose messages are read by a manager's workers."""
        from millstream.concurrency import Pipeline

        with lent(manager) as manager:
            return self.judge((Pipeline(Apply(self.read), manager) | self.query())(messages(path)))

    def pieces(self, path: Path, manager: ThreadManager | None = None) -> Verdict:
        """Return the verdict on a file that a manager's workers read and judge in pieces.

        A packed file cannot be read from the middle: its messages go through the pipeline.
        """
        if is_packed(path):
            return self.pipeline(path, manager)
        with lent(manager) as manager:
            pieces = max(1, manager.limit)
            found = in_workers(partial(self.piece, path, pieces), pieces, manager)
        start = 0
        for length, extra, verdict in found:
            # that something is still open at the end of a piece means nothing if the trace goes on
            if verdict is not None and (verdict < length + extra or not extra):
                return int(start + verdict)
            start += length
        return None

    def on_spark(self, path: Path, spark: Any = None) -> Verdict:
        """Return the verdict on a file, found by Spark; a session is started if none is given."""
        from .on_spark import messages_on_spark

        return messages_on_spark(self, path, spark)

    def piece(self, path: Path, pieces: int, piece: int) -> tuple[int, int, Verdict]:
        """Return how many messages a piece has, how many it was judged with beyond that, and its verdict."""
        begin, end = stretch(path, piece, pieces)
        numbers = [0, 0]

        def mine() -> Iterator[str]:
            for offset, message in located(path, begin):
                numbers[offset >= end] += 1
                yield message
                if offset >= end:
                    return

        verdict = self.judge((Apply(self.read) | self.query())(mine()))
        return numbers[0], numbers[1], verdict
