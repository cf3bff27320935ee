"""Sources: iterables of events. Every iterable is one; these read what is not iterable yet.

A source can be iterated again if what it reads can, and is piped like a query: ``CsvRows("a.csv") | query``
is a source too.
"""

from __future__ import annotations

import csv
import json
import queue
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from os import PathLike
from typing import Any

from attrs import field, frozen

from .clock import Clock, SystemClock
from .errors import at_least, fail_parameter, shorten
from .query import Query, as_query

Path = str | PathLike[str]


class Source:
    """A stream of events that can be piped into a query."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{type(self).__name__}: define __iter__")

    def __or__(self, other: Any) -> Piped:
        return Piped(self, as_query(other))


@frozen(eq=False)
class Piped(Source):
    """A source followed by a query; reads and computes anew whenever it is iterated."""

    events: Iterable[Any]
    query: Query

    def __iter__(self) -> Iterator[Any]:
        return self.query(self.events)  # type: ignore[no-any-return]

    def __or__(self, other: Any) -> Piped:
        return Piped(self.events, self.query | other)  # one query, whose neighbours run together


@frozen(eq=False)
class Lines(Source):
    """The lines of a text file, without their ends; ``-`` is the standard input.

    Parameters
    ----------
    path
        The file.
    encoding
        How its bytes are to be read.
    """

    path: Path
    encoding: str = "utf-8"

    def __iter__(self) -> Iterator[str]:
        if self.path == "-":
            yield from (line.rstrip("\r\n") for line in sys.stdin)
            return
        try:
            with open(self.path, encoding=self.encoding, newline=None) as file:
                for line in file:
                    yield line.rstrip("\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.path} is not {self.encoding} text: {error}; give its encoding"
            ) from error


@frozen(eq=False)
class CsvRows(Source):
    """The rows of a CSV file: dicts by the names of the first line, or tuples if there is no such line.

    Parameters
    ----------
    path
        The file; ``-`` is the standard input.
    header
        Whether the first line names the columns.
    columns
        The names of the columns, if the file does not give them.
    convert
        Whether text that looks like a number becomes one.
    """

    path: Path
    header: bool = True
    columns: Sequence[str] | None = None
    convert: bool = True

    def __iter__(self) -> Iterator[Any]:
        rows = csv.reader(Lines(self.path))
        names = self.columns
        if self.header:
            first = next(rows, None)
            names = names or first
        for row in rows:
            values = tuple(map(number, row)) if self.convert else tuple(row)
            if names is None:
                yield values
            elif len(values) == len(names):
                yield dict(zip(names, values, strict=True))
            elif values:
                raise ValueError(
                    f"{self.path}, line {rows.line_num}: {len(values)} values for {len(names)} columns"
                )


@frozen(eq=False)
class JsonLines(Source):
    """The values of a file with one JSON value a line; ``-`` is the standard input."""

    path: Path

    def __iter__(self) -> Iterator[Any]:
        for n, line in enumerate(Lines(self.path), 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ValueError(
                        f"{self.path}, line {n}: not JSON: {error} in {shorten(line)}"
                    ) from error


@frozen(eq=False)
class FromQueue(Source):
    """The events that come out of a queue, until a closing value does; iterating waits for the next one.

    >>> events = queue.SimpleQueue()
    >>> for x in (1, 2, None):
    ...     events.put(x)
    >>> list(FromQueue(events))
    [1, 2]
    """

    queue: queue.Queue[Any] | queue.SimpleQueue[Any]
    closing: Any = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.queue.get, self.closing)


@frozen(eq=False)
class Ticks(Source):
    """The time, at regular intervals of a clock.

    Parameters
    ----------
    every
        Seconds between ticks; the first comes after one interval.
    limit
        How many there are; no end if None.
    clock
        Where time comes from.

    Examples
    --------
    >>> from millstream.processors import VirtualClock
    >>> list(Ticks(every=0.5, limit=3, clock=VirtualClock()))
    [0.5, 1.0, 1.5]
    """

    every: float
    limit: int | None = field(default=None, validator=lambda s, a, v: v is None or at_least(0)(s, a, v))
    clock: Clock = field(factory=SystemClock)

    def __attrs_post_init__(self) -> None:
        if not self.every > 0:
            fail_parameter(self, "every", "a positive number of seconds", self.every)

    def __iter__(self) -> Iterator[float]:
        start = self.clock.now()
        for n in islice(count(1), self.limit):
            due = start + n * self.every
            while (wait := due - self.clock.now()) > 0:
                self.clock.sleep(wait)
            yield due


def number(text: str) -> Any:
    """Return the number that a text is, or the text.

    >>> number("3"), number("2.5"), number("foo"), number("1_0")
    (3, 2.5, 'foo', '1_0')
    """
    if not text or text[-1] not in "0123456789." or "_" in text:
        return text
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
