"""What the monitoring problems have in common: traces made to order, a query, and versions that must agree.

A verdict is the position of the first event that violates the property (counted from 0), the length of the
trace if only its end does, and None if the trace satisfies the property.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import compress, count
from operator import not_
from os import PathLike
from random import Random
from typing import Any, Final, Protocol

from attrs import field, frozen

from millstream.palettes import ltl
from millstream.processors import Query
from millstream.processors.errors import ParameterError

Event = tuple[Any, ...]
Path = str | PathLike[str]
#: the position of the first violation; the length of the trace for its end; None if there is none
Verdict = int | None

#: the sizes that every problem knows; others add "competition"
SIZES: Final = {"quick": 60_000, "small": 1_000, "medium": 100_000}


class Wrong(tuple[Any, ...]):
    """The event that violates the property: the generator's own word for it. It equals the plain event."""

    __slots__ = ()


def is_wrong(event: Any) -> bool:
    """Tell whether a generator has marked this event as the violation.

    >>> is_wrong(Wrong(("sold", "i7"))), is_wrong(("sold", "i7")), Wrong(("sold", "i7")) == ("sold", "i7")
    (True, False, True)
    """
    return isinstance(event, Wrong)


class Format(Protocol):
    """How a trace is written to a file and read again."""

    def write(self, path: Path, events: Iterable[Any]) -> int:
        """Write events to a file; return how many."""

    def read(self, path: Path) -> Iterator[Any]:
        """Yield the events of a file."""


@frozen
class Trace:
    """Events made on demand: every iteration makes the same ones anew, and none is stored."""

    problem: Problem
    events: int
    seed: int = 0
    fault: str | None = None

    def __iter__(self) -> Iterator[Any]:
        return self.problem.make(self.events, Random(f"{self.problem.name}/{self.seed}"), self.fault)

    @property
    def violation(self) -> Verdict:
        """Return the position that the generator marks as the violation (by making the trace once)."""
        if self.fault is None:
            return None
        position = 0
        for position, event in enumerate(self, 1):
            if is_wrong(event):
                return position - 1
        return position

    def write(self, path: Path) -> int:
        """Write the trace to a file in the problem's format; return the number of events."""
        return self.problem.format.write(path, self)


Maker = Callable[[int, Random, str | None], Iterator[Any]]


@frozen
class Problem:
    """A property, traces that satisfy or violate it, and the ways in which millstream decides it.

    Parameters
    ----------
    name, title, says
        A short name, the heading, and the property in words.
    make
        Yields a trace of so many events: ``make(events, random, fault)``.
    faults
        What can be wrong with a trace: a name, and what happens.
    format
        How traces are written to files.
    query
        Returns the property as a query.
    check
        The verdict of that query on events, one after the other.
    brute
        The verdict by the definition, in plain Python.
    versions
        Further ways to get the verdict, from a file: ``versions["workers"](path)``. That one takes a
        ``manager`` of workers that are there already.
    sizes
        Numbers of events by name.
    """

    name: str
    title: str
    says: str
    make: Maker = field(repr=False)
    faults: Mapping[str, str] = field(repr=False)
    format: Format = field(repr=False)
    query: Callable[[], Query] = field(repr=False)
    check: Callable[[Iterable[Any]], Verdict] = field(repr=False)
    brute: Callable[[Iterable[Any]], Verdict] = field(repr=False)
    versions: Mapping[str, Callable[..., Verdict]] = field(factory=dict, repr=False)
    sizes: Mapping[str, int] = field(factory=lambda: dict(SIZES), repr=False)

    def trace(self, size: int | str = "small", seed: int = 0, fault: str | None = None) -> Trace:
        """Return a trace of this many events, or of a size by name; with a fault it violates the property."""
        if fault is not None and fault not in self.faults:
            raise ParameterError(f"{self.name}: fault must be one of {', '.join(self.faults)}, got {fault!r}")
        if isinstance(size, str) and size not in self.sizes:
            raise ParameterError(
                f"{self.name}: size must be a number or one of {', '.join(self.sizes)}, got {size!r}"
            )
        return Trace(self, self.sizes[size] if isinstance(size, str) else size, seed, fault)

    def verdict(self, version: str, path: Path, **options: Any) -> Verdict:
        """Return the verdict of one version on a file; "query" is the plain query on the events read."""
        if version == "query":
            return self.check(self.format.read(path))
        if version not in self.versions:
            known = ", ".join(["query", *self.versions])
            raise ParameterError(f"{self.name}: version must be one of {known}, got {version!r}")
        return self.versions[version](path, **options)


# Judging what a query says


def first_false(verdicts: Iterable[Any]) -> Verdict:
    """Return the position of the first output that is false.

    >>> first_false([True, True, False, True]), first_false([True])
    (2, None)
    """
    return next(compress(count(), map(not_, verdicts)), None)


def last_false(verdicts: Iterable[Any]) -> Verdict:
    """Return the number of outputs if the last one is false: the property is judged at the end.

    >>> last_false([False, True]), last_false([True, False]), last_false([])
    (None, 2, None)
    """
    end = deque(zip(count(1), verdicts, strict=False), maxlen=1)
    return end[0][0] if end and not end[0][1] else None


def definite(verdicts: Iterable[Any], at_end: bool) -> Verdict:
    """Return the position of the first FALSE; with `at_end`, the end if it is presumably false there.

    >>> from millstream.palettes.ltl import Monitor
    >>> run = Monitor("G (a -> F b)", semantics="rv-ltl")
    >>> definite(run([{"a": 1, "b": 0}]), at_end=True), definite(run([{"a": 1, "b": 0}]), at_end=False)
    (1, None)
    """
    number, last = 0, None
    for number, last in enumerate(verdicts, 1):
        if last == ltl.Verdict.FALSE:
            return number - 1
    return number if at_end and last == ltl.Verdict.PRESUMABLY_FALSE else None


def first_output(query: Query, events: Iterable[Any]) -> Verdict:
    """Push events until something comes out: a query whose outputs are violations, watched as it runs.

    >>> from millstream.processors import Filter, X
    >>> first_output(Filter(X < 0), [3, 1, -4, 1])
    2
    """
    found: list[Any] = []
    push = query.into(found).push
    for position, event in enumerate(events):
        push(event)
        if found:
            return position
    return None
