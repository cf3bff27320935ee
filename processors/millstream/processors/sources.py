"""Sources: iterables of events. Every iterable is one; these read what is not iterable yet.

A source can be iterated again if what it reads can, and is piped like a query: ``CsvRows("a.csv") | query``
is a source too.
"""

from __future__ import annotations

import csv
import gzip
import json
import queue
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from os import PathLike, fspath
from typing import IO, Any

from attrs import field, frozen

from .clock import Clock, SystemClock
from .errors import at_least, fail_parameter, shorten
from .query import Query, as_query

Path = str | PathLike[str]
#: what a reader of text takes: a path, ``-`` for the standard input, or lines from anywhere
Text = Path | Iterable[str]


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
    """The lines of a text file, without their ends; ``-`` is the standard input, ``.gz`` is unpacked.

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
            with self.open() as file:
                for line in file:
                    yield line.removeprefix("\ufeff").rstrip("\n")
                    break
                for line in file:
                    yield line.rstrip("\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.path} is not {self.encoding} text: {error}; give its encoding"
            ) from error

    def open(self) -> IO[str]:
        """Open the file as text."""
        if fspath(self.path).endswith(".gz"):
            return gzip.open(self.path, "rt", encoding=self.encoding)
        return open(self.path, encoding=self.encoding, newline=None)


def lines_of(text: Text) -> Iterable[str]:
    """Return the lines of a file, or the lines that were given."""
    return Lines(text) if isinstance(text, str | PathLike) else text


def name_of(text: Text) -> str:
    """Return what to call a text in messages."""
    name = text if isinstance(text, str | PathLike) else getattr(text, "path", "the text")
    return "the standard input" if name == "-" else str(name)


@frozen(eq=False)
class CsvRows(Source):
    """The rows of a CSV file: dicts by the names of the first line, or tuples if there is no such line.

    Parameters
    ----------
    path
        The file; ``-`` is the standard input; or any lines.
    header
        Whether the first line names the columns.
    columns
        The names of the columns, if the file does not give them.
    convert
        Whether text that looks like a number becomes one, and ``true`` and ``false`` (``True``, ``FALSE``...)
        truth values.

    Examples
    --------
    >>> list(CsvRows(["shop,price,open", "A,3,true", "B,2.5,false"]))
    [{'shop': 'A', 'price': 3, 'open': True}, {'shop': 'B', 'price': 2.5, 'open': False}]
    >>> list(CsvRows(["login,ann", "", "read,ann,7"], header=False))
    [('login', 'ann'), ('read', 'ann', 7)]
    """

    path: Text
    header: bool = True
    columns: Sequence[str] | None = None
    convert: bool = True

    def __iter__(self) -> Iterator[Any]:
        reader = csv.reader(lines_of(self.path))
        rows = filter(None, self._readable(reader))
        names = self.columns
        if self.header:
            first = next(rows, None)
            names = names or first
        for row in rows:
            values = tuple(map(value, row)) if self.convert else tuple(row)
            if names is None:
                yield values
            elif len(values) == len(names):
                yield dict(zip(names, values, strict=True))
            else:
                raise ValueError(
                    f"{name_of(self.path)}, line {reader.line_num}: "
                    f"{len(values)} values for {len(names)} columns"
                )

    def _readable(self, reader: Any) -> Iterator[list[str]]:
        """Yield rows; what the csv module cannot read is an error like any other, with its line."""
        try:
            yield from reader
        except csv.Error as error:
            raise ValueError(f"{name_of(self.path)}, line {reader.line_num}: not CSV: {error}") from error


@frozen(eq=False)
class JsonLines(Source):
    """The values of a file with one JSON value a line; ``-`` is the standard input; or of any lines.

    >>> list(JsonLines(['{"t": 1}', "", "[2, 3]"]))
    [{'t': 1}, [2, 3]]
    """

    path: Text

    def __iter__(self) -> Iterator[Any]:
        for n, line in enumerate(lines_of(self.path), 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ValueError(
                        f"{name_of(self.path)}, line {n}: not JSON: {error} in {shorten(line)}"
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


#: the ways in which truth values are written
TRUTH = {
    word: truth for truth in (True, False) for word in (str(truth), str(truth).lower(), str(truth).upper())
}


def value(text: str) -> Any:
    """Return the number or truth value that a text is, or the text.

    >>> value("3"), value("2.5"), value("foo"), value("1_0"), value("true"), value("FALSE")
    (3, 2.5, 'foo', '1_0', True, False)
    """
    if not text or text[-1] not in "0123456789." or "_" in text:
        return TRUTH.get(text, text)
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
