"""Text logs of monitored programs: one event on a line, ``name,arg1,arg2``."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from attrs import field, frozen

from .problem import Event, Path

#: lines written at once
CHUNK = 4096


@frozen
class Log:
    """The events of a log: for each name the types of its arguments.

    Examples
    --------
    >>> log = Log({"bid": (str, int), "endOfDay": ()})
    >>> list(log.parse(["bid,i7,30", "endOfDay"]))
    [('bid', 'i7', 30), ('endOfDay',)]
    >>> list(log.parse(["endOfDay", "bid,i7"]))
    Traceback (most recent call last):
    ValueError: line 2: expected bid,str,int, got 'bid,i7'
    """

    events: Mapping[str, tuple[type, ...]]
    readers: dict[str, Callable[..., Event]] = field(init=False, repr=False)

    @readers.default
    def _make_readers(self) -> dict[str, Callable[..., Event]]:
        return {name: _reader(name, types) for name, types in self.events.items()}

    def __reduce__(self) -> Any:
        return Log, (self.events,)

    def parse(self, lines: Iterable[str]) -> Iterator[Event]:
        """Yield the events of lines; blank lines are skipped."""
        rows, readers = csv.reader(lines), self.readers
        for row in rows:
            if row:
                try:
                    event = readers[row[0]](*row)
                except (KeyError, TypeError, ValueError):
                    raise self.complaint(rows.line_num, row) from None
                yield event

    def event(self, line: str) -> Event:
        """Return the event of one line.

        >>> Log({"next": (str,)}).event("next,i7")
        ('next', 'i7')
        """
        return next(self.parse([line]))

    def complaint(self, line: int, row: list[str]) -> ValueError:
        """Return the error that says what is wrong with the fields of a line."""
        types = self.events.get(row[0])
        if types is None:
            wanted = "one of " + ", ".join(self.events)
        else:
            wanted = ",".join([row[0], *(t.__name__ for t in types)])
        return ValueError(f"line {line}: expected {wanted}, got {','.join(row)!r}")

    def read(self, path: Path) -> Iterator[Event]:
        """Yield the events of a file."""
        with open(path, encoding="utf-8", newline="") as file:
            yield from self.parse(file)

    def write(self, path: Path, events: Iterable[Any]) -> int:
        """Write events to a file; return how many."""
        written, rest = 0, iter(events)
        with open(path, "w", encoding="utf-8", newline="") as file:
            while lines := [",".join(map(str, event)) for event in islice(rest, CHUNK)]:
                file.write("\n".join(lines) + "\n")
                written += len(lines)
        return written


def _reader(name: str, types: tuple[type, ...]) -> Callable[..., Event]:
    """Return the function from the fields of a line to the event: one call, without a loop."""
    args = [f"a{i}" for i in range(len(types))]
    values = [a if t is str else f"int({a})" for a, t in zip(args, types, strict=True)]
    make: Callable[..., Event] = eval(
        f"lambda {', '.join(['_', *args])}: ({', '.join(['name', *values])},)", {"name": name, "int": int}
    )
    return make
