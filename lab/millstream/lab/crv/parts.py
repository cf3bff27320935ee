"""A log looked at by several workers, each with the events of its own values.

A property of the form "for every item: ..." is decided for each item by the events about it, so a worker
that sees these and the events about all items (the end of a day) can judge its items alone. Each worker
reads the file itself: passing over the lines of others costs less than being sent one's own.

After Basin, Caronni, Ereth, Harvan, Klaedtke, Mantel: *Scalable offline monitoring of temporal
specifications*, 2016, where a trace is sliced like this for MapReduce.
"""

from __future__ import annotations

import csv
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from operator import not_
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from attrs import frozen

from millstream.processors import Query

from .logs import Log
from .problem import Event, Path, Verdict

if TYPE_CHECKING:
    from millstream.concurrency import ThreadManager

Numbered = Iterator[tuple[int, Event]]

#: stands for the end of the trace in the verdict of a part, which does not know how long the trace is
END: Final = 1 << 62


def part_of(value: str, parts: int) -> int:
    """Return the part that a value belongs to, the same in every process.

    >>> [part_of(name, 2) for name in ("ann", "bob", "carl", "dave")]
    [1, 0, 1, 0]
    """
    return crc32(value.encode()) % parts


@frozen
class Parts:
    """A property that can be judged part by part.

    Parameters
    ----------
    log
        How lines are read.
    keys
        For each event the place of the argument that decides whose it is (1 is the first); None: everybody's.
    query
        Returns the query, which runs on the events of each part.
    wrong
        Which outputs say that the property is violated.
    at_end
        Whether only the last output counts.
    """

    log: Log
    keys: Mapping[str, int | None]
    query: Callable[[], Query]
    wrong: Callable[[Any], bool] = not_
    at_end: bool = False

    def events(self, path: Path, part: int, parts: int) -> Numbered:
        """Yield the events of a part with their positions in the whole trace."""
        mine: dict[str, bool] = {}
        keys, readers = self.keys, self.log.readers
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            for position, row in enumerate(filter(None, rows)):
                try:
                    place = keys[row[0]]
                    if place is not None:
                        is_mine = mine.get(row[place])
                        if is_mine is None:
                            is_mine = mine[row[place]] = part_of(row[place], parts) == part
                        if not is_mine:
                            continue
                    event = readers[row[0]](*row)
                except (LookupError, TypeError, ValueError):
                    raise self.log.complaint(rows.line_num, row) from None
                yield position, event

    def judge_part(self, path: Path, parts: int, part: int) -> Verdict:
        """Return the verdict on one part."""
        events = self.events(path, part, parts)
        return self.last(events) if self.at_end else self.first(events)

    def first(self, events: Numbered) -> Verdict:
        """Push events until an output is wrong; return the position of that event."""
        found: list[Any] = []
        push = self.query().into(found).push
        for position, event in events:
            push(event)
            if found:
                if any(map(self.wrong, found)):
                    return position
                found.clear()
        return None

    def last(self, events: Numbered) -> Verdict:
        """Return whether the last output is wrong: the end of the trace, if so."""
        end = deque(self.query()(event for _, event in events), maxlen=1)
        return END if end and self.wrong(end[0]) else None

    def __call__(self, path: Path, manager: ThreadManager | None = None) -> Verdict:
        """Return the verdict on a file, found by a manager's workers, or by one for each processor."""
        with lent(manager) as manager:
            parts = max(1, manager.limit)
            found = in_workers(partial(self.judge_part, path, parts), parts, manager)
        wrong = min((v for v in found if v is not None), default=None)
        return sum(1 for _ in self.log.read(path)) if wrong == END else wrong

    def on_spark(self, path: Path, spark: Any = None) -> Verdict:
        """Return the verdict on a file, found by Spark; a session is started if none is given."""
        from .on_spark import parts_on_spark

        return parts_on_spark(self, path, spark)


@contextmanager
def lent(manager: ThreadManager | None) -> Iterator[ThreadManager]:
    """Give a manager: this one, or one for the time being with a worker for each processor."""
    from millstream.concurrency import ThreadManager
    from millstream.concurrency.manager import cores

    if manager is not None:
        yield manager
    else:
        with ThreadManager(cores(), "auto") as manager:
            yield manager


def in_workers(function: Callable[[int], Any], parts: int, manager: ThreadManager) -> list[Any]:
    """Return what a function says of each part, computed by workers at the same time.

    >>> from millstream.concurrency import ThreadManager
    >>> with ThreadManager(2) as manager:
    ...     in_workers(abs, 3, manager)
    [0, 1, 2]
    """
    from millstream.concurrency import Crew

    with Crew(manager, partial(_numbered, function), parts) as crew:
        if not crew.size:
            return [function(part) for part in range(parts)]
        for part in range(parts):
            crew.send(part % crew.size, part)
        found = dict(crew.receive()[1] for _ in range(parts))
    return [found[part] for part in range(parts)]


def _numbered(function: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda part: (part, function(part))


def stretch(path: Path, piece: int, pieces: int) -> tuple[int, int]:
    """Return where one of several equal stretches of a file begins and ends."""
    size = os.path.getsize(path)
    return size * piece // pieces, size * (piece + 1) // pieces
