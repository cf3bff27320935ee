"""`ForAll` and `Exists` as processors: one state of an inner query for each value of a domain.

The inner query reads pairs ``(value, event)``; what it gives last (true, false, None or a `Verdict`) is the
verdict for that value. The empty domain: for all is true, exists is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain
from typing import Any, ClassVar

from attrs import field

from millstream.processors import (
    Processor,
    Query,
    Run,
    as_function,
    as_query,
    configuration,
    processor,
    state,
    transient,
)
from millstream.processors.lists import spread

from .verdict import Verdict


@processor
class _Quantifier(Processor):
    domain: Callable[[Any], Iterable[Any]]
    inner: Query = field(converter=as_query)
    grows: bool = field(default=False, kw_only=True)
    #: index and count: of the values in the order in which they come, only every `count`-th has a copy
    part: tuple[int, int] = field(default=(0, 1), kw_only=True)
    run: Run = transient()
    given: list[Any] = transient()
    values: Any = transient()
    #: value -> (state of the inner query, its verdict); None before the first event
    copies: dict[Any, Any] | None = state(None)
    #: the values that have no copy here
    others: set[Any] = state(of=lambda self: set())
    neutral: ClassVar[Verdict]

    def prepare(self) -> None:
        self.given = []
        self.run = self.inner.into(self.given)
        self.values = as_function(self.domain)

    def step(self, event: Any) -> None:
        copies = self.copies
        if copies is None or self.grows:
            copies = self.copies = {} if copies is None else copies
            index, count = self.part
            for value in self.read(event):
                if value not in copies and value not in self.others:
                    if (len(copies) + len(self.others)) % count == index:
                        copies[value] = self.run.fresh(), Verdict.UNKNOWN
                    else:
                        self.others.add(value)
        result = self.neutral
        for value, after in zip(list(copies), self.advance(copies, event), strict=True):
            verdict = copies[value][1]
            if self.given:
                verdict = Verdict.of(self.given[-1])
                self.given.clear()
            copies[value] = after, verdict
            result = self.combine(result, verdict)
        if not self.grows or result == ~self.neutral:
            self.emit(result)

    def read(self, event: Any) -> Iterable[Any]:
        """Return the values of the domain on an event."""
        domain = self.values(event)
        if not isinstance(domain, Iterable):
            raise TypeError(f"{type(self).__name__}: the domain must be iterable, got {domain!r}")
        return domain

    def advance(self, copies: dict[Any, Any], event: Any) -> Iterator[Any]:
        """Step every copy; yield the state of each when its outputs are given."""
        return self.run.each([(copy, (value, event)) for value, (copy, _) in copies.items()])

    @property
    def graph(self) -> Any:
        """Return the processor, or the same with its copies spread, if the inner query can do that."""
        given = configuration(self)
        spreading = spread(self.inner, lambda plain: type(self)(**{**given, "inner": plain}))
        return super().graph if spreading is None else spreading.graph

    def shares(self, count: int) -> tuple[Processor, ...]:
        """Return quantifiers that have copies for a part of the values each, and read the same events."""
        given = configuration(self)
        return tuple(type(self)(**{**given, "part": (index, count)}) for index in range(count))

    def merged(self, parts: Sequence[Iterable[Verdict]]) -> list[Verdict]:
        """Return the output for an event, of which each share has given some."""
        verdicts = list(chain.from_iterable(parts))
        return [reduce(self.combine, verdicts)] if verdicts else []

    def combine(self, one: Verdict, other: Verdict) -> Verdict:
        """Join two verdicts."""
        return one & other if self.neutral == Verdict.TRUE else one | other


@processor
class ForAll(_Quantifier):
    """Whether the inner query says true for every value.

    Parameters
    ----------
    domain : function or expression
        The values, computed from the first event.
    inner : query or function
        Reads ``(value, event)``.
    grows : bool
        Compute the domain on every event and keep all values seen; then only FALSE is told.

    Examples
    --------
    >>> list(ForAll(lambda e: (1, 2, 3), lambda p: p[1] < p[0])([0, 10]))
    [TRUE, FALSE]
    >>> list(ForAll(lambda e: e, lambda p: p[0] > 2, grows=True)([[3, 4], [5], [1]]))
    [FALSE]
    """

    neutral: ClassVar[Verdict] = Verdict.TRUE


@processor
class Exists(_Quantifier):
    """Whether the inner query says true for some value.

    Parameters are those of `ForAll`; with ``grows`` only TRUE is told.

    Examples
    --------
    >>> list(Exists(lambda e: (1, 2, 3), lambda p: p[1] > p[0])([0, 2]))
    [FALSE, TRUE]
    """

    neutral: ClassVar[Verdict] = Verdict.FALSE
