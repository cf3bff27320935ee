"""Find the associative fold in a query, so that a window over it need not replay its events.

A query qualifies if it consists of stateless functions and associative folds, and every path through it
passes one fold: ``Apply(E.price) | Cumulate(add)``, or an average made of a sum, a count and a division.
Functions before a fold may as well run before the window, those behind it behind the window, so each fold can
be replaced by its sliding form where it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from millstream.processors import (
    Apply,
    Constant,
    Count,
    Cumulate,
    Fork,
    Graph,
    Group,
    Passthrough,
    Processor,
    Query,
    as_function,
    chain,
)  # fmt: skip
from millstream.processors.graph import flatten

from .monoid import FUNCTIONS, Monoid, is_associative

STATELESS = (Apply, Constant, Fork, Passthrough)
BEFORE, AFTER = "before", "after"
Make = Callable[[Any, Any], Processor]


def fold_of(node: Processor) -> Monoid | None:
    """Return the associative fold that a processor is, if it is one.

    >>> from operator import add
    >>> fold_of(Cumulate(add, start=1))
    Monoid(add, start=1)
    """
    if type(node) is Count:
        return FUNCTIONS[len]
    if type(node) is Cumulate and is_associative(node.function):
        return Monoid(node.function, start=node.start)
    return None


def _sides(graph: Graph) -> list[str] | None:
    """Return for each node whether it lies before or after a fold; None if the query does not qualify."""
    feeds = {e.target: e.source for e in graph.edges}
    sides: list[str] = []
    for n, node in enumerate(graph.nodes):
        inputs = [feeds.get((n, i)) for i in range(node.arity[0])]
        before = {BEFORE if source is None else sides[source[0]] for source in inputs}
        fold = fold_of(node) is not None
        if len(before) != 1 or not (fold or type(node) in STATELESS) or (fold and before == {AFTER}):
            return None
        sides.append(AFTER if fold else before.pop())
    return sides


def with_folds(inner: Query, make: Make) -> Graph | None:
    """Return the query with each fold replaced by ``make(function, start)``, or None if it does not qualify.

    >>> with_folds(Apply(abs) | Cumulate(max), lambda function, start: Constant(function))
    Apply(abs) | Constant(max)
    """
    graph, _ = flatten(inner.graph)
    if any(e.initial for e in graph.edges) or graph.arity != (1, 1):
        return None
    sides = _sides(graph)
    if sides is None or sides[graph.exits[0][0]] != AFTER:
        return None
    nodes = tuple(_replaced(node, make) for node in graph.nodes)
    return flatten(Graph(nodes, graph.edges, graph.entries, graph.exits))[0]


def _replaced(node: Processor, make: Make) -> Processor:
    fold = fold_of(node)
    if fold is None:
        return node
    made = make(fold.combine, fold.start)
    return made if fold.lift is None else Group(Apply(fold.lift) | made)


def as_monoid(inner: Query) -> Monoid | None:
    """Return a chain of functions around one fold as a monoid, or None if the query is not such a chain.

    >>> as_monoid(Apply(abs) | Cumulate(max)).fold([1, -3])
    3
    """
    graph, _ = flatten(inner.graph)
    sides = _sides(graph) if graph.arity == (1, 1) and not any(e.initial for e in graph.edges) else None
    if sides is None or any(node.arity != (1, 1) for node in graph.nodes):
        return None
    at = next((n for n, side in enumerate(sides) if side == AFTER), None)
    if at is None or not _is_line(graph):
        return None
    fold = fold_of(graph.nodes[at])
    assert fold is not None
    before = [_function(n) for n in graph.nodes[:at]] + ([fold.lift] if fold.lift else [])
    return Monoid(
        fold.combine, _composed(before), _composed([_function(n) for n in graph.nodes[at + 1 :]]), fold.start
    )


def _is_line(graph: Graph) -> bool:
    return {(e.source[0], e.target[0]) for e in graph.edges} == {
        (k, k + 1) for k in range(len(graph.nodes) - 1)
    }


def _function(node: Processor) -> Callable[[Any], Any]:
    if isinstance(node, Apply):
        return as_function(node.function)
    if isinstance(node, Constant):
        return lambda _, value=node.value: value  # type: ignore[misc]
    return lambda x: x


def _composed(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any] | None:
    if len(functions) < 2:
        return functions[0] if functions else None

    def composed(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return composed


def monoid_query(monoid: Monoid, make: Make) -> Query:
    """Return a monoid as a chain around ``make(combine, start)``."""
    parts = [monoid.lift, make(monoid.combine, monoid.start), monoid.lower]
    return chain([p for p in parts if p is not None])
