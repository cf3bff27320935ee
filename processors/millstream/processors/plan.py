"""From a graph to regions: which processors run together in one function.

Every output of a graph has a clock. A processor that gives one output for each front (it has an `Inline` form
without a condition) has the clock of its inputs; one with a condition (a filter) opens a slower clock inside
that one. As long as all inputs of a processor have the same clock, its front is just a few local variables:
no queue is needed, and its step becomes a few lines in the function of its region. A region therefore begins
where events come in from elsewhere: at an entry of the graph, behind a join of different clocks, and behind
each processor that emits as it likes.

::

    X ──┬────────────── Filter ── Cumulate ──>        def r0(v0):
        └── Apply(even) ──┘                               v1 = v0 % 2 == 0
                                                          if v1:
                                                              n2.value = n2.value + v0
                                                              v2 = n2.value
                                                              sink_0(v2)

Both engines print the same regions, push as functions, pull as generators (`codegen`).
"""

from __future__ import annotations

import re
from typing import Any

from attrs import define, field, frozen

from .graph import Graph, flatten
from .processor import Inline, Processor, Router, inline_form, overrides


@frozen
class Place:
    """A processor placed in a scope: its input and output variables, and the scope inside its condition."""

    node: int
    form: Inline
    ins: tuple[str, ...]
    outs: tuple[str, ...]
    inside: Scope | None


@frozen
class Send:
    """Values that leave a region: to a sink, to a processor's step or port, or into the queue of a join."""

    kind: str
    node: int
    port: int
    values: tuple[str, ...]


@define
class Scope:
    """A stretch of code with one clock."""

    region: Region
    items: list[Place | Send] = field(factory=list)


@define
class Region:
    """A maximal part of the graph that runs as one function."""

    index: int
    #: where its events come from: ("input", k), ("join", node), ("node", node) or ("router", node, output)
    root: tuple[Any, ...]
    params: tuple[str, ...]
    depth: int = 0
    scope: Scope = field(init=False)
    sends: list[Send] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.scope = Scope(self)

    @property
    def is_last(self) -> bool:
        """Return whether all that leaves this region goes to one sink."""
        return len(self.sends) == 1 and self.sends[0].kind == "sink"

    @property
    def only_send(self) -> Send | None:
        """Return the send that is all that this region does, unchanged, if so."""
        items = self.scope.items
        send = items[0] if len(items) == 1 else None
        return send if isinstance(send, Send) and send.values == self.params else None


@define
class Plan:
    """Regions and joins of a flat graph."""

    graph: Graph
    places: tuple[str, ...]
    pulling: bool
    regions: list[Region] = field(factory=list)
    #: node -> initial events of each of its input queues
    joins: dict[int, list[tuple[Any, ...]]] = field(factory=dict)
    #: node (or -1 - k for sink k) -> the variables that it reads
    fronts: dict[int, tuple[str, ...]] = field(factory=dict)
    _values: dict[Any, tuple[Scope, str]] = field(factory=dict)
    _variables: int = 0

    def add_region(self, root: tuple[Any, ...], width: int, depth: int) -> Region:
        """Return a new region with fresh parameters."""
        region = Region(len(self.regions), root, tuple(self.variable() for _ in range(width)), depth)
        self.regions.append(region)
        return region

    def variable(self) -> str:
        """Return a new variable name."""
        self._variables += 1
        return f"v{self._variables - 1}"

    def send(self, scope: Scope, kind: str, node: int, port: int, values: tuple[str, ...]) -> None:
        """Let values leave a scope."""
        item = Send(kind, node, port, values)
        scope.items.append(item)
        scope.region.sends.append(item)
        self.fronts[-1 - node if kind == "sink" else node] = values


def make_plan(graph: Graph, pulling: bool) -> Plan:
    """Return the plan of a graph for one of the two engines; computed once."""
    if pulling not in graph.plans:
        graph.plans[pulling] = _make(graph, pulling)
    plan: Plan = graph.plans[pulling]
    return plan


