"""Restricted numbering of a directed acyclic graph, the ground that phased execution stands on.

Vertices get the indices 1 to N so that edges lead from lower to higher ones and, for every v, the vertices
all of whose predecessors are numbered v or lower, S(v), are exactly 1 to m(v). When the vertices up to v
have finished a phase, those up to m(v) therefore know all their inputs for it, absent ones included. Kahn's
algorithm with a first-in-first-out queue numbers the vertices in this way; m(v) is how many it has met when
v leaves the queue.

Zimmerman and Chandy, *A Parallel Algorithm for Correlating Event Streams*, Section 3.1.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from attrs import field, frozen

from millstream.processors.errors import QueryError, shorten

Edge = tuple[Hashable, Hashable]


@frozen
class Numbering:
    """A restricted numbering: ``order[v - 1]`` is the vertex with index v, ``m[v]`` the size of S(v).

    >>> numbering = number("abcd", [("a", "c"), ("b", "c"), ("c", "d")])
    >>> numbering.index["c"], numbering.m
    (3, (2, 2, 3, 4, 4))
    """

    order: tuple[Hashable, ...]
    m: tuple[int, ...]
    index: dict[Hashable, int] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "index", {vertex: v for v, vertex in enumerate(self.order, 1)})

    @property
    def size(self) -> int:
        """Return N, the number of vertices."""
        return len(self.order)

    def s(self, v: int) -> range:
        """Return S(v): the indices of the vertices whose predecessors are all numbered v or lower."""
        return range(1, self.m[v] + 1)


def number(vertices: Iterable[Hashable], edges: Iterable[Edge]) -> Numbering:
    """Return a restricted numbering; sources come first, in the order in which they are given."""
    waits = dict.fromkeys(vertices, 0)
    after: dict[Hashable, list[Hashable]] = {v: [] for v in waits}
    for source, target in edges:
        for vertex in (source, target):
            if vertex not in waits:
                raise QueryError(f"an edge names {shorten(vertex)}, which is not a vertex")
        waits[target] += 1
        after[source].append(target)
    order = [v for v, count in waits.items() if count == 0]
    m = [len(order)]
    for vertex in order:
        for target in after[vertex]:
            waits[target] -= 1
            if waits[target] == 0:
                order.append(target)
        m.append(len(order))
    if len(order) < len(waits):
        cycle = ", ".join(shorten(v) for v, count in waits.items() if count)
        raise QueryError(f"a phased graph has no cycles, but there is one through some of {cycle}")
    return Numbering(tuple(order), tuple(m))


def informed(v: int, size: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Return S(v) as the paper defines it (1), for any numbering; slow, for checks.

    >>> informed(0, 3, [(1, 2), (2, 3)]), informed(2, 3, [(1, 2), (2, 3)])
    ({1}, {1, 2, 3})
    """
    return {w for w in range(1, size + 1) if all(x <= v for x, y in edges if y == w)}


def is_restricted(size: int, edges: Sequence[tuple[int, int]]) -> bool:
    """Return whether every S(v) of a topologically sorted numbering is 1 to its own size.

    >>> is_restricted(3, [(1, 3), (2, 3)])
    True
    """
    sets = [informed(v, size, edges) for v in range(size + 1)]
    return all(x < y for x, y in edges) and all(s == set(range(1, len(s) + 1)) for s in sets)
