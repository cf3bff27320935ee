"""What a query remembers that can grow without bound, by what it grows, and how to bound it.

A processor tells this of itself (`Processor.growth`); the queues of joins are found in the plan of the graph,
and queries inside other processors are looked at as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from .graph import flatten
from .plan import make_plan
from .processor import Processor, configuration
from .query import Query


@frozen
class Growth:
    """State that can grow without bound.

    Parameters
    ----------
    by
        What it grows by.
    bound
        How it can be bounded.
    """

    by: str
    bound: str


@frozen
class Growing:
    """A processor with such state, and its place in the query."""

    place: str
    growth: Growth

    def __str__(self) -> str:
        return f"{self.place}: {self.growth.by}; bound it with {self.growth.bound}"


@frozen
class Memory:
    """Everything in a query that can grow without bound.

    Prints one line for each; true if there is any.

    Examples
    --------
    >>> from millstream.processors import Count, E, Filter, Pack
    >>> print((Filter(E.ok) | Pack(E.last)).memory())
    1:Pack: the events of the list under way; bound it with a condition that comes true often enough
    >>> print(Count().memory())
    nothing grows without bound
    """

    growing: tuple[Growing, ...]

    def __bool__(self) -> bool:
        return bool(self.growing)

    def __str__(self) -> str:
        return "\n".join(map(str, self.growing)) or "nothing grows without bound"


def memory_of(query: Query) -> Memory:
    """Return what can grow in a query."""
    return Memory(tuple(_growing(query, "")))


def _growing(query: Query, above: str) -> Iterator[Growing]:
    graph, places = flatten(query.graph)
    for node, place in zip(graph.nodes, places, strict=True):
        growth = node.growth()
        if growth is not None:
            yield Growing(above + place, growth)
        for inner in _inside(node):
            yield from _growing(inner, f"{above}{place} > ")
    for n in make_plan(graph, pulling=False).joins:
        by = "events of one input that wait for the others"
        yield Growing(above + places[n], Growth(by, "into(..., capacity=n)"))


def _inside(node: Processor) -> Iterator[Query]:
    """Yield the queries that a processor hosts."""
    for value in configuration(node).values():
        if isinstance(value, Query):
            yield value
