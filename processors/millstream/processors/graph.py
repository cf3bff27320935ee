"""Graphs: the immutable description of a query, and the ways to compose one.

A graph lists its nodes in an order in which every event can flow, the edges between their ports, the entries
(input ports fed from outside) and the exits (output ports that leave). Nodes are templates: composing copies
the description, never a running processor, so the same query may stand in many places.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve, field, frozen

from .errors import QueryError, shorten
from .processor import Processor, Router, processor
from .query import Query, as_query
from .types import check_types

Spot = tuple[int, int]  # (node, port)


@frozen
class Edge:
    """A connection from an output port to an input port; `initial` events wait on it from the start."""

    source: Spot
    target: Spot
    initial: tuple[Any, ...] = ()

    def moved(self, by: int) -> Edge:
        """Return the edge with its nodes renumbered."""
        (s, o), (t, i) = self.source, self.target
        return Edge((s + by, o), (t + by, i), self.initial)


@frozen(eq=False, repr=False)
class Graph(Query):
    """Nodes, edges, entries and exits; made by ``|``, ``&`` and `connect`."""

    nodes: tuple[Processor, ...]
    edges: tuple[Edge, ...]
    entries: tuple[Spot, ...]
    exits: tuple[Spot, ...]
    #: what the engines derive from the description, kept because deriving it costs more than running it once
    plans: dict[Any, Any] = field(factory=dict, init=False)

    @property
    def graph(self) -> Graph:
        """Return itself."""
        return self

    @property
    def fingerprint(self) -> int:
        """Return a number that tells this query from another when a saved state is loaded, in any process.

        Groups and the order in which wires were written do not matter to it.
        """
        if "fingerprint" not in self.plans:
            flat, _ = flatten(self)
            edges = sorted(flat.edges, key=lambda e: (e.source, e.target))
            text = repr((flat.nodes, edges, flat.entries, flat.exits))
            self.plans["fingerprint"] = zlib.crc32(text.encode())
        number: int = self.plans["fingerprint"]
        return number

    def __getstate__(self) -> tuple[Any, ...]:
        return self.nodes, self.edges, self.entries, self.exits

    def __setstate__(self, values: tuple[Any, ...]) -> None:
        for name, value in zip(("nodes", "edges", "entries", "exits", "plans"), (*values, {}), strict=True):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        if _is_chain(self):
            return " | ".join(map(repr, self.nodes))
        ins, outs = self.arity
        return f"Graph({ins} in, {outs} out: {', '.join(map(repr, self.nodes))})"


@frozen(eq=False)
class Port:
    """One port of a query; ``a.outputs[0] >> b.inputs[1]`` makes a wire for `connect`."""

    owner: Query
    side: str
    index: int

    def __rshift__(self, other: object) -> Wire:
        if not isinstance(other, Port) or self.side != "outputs" or other.side != "inputs":
            raise QueryError(f"a wire goes from an output to an input, got {self} >> {other}")
        return Wire(self, other)

    def __str__(self) -> str:
        return f"{shorten(self.owner, 60)}.{self.side}[{self.index}]"


@frozen(eq=False)
class Wire:
    """A connection between two ports of queries, not yet part of a graph."""

    source: Port
    target: Port
    initial: tuple[Any, ...] = ()

    def after(self, *initial: Any) -> Wire:
        """Return the wire with events already on it, the delay that a cycle needs."""
        return evolve(self, initial=initial)


def single(node: Processor) -> Graph:
    """Return the graph of one node."""
    ins, outs = node.arity
    return Graph((node,), (), tuple((0, i) for i in range(ins)), tuple((0, o) for o in range(outs)))


def pipe(first: Query, second: Query) -> Graph:
    """Return `first` followed by `second`, output k to input k."""
    a, b = first.graph, second.graph
    if len(a.exits) != len(b.entries):
        raise QueryError(
            f"cannot pipe {shorten(first)} into {shorten(second)}: {_count(len(a.exits), 'output')} for "
            f"{_count(len(b.entries), 'input')}; wire ports with connect(a.outputs[i] >> b.inputs[j], ...)"
        )
    by = len(a.nodes)
    joints = tuple(Edge(out, (n + by, i)) for out, (n, i) in zip(a.exits, b.entries, strict=True))
    edges = a.edges + tuple(e.moved(by) for e in b.edges) + joints
    graph = Graph(a.nodes + b.nodes, edges, a.entries, tuple((n + by, o) for n, o in b.exits))
    check_types(graph, joints)
    return graph


def beside(first: Query, second: Query) -> Graph:
    """Return both queries side by side: inputs and outputs of the first, then those of the second."""
    a, b = first.graph, second.graph
    by = len(a.nodes)
    return Graph(
        a.nodes + b.nodes,
        a.edges + tuple(e.moved(by) for e in b.edges),
        a.entries + tuple((n + by, i) for n, i in b.entries),
        a.exits + tuple((n + by, o) for n, o in b.exits),
    )


def connect(
    *wires: Wire, inputs: Sequence[Port] | None = None, outputs: Sequence[Port] | None = None
) -> Graph:
    """Return a graph wired port by port; here a query object stands for itself, wherever it is named.

    Parameters
    ----------
    wires
        ``a.outputs[i] >> b.inputs[j]``. An output may be wired to several inputs, and forks by itself. A wire
        made with ``.after(x)`` holds the event x from the start; a cycle must have at least one such wire.
    inputs, outputs
        The ports that are open to the outside, in order. May be left out where only one is unconnected.

    Examples
    --------
    >>> from millstream.processors import Apply, Filter, Fork, X
    >>> fork, even, keep = Fork(2), Apply(X % 2 == 0), Filter()
    >>> query = connect(
    ...     fork.outputs[0] >> keep.inputs[0],
    ...     fork.outputs[1] >> even.inputs[0],
    ...     even.outputs[0] >> keep.inputs[1],
    ... )
    >>> list(query([1, 2, 3, 4]))
    [2, 4]
    """
    for w in wires:
        if not isinstance(w, Wire):
            raise QueryError(f"connect: expected wires such as a.outputs[0] >> b.inputs[0], got {shorten(w)}")
    ports = [*(p for w in wires for p in (w.source, w.target)), *(inputs or ()), *(outputs or ())]
    owners = list({id(p.owner): p.owner for p in ports}.values())
    offsets, merged = _merge(owners)
    edges = list(merged.edges)
    for w in wires:
        edges.append(Edge(_spot(w.source, offsets), _spot(w.target, offsets), w.initial))
    _check_fed_once(merged.nodes, edges)
    entries = _open_ports("input", inputs, merged.entries, {e.target for e in edges}, merged.nodes, offsets)
    exits = _open_ports("output", outputs, merged.exits, {e.source for e in edges}, merged.nodes, offsets)
    graph = _ordered(Graph(merged.nodes, tuple(edges), entries, exits))
    check_types(graph, graph.edges)
    return graph


def _merge(owners: list[Query]) -> tuple[dict[int, tuple[int, Graph]], Graph]:
    offsets, merged = {}, Graph((), (), (), ())
    for owner in owners:
        offsets[id(owner)] = len(merged.nodes), owner.graph
        merged = beside(merged, owner)
    return offsets, merged


def _spot(port: Port, offsets: dict[int, tuple[int, Graph]]) -> Spot:
    by, graph = offsets[id(port.owner)]
    spots = graph.entries if port.side == "inputs" else graph.exits
    if not 0 <= port.index < len(spots):
        raise QueryError(f"{shorten(port.owner)} has no {port.side}[{port.index}], only {len(spots)} of them")
    n, i = spots[port.index]
    return n + by, i


def _label(nodes: Sequence[Processor], spot: Spot, side: str) -> str:
    return f"{shorten(nodes[spot[0]], 60)}.{side}s[{spot[1]}]"


def _check_fed_once(nodes: Sequence[Processor], edges: list[Edge]) -> None:
    seen: set[Spot] = set()
    for e in edges:
        if e.target in seen:
            raise QueryError(
                f"{_label(nodes, e.target, 'input')} is wired twice; merge streams with Multiplex(2)"
            )
        seen.add(e.target)
        if e.initial and (nodes[e.target[0]].arity[0] < 2 or isinstance(nodes[e.target[0]], Router)):
            raise QueryError(
                f"{_label(nodes, e.target, 'input')} cannot hold initial events: only a synchronous "
                "processor with several inputs has a queue for them"
            )


def _open_ports(
    side: str,
    listed: Sequence[Port] | None,
    spots: tuple[Spot, ...],
    wired: set[Spot],
    nodes: Sequence[Processor],
    offsets: dict[int, tuple[int, Graph]],
) -> tuple[Spot, ...]:
    """Return the ports open to the outside: as listed, or the only unconnected one."""
    unwired = [s for s in spots if s not in wired]
    if listed is None:
        if len(unwired) != 1:
            names = ", ".join(_label(nodes, s, side) for s in unwired) or "none"
            raise QueryError(
                f"connect: unconnected {side}s: {names}; wire them or list the open ones in {side}s=[...]"
            )
        return tuple(unwired)
    chosen = tuple(_spot(p, offsets) for p in listed)
    if side == "input":
        for s in unwired:
            if s not in chosen:
                raise QueryError(
                    f"connect: {_label(nodes, s, side)} is not connected; wire it or list it in inputs=[...]"
                )
        for s in chosen:
            if s in wired:
                raise QueryError(f"connect: {_label(nodes, s, side)} is wired, it cannot be an input as well")
    return chosen


def _ordered(graph: Graph) -> Graph:
    """Return the graph with nodes in topological order; edges that hold initial events do not count."""
    waits = [0] * len(graph.nodes)
    after: list[list[int]] = [[] for _ in graph.nodes]
    for e in graph.edges:
        if not e.initial:
            waits[e.target[0]] += 1
            after[e.source[0]].append(e.target[0])
    order = [n for n, w in enumerate(waits) if w == 0]
    for n in order:
        for t in after[n]:
            waits[t] -= 1
            if waits[t] == 0:
                order.append(t)
    if len(order) < len(graph.nodes):
        cycle = ", ".join(repr(graph.nodes[n]) for n, w in enumerate(waits) if w)
        raise QueryError(
            f"connect: a cycle without delay through {cycle}; put an event on one wire with .after(event)"
        )
    new = {n: k for k, n in enumerate(order)}
    return Graph(
        tuple(graph.nodes[n] for n in order),
        tuple(
            Edge((new[e.source[0]], e.source[1]), (new[e.target[0]], e.target[1]), e.initial)
            for e in graph.edges
        ),
        tuple((new[n], i) for n, i in graph.entries),
        tuple((new[n], o) for n, o in graph.exits),
    )


def _is_chain(graph: Graph) -> bool:
    steps = {(e.source[0], e.target[0]) for e in graph.edges}
    return len(graph.entries) > 0 and steps == {(k, k + 1) for k in range(len(graph.nodes) - 1)}


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


@processor
class Group(Processor):
    """A query boxed as one processor: one box in pictures, no cost when it runs.

    >>> from millstream.processors import Apply, X
    >>> Group(Apply(X + 1) | Apply(X * 2), "twice the next")
    Group(Apply(X + 1) | Apply(X * 2), 'twice the next')
    """

    query: Query = field(converter=as_query)
    label: str = "Group"

    @property
    def arity(self) -> tuple[int, int]:
        """Return the arity of the query inside."""
        return self.query.arity

    @property
    def name(self) -> str:
        """Return the label."""
        return self.label

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the types that the processors at the border declare."""
        graph = self.query.graph
        takes = [graph.nodes[n].types()[0][i] for n, i in graph.entries]
        return takes, [graph.nodes[n].types()[1][o] for n, o in graph.exits]


