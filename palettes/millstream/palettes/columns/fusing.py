"""Fusing: functions and filters that follow each other become one step, and forks cost nothing.

A step runs one kernel for one processor or for several: what `Apply` gives to another `Apply` or `Filter`
and to nothing else is put into its expression, and a filter whose condition is a function of its own events
computes that condition itself. Batches then pass fewer arrays around, and `x + 1 | x * 3` is one linear
function. Only processors without state are fused, so states are as if nothing had been.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import evolve, fields, frozen

from millstream.processors import Apply, Expression, Filter, Fork, Graph, Passthrough
from millstream.processors.expressions import Input, walk

from .evaluating import NotColumnar, as_expression
from .kernels import Kernel, kernel_of
from .kernels.rows import RowsKernel

#: (node, output); (-1, k) is input k of the query
Spot = tuple[int, int]


@frozen
class Step:
    """One kernel, what feeds it, where its outputs go, and the processors it stands for, `node` last."""

    node: int
    kernel: Kernel
    feeds: tuple[Spot, ...]
    outputs: tuple[Spot, ...]
    members: tuple[int, ...]


def replaced(e: Any, by: Sequence[Expression]) -> Any:
    """Return an expression with other ones in the place of its inputs.

    >>> from millstream.processors import X
    >>> replaced(X * 2, [X + 1])
    (X + 1) * 2
    """
    match e:
        case Input(index, _):
            return by[index]
        case tuple():
            return tuple(replaced(x, by) for x in e)
        case Expression():
            pass
        case _:
            return e
    return evolve(e, **{a.alias: replaced(getattr(e, a.name), by) for a in fields(type(e))})


class Fuser:
    """Makes the steps of a graph, in the order of its nodes."""

    def __init__(
        self, graph: Graph, kernels: list[Kernel], feeds: list[tuple[Spot, ...]], joins: Any
    ) -> None:
        self.graph, self.kernels, self.joins = graph, kernels, set(joins)
        #: where an output of a fork comes from
        self.same: dict[Spot, Spot] = {}
        self.feeds = [tuple(map(self._origin, f)) for f in self._through_forks(feeds)]
        self.uses = Counter(spot for n, f in enumerate(self.feeds) if not self._is_fork(n) for spot in f)
        self.uses.update(map(self._origin, graph.exits))
        #: a function of one spot, and the processors it is made of
        self.functions: dict[Spot, tuple[Spot, Expression, tuple[int, ...]]] = {}

    def _is_fork(self, n: int) -> bool:
        return type(self.graph.nodes[n]) in (Fork, Passthrough) and n not in self.joins

    def _through_forks(self, feeds: list[tuple[Spot, ...]]) -> list[tuple[Spot, ...]]:
        for n in range(len(feeds)):
            if self._is_fork(n):
                self.same |= {(n, o): feeds[n][0] for o in range(self.graph.nodes[n].arity[1])}
        return feeds

    def _origin(self, spot: Spot) -> Spot:
        while spot in self.same:
            spot = self.same[spot]
        return spot

    def steps(self) -> tuple[list[Step], list[Spot]]:
        """Return the steps, and the spots that leave the query."""
        steps = [s for n in range(len(self.kernels)) if (s := self._step(n)) is not None]
        return steps, [self._origin(spot) for spot in self.graph.exits]

    def _step(self, n: int) -> Step | None:
        node, feeds, kernel = self.graph.nodes[n], self.feeds[n], self.kernels[n]
        members: tuple[int, ...] = (n,)
        if self._is_fork(n):
            return None
        if n not in self.joins and type(node) in (Apply, Filter) and not isinstance(kernel, RowsKernel):
            source, e, members = self._function(n, node, feeds)
            if e is not None and type(node) is Apply and self._inside((n, 0)):
                self.functions[n, 0] = source, e, members
                return None
            if e is not None and (len(members) > 1 or len(feeds) > 1):
                kernel, feeds = kernel_of(Apply(e) if type(node) is Apply else Filter(e)), (source,)
        return Step(n, kernel, feeds, tuple((n, o) for o in range(node.arity[1])), members)

    def _inside(self, spot: Spot) -> bool:
        """Return whether only one other function or filter reads a spot."""
        readers = [n for n, f in enumerate(self.feeds) if spot in f and not self._is_fork(n)]
        if self.uses[spot] != 1 or len(readers) != 1 or readers[0] in self.joins:
            return False
        (n,) = readers
        node: Any = self.graph.nodes[n]
        if isinstance(self.kernels[n], RowsKernel) or type(node) not in (Apply, Filter):
            return False
        if type(node) is Filter:
            return self.feeds[n].index(spot) == 1 and self.feeds[n][0] == self._source(spot)
        return len(self.feeds[n]) == 1 and _reads(node.function) == 1

    def _source(self, spot: Spot) -> Spot | None:
        """Return what a function is one of, if it has one input."""
        feeds = self.feeds[spot[0]]
        return self.functions.get(feeds[0], (feeds[0],))[0] if len(feeds) == 1 else None

    def _function(self, n: int, node: Any, feeds: tuple[Spot, ...]) -> tuple[Spot, Any, tuple[int, ...]]:
        """Return the function or condition of a processor as one of a single spot, None if it is none."""
        if type(node) is Filter and node.condition is None:
            inner = self.functions.get(feeds[1])
            return (feeds[0], None, (n,)) if inner is None else (feeds[0], inner[1], (*inner[2], n))
        if len(feeds) != 1:
            return feeds[0], None, (n,)
        try:
            e = as_expression(node.function if type(node) is Apply else node.condition)
        except NotColumnar:
            return feeds[0], None, (n,)
        if type(node) is Apply and feeds[0] in self.functions:
            source, inner_e, members = self.functions[feeds[0]]
            return source, replaced(e, [inner_e]), (*members, n)
        return feeds[0], e, (n,)


def _reads(function: Any) -> int:
    """Return how often a function reads its events; more than once, computing them twice would cost more."""
    try:
        return sum(isinstance(e, Input) for e in walk(as_expression(function)))
    except NotColumnar:
        return 0
