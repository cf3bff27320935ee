"""Dirty strings in pieces of a trace: what a piece does to whatever was dirty before it.

One long trace in several pieces, each summed up without knowing what came before: a string is dirty after a
piece for certain, or if one of certain strings was dirty before it. Summaries are put together in order, so
the pieces can be read by several workers at the same time.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field

from .parts import in_workers, lent, stretch
from .problem import Event, Path, Verdict

if TYPE_CHECKING:
    from millstream.concurrency import ThreadManager

#: what a clean string depends on
CLEAN: Final[frozenset[str]] = frozenset()


@define
class Summary:
    """What a piece of a trace does.

    >>> piece = Summary()
    >>> piece.read([("derive", "a", "b"), ("sanitise", "a"), ("use", "b")])
    >>> piece.violation({"a"}), piece.violation({"z"})
    (2, None)
    >>> sorted(piece.dirty_after({"a", "z"}))
    ['b', 'z']
    """

    length: int = 0
    #: the first use of a string that is dirty whatever came before
    certain: int | None = None
    #: for a string, the first use that is wrong if the string was dirty before
    wrong_if: dict[str, int] = field(factory=dict)
    #: the strings on which a string depends; None: it is dirty
    depends: dict[str, frozenset[str] | None] = field(factory=dict)

    def read(self, events: Iterable[Event]) -> None:
        """Read the events of the piece."""
        depends, wrong_if = self.depends, self.wrong_if
        for position, event in enumerate(events):
            self.length += 1
            name, string = event[0], event[1]
            if name == "use":
                on = depends.get(string, {string})
                if on is None:
                    if self.certain is None:
                        self.certain = position
                else:
                    for source in on:
                        wrong_if.setdefault(source, position)
            elif name == "derive":
                self.derive(string, event[2])
            else:
                depends[string] = None if name == "input" else CLEAN

    def derive(self, source: str, target: str) -> None:
        """Make a string depend on another, and on what it depended on before."""
        on = self.depends.get(source, frozenset((source,)))
        before = self.depends.get(target, frozenset((target,)))
        if on != CLEAN:
            self.depends[target] = None if on is None or before is None else on | before

    def violation(self, dirty: set[str]) -> Verdict:
        """Return the first violation in the piece, if these strings were dirty before it."""
        wrong = [p for s, p in self.wrong_if.items() if s in dirty]
        return min(wrong if self.certain is None else [*wrong, self.certain], default=None)

    def dirty_after(self, dirty: set[str]) -> set[str]:
        """Return the strings that are dirty after the piece, if these were before it."""
        changed = {s for s, on in self.depends.items() if on is None or not on.isdisjoint(dirty)}
        return {s for s in dirty if s not in self.depends} | changed


def fold(pieces: Iterable[Summary]) -> Verdict:
    """Return the first violation of a trace, given its pieces in order."""
    start, dirty = 0, set[str]()
    for piece in pieces:
        found = piece.violation(dirty)
        if found is not None:
            return start + found
        start, dirty = start + piece.length, piece.dirty_after(dirty)
    return None


def lines_of(path: Path, piece: int, pieces: int) -> Iterator[str]:
    """Yield the lines that begin in one of several equal stretches of a file."""
    begin, end = stretch(path, piece, pieces)
    with open(path, "rb") as file:
        if begin:
            file.seek(begin - 1)
            file.readline()
        at = file.tell()
        for line in file:
            if at >= end:
                return
            at += len(line)
            yield line.decode()


def summary_of(path: Path, pieces: int, piece: int) -> Summary:
    """Return the summary of one of several stretches of a log."""
    found = Summary()
    found.read(filter(None, csv.reader(lines_of(path, piece, pieces))))  # type: ignore[arg-type]
    return found


def on_spark(path: Path, spark: Any = None) -> Verdict:
    """Return the verdict on a log, found by Spark; a session is started if none is given."""
    from .on_spark import pieces_on_spark

    return pieces_on_spark(path, spark)


def in_pieces(path: Path, manager: ThreadManager | None = None) -> Verdict:
    """Return the verdict on a log whose pieces are summed up by a manager's workers."""
    with lent(manager) as manager:
        pieces = max(1, manager.limit)
        return fold(in_workers(partial(summary_of, path, pieces), pieces, manager))
