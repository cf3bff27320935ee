"""Temporal operators over any inner query: one verdict per event about the first position, for good once
decided.

A copy of the inner query begins at every position. A copy is only its state; copies in equal states are
one. What the inner query gives last (true, false, None or a `Verdict`) is the copy's verdict; a decided
copy is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from attrs import field

from millstream.processors import Query, Run, Uniform, as_query, processor, state, transient
from millstream.processors.memory import Growth

from .verdict import Verdict


def advanced(run: Run, given: list[Any], copies: Iterable[Any], event: Any) -> Iterator[tuple[Any, Verdict]]:
    """Step copies of a query whose sink is `given`; yield the state and the verdict of each."""
    for after in run.each((copy, event) for copy in copies):
        verdict = Verdict.of(given[-1] if given else None)
        given.clear()
        yield after, verdict


def _undecided(copy: Any, verdict: Verdict) -> tuple[Any, Verdict]:
    """Forget the state of a copy that is decided."""
    return None if verdict.decided else copy, verdict


COPIES = Growth(
    "a copy of the inner query for each position that is open",
    "Verdicts, which needs a counter, or an inner query that comes to a verdict soon",
)


@processor
class _Copies(Uniform):
    """Base: wires the inner query once and steps states through it."""

    inner: Query = field(converter=as_query)
    run: Run = transient()
    given: list[Any] = transient()
    verdict: Verdict = state(Verdict.UNKNOWN)

    def prepare(self) -> None:
        self.given = []
        self.run = self.inner.into(self.given)

    def advance(self, copies: Iterable[Any], event: Any) -> Iterator[tuple[Any, Verdict]]:
        """Step copies; yield the state and the verdict of each."""
        return advanced(self.run, self.given, copies, event)


@processor
class _EveryPosition(_Copies):
    """Base of Always and Sometime: one decided copy decides all."""

    copies: list[Any] = state(of=lambda self: [])
    deciding: ClassVar[Verdict] = Verdict.FALSE

    def step(self, event: Any) -> Verdict:
        if self.verdict.decided:
            return self.verdict
        following: list[Any] = []
        for after, verdict in self.advance((*self.copies, self.run.fresh()), event):
            if verdict == self.deciding:
                self.verdict, self.copies = verdict, []
                return verdict
            if not verdict.decided and after not in following:
                following.append(after)
        self.copies = following
        return self.verdict

    def growth(self) -> Growth:
        """Return that there is a copy for each open position."""
        return COPIES


@processor
class Always(_EveryPosition):
    """False as soon as the inner query, begun at some position, says false; else unknown.

    >>> from millstream.palettes.ltl import Monitor
    >>> list(Always(Monitor("a -> X b"))([{"a": 1, "b": 0}, {"a": 0, "b": 1}, {"a": 1, "b": 0}] * 2))
    [UNKNOWN, UNKNOWN, UNKNOWN, FALSE, FALSE, FALSE]
    """


@processor
class Sometime(_EveryPosition):
    """True as soon as the inner query, begun at some position, says true; else unknown.

    >>> list(Sometime(lambda x: x > 2)([1, 3, 0]))
    [UNKNOWN, TRUE, TRUE]
    """

    deciding: ClassVar[Verdict] = Verdict.TRUE


@processor
class After(_Copies):
    """What the inner query says when it begins at the second position.

    >>> list(After(After(lambda x: x > 2))([9, 9, 1, 9]))
    [UNKNOWN, UNKNOWN, FALSE, FALSE]
    """

    copy: Any = state(None)

    def step(self, event: Any) -> Verdict:
        if self.copy is None:
            self.copy = self.run.fresh()
        elif not self.verdict.decided:
            ((self.copy, self.verdict),) = self.advance([self.copy], event)
        return self.verdict


@processor
class UpTo(Uniform):
    """Until: the left query holds at every position before one where the right query holds.

    Takes the two queries; both read the same events.

    >>> list(UpTo(lambda x: x > 0, lambda x: x > 2)([1, 1, 3, 0]))
    [UNKNOWN, UNKNOWN, TRUE, TRUE]
    """

    left: Query = field(converter=as_query)
    right: Query = field(converter=as_query)
    runs: Any = transient()
    verdict: Verdict = state(Verdict.UNKNOWN)
    #: for each undecided position: states of the left and right copies (None: decided) and their verdicts
    rows: list[Any] = state(of=lambda self: [])

    def prepare(self) -> None:
        given: tuple[list[Any], list[Any]] = [], []
        self.runs = tuple((q.into(g), g) for q, g in zip((self.left, self.right), given, strict=True))

    def step(self, event: Any) -> Verdict:
        if self.verdict.decided:
            return self.verdict
        fresh = [(run.fresh(), Verdict.UNKNOWN) for run, _ in self.runs]
        columns = zip(*self.rows, fresh, strict=True)
        self.rows = list(zip(*(self.column(k, cells, event) for k, cells in enumerate(columns)), strict=True))
        self.verdict = self.combined()
        if self.verdict.decided:
            self.rows = []
        return self.verdict

    def column(self, k: int, cells: Sequence[Any], event: Any) -> list[tuple[Any, Verdict]]:
        """Step the copies of one of the queries, except those that are decided."""
        copies = [copy for copy, verdict in cells if not verdict.decided]
        run, given = self.runs[k]
        stepped = advanced(run, given, copies, event)
        return [cell if cell[1].decided else _undecided(*next(stepped)) for cell in cells]

    def growth(self) -> Growth:
        """Return that there are copies for each open position."""
        return COPIES

    def combined(self) -> Verdict:
        """Return right(0) or left(0) and (right(1) or ...), what is beyond being unknown."""
        verdict = Verdict.UNKNOWN
        for (_, left), (_, right) in reversed(self.rows):
            verdict = right | (left & verdict)
        return verdict