def _make(graph: Graph, pulling: bool) -> Plan:
    flat, places = flatten(graph)
    plan = Plan(flat, places, pulling)
    feeds = {e.target: e for e in flat.edges}
    for k, spot in enumerate(flat.entries):
        region = plan.add_region(("input", k), 1, 0)
        plan._values["input", spot] = region.scope, region.params[0]
    for n, node in enumerate(flat.nodes):
        sources: list[tuple[Scope, str] | None] = []
        for i in range(node.arity[0]):
            e = feeds.get((n, i))
            key: Any = ("input", (n, i)) if e is None else e.source
            sources.append(None if e is not None and e.initial else plan._values[key])
        _place(
            plan,
            n,
            node,
            sources,
            [feeds[n, i].initial if (n, i) in feeds else () for i in range(node.arity[0])],
        )
    for k, spot in enumerate(flat.exits):
        scope, value = plan._values[spot]
        plan.send(scope, "sink", k, 0, (value,))
    for e in flat.edges:
        if e.initial:
            scope, value = plan._values[e.source]
            plan.send(scope, "join", *e.target, (value,))
    return plan


def _place(
    plan: Plan,
    n: int,
    node: Processor,
    sources: list[tuple[Scope, str] | None],
    initial: list[tuple[Any, ...]],
) -> None:
    """Put one node into the plan, its sources being placed already (None: a wire with initial events)."""
    if isinstance(node, Router):
        return _place_router(plan, n, node, sources)
    if plan.pulling and overrides(node, "iterate"):
        for i, source in enumerate(sources):
            if source is not None:
                plan.send(source[0], "join", n, i, (source[1],))
        plan.joins[n] = initial
        return _emit_region(plan, n, node, 1 + max((s[0].region.depth for s in sources if s), default=0))
    scope, front = _front(plan, n, sources, initial)
    form = inline_form(node)
    if form is None:
        plan.send(scope, "step", n, 0, front)
        return _emit_region(plan, n, node, scope.region.depth + 1)
    inside = Scope(scope.region) if form.when is not None else None
    outs = tuple(_alias(text, front) or plan.variable() for text in form.out)
    scope.items.append(Place(n, form, front, outs, inside))
    plan.fronts[n] = front
    for o, value in enumerate(outs):
        plan._values[n, o] = inside or scope, value


def _place_router(plan: Plan, n: int, node: Router, sources: list[tuple[Scope, str] | None]) -> None:
    depth = 0
    for i, source in enumerate(sources):
        assert source is not None
        plan.send(source[0], "port", n, i, (source[1],))
        depth = max(depth, source[0].region.depth + 1)
    for o in range(node.arity[1]):
        region = plan.add_region(("router", n, o), 1, depth)
        plan._values[n, o] = region.scope, region.params[0]


def _front(
    plan: Plan, n: int, sources: list[tuple[Scope, str] | None], initial: list[tuple[Any, ...]]
) -> tuple[Scope, tuple[str, ...]]:
    """Return where a node's front is complete, behind a join if its inputs have different clocks."""
    first = sources[0]
    if first is not None and all(s is not None and s[0] is first[0] for s in sources):
        return first[0], tuple(s[1] for s in sources if s is not None)
    plan.joins[n] = initial
    depth = 0
    for i, source in enumerate(sources):
        if source is not None:
            plan.send(source[0], "join", n, i, (source[1],))
            depth = max(depth, source[0].region.depth + 1)
    region = plan.add_region(("join", n), len(sources), depth)
    return region.scope, region.params


def _emit_region(plan: Plan, n: int, node: Processor, depth: int) -> None:
    region = plan.add_region(("node", n), node.arity[1], depth)
    for o, value in enumerate(region.params):
        plan._values[n, o] = region.scope, value


def _alias(text: str, front: tuple[str, ...]) -> str | None:
    """Return the input variable that an output expression merely repeats."""
    match = re.fullmatch(r"\{(\d+)\}", text)
    return front[int(match[1])] if match else None