def flatten(graph: Graph) -> tuple[Graph, tuple[str, ...]]:
    """Return the graph without groups, and the place of each of its nodes in the original."""
    places = tuple(f"{k}:{n.name}" for k, n in enumerate(graph.nodes))
    while any(isinstance(n, Group) for n in graph.nodes):
        graph, places = _open_group(graph, places)
    return graph, places


def _open_group(graph: Graph, places: tuple[str, ...]) -> tuple[Graph, tuple[str, ...]]:
    """Replace the first group of a graph by its content."""
    at = next(k for k, n in enumerate(graph.nodes) if isinstance(n, Group))
    group = graph.nodes[at]
    assert isinstance(group, Group)
    inner, grow = group.query.graph, len(group.query.graph.nodes) - 1

    def source(spot: Spot) -> Spot:
        n, o = spot
        return (inner.exits[o][0] + at, inner.exits[o][1]) if n == at else (n + grow * (n > at), o)

    def target(spot: Spot) -> Spot:
        n, i = spot
        return (inner.entries[i][0] + at, inner.entries[i][1]) if n == at else (n + grow * (n > at), i)

    edges = tuple(Edge(source(e.source), target(e.target), e.initial) for e in graph.edges)
    flat = Graph(
        graph.nodes[:at] + inner.nodes + graph.nodes[at + 1 :],
        edges + tuple(e.moved(at) for e in inner.edges),
        tuple(map(target, graph.entries)),
        tuple(map(source, graph.exits)),
    )
    inside = tuple(f"{places[at]}/{k}:{n.name}" for k, n in enumerate(inner.nodes))
    return flat, places[:at] + inside + places[at + 1 :]


def chain(queries: Iterable[Any]) -> Graph:
    """Return all the queries piped one after the other.

    >>> from millstream.processors import Apply, X
    >>> list(chain([X + 1, X * 2])([1, 2]))
    [4, 6]
    """
    graphs = [as_query(q).graph for q in queries]
    while len(graphs) > 1:  # in pairs, since piping copies both descriptions
        pairs = zip(graphs[::2], graphs[1::2], strict=False)
        graphs = [pipe(a, b) for a, b in pairs] + graphs[len(graphs) & ~1 :]
    if not graphs:
        raise QueryError("chain: expected at least one query, got none")
    return graphs[0]
