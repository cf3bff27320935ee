"""parallelize: decide which stages of a query are handed over to workers, and say why, or why not.

The query is looked at as a chain of stages. Each is classified by what it declares, measured on a sample,
and wrapped if that is sound and pays. A query in which nothing is wrapped is the query itself, at no cost.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import define, field, frozen

from millstream.processors import Group, ParameterError, Query, as_query, chain, processor
from millstream.processors.errors import shorten
from millstream.processors.graph import Graph, flatten, single
from millstream.processors.plan import make_plan
from millstream.processors.pull import pull
from millstream.processors.query import OnError

from .classify import bounded_history
from .costs import WORTH, gain, kind_of, measure, obstacle, transport
from .deciding import LEFT, Decided, Deciding
from .machines import ChunkedMonitor
from .manager import ThreadManager, cores
from .measuring import Sample
from .parallel_slice import ParallelSlice, refusal
from .pipeline import Pipeline
from .pull_group import PullGroup


@frozen
class Decision:
    """What was decided about a stage, and why."""

    stage: str
    kind: str
    cost: float | None
    choice: str
    reason: str

    def __str__(self) -> str:
        cost = "-" if self.cost is None else f"{self.cost * 1e6:.1f} us"
        return f"{self.stage}: {self.kind}, {cost}: {self.choice} ({self.reason})"


@frozen
class Plan:
    """The decisions about all stages; prints as a list."""

    decisions: tuple[Decision, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.decisions))


NAME = "Parallelized"


@processor
class Parallelized(Group):
    """A query with wrappers in it; `plan` tells what runs where, and why."""

    label: str = NAME
    planner: Any = field(default=None, kw_only=True)

    @property
    def graph(self) -> Any:
        """Return the graph that consists of this query alone: always the same one, so it is compiled once."""
        planner = self.planner
        if planner.graph is None or planner.graph.nodes[0] is not self:
            planner.graph = single(self)
        return planner.graph

    def __call__(
        self, *sources: Iterable[Any], on_error: OnError = "raise", capacity: int | None = None
    ) -> Any:
        """Pull; what an earlier run has decided on its first events is pulled itself."""
        planner = self.planner
        query = planner.settled or self
        if query is self and isinstance(self.query, Deciding):
            query = planner.left
            if on_error == "raise":
                opening = planner.deciding().opening
                return pull(query, sources, capacity=capacity, opening=opening)[0]
        return Query.__call__(query, *sources, on_error=on_error, capacity=capacity)

    def plan(self) -> Plan:
        """Return what runs where and why, and what was refused and why."""
        return Plan(self.planner.decisions)


@define
class Stage:
    """A stage under consideration; costs are seconds for each event of the whole query."""

    query: Query
    kind: str
    why: str
    cost: float = 0.0
    moving: float = 0.0
    #: why its events or the query itself cannot be sent to a worker
    stuck: str = ""

    @property
    def text(self) -> str:
        """Return how the stage is written."""
        return shorten(self.query, 60)

    def try_to_send(self, what: Any) -> None:
        """Find out whether something can be sent to a worker."""
        try:
            pickle.dumps(what)
        except Exception as error:
            self.stuck = f"cannot be pickled: {error}"

    def note(self, kind: str, events: Sequence[Any], outputs: Sequence[Any], cost: float, whole: int) -> None:
        """Take note of what it did with a sample: `cost` for each event, and `whole` events to begin with."""
        if kind != "threads":
            self.try_to_send((self.query, list(events)))
        share = len(events) / max(1, whole)
        self.cost = cost * share
        if not self.stuck:
            try:
                self.moving = transport(kind, events, outputs) * share
            except Exception as error:
                self.stuck = f"its outputs cannot be pickled: {error}"


def classify(query: Query) -> tuple[str, str]:
    """Return the kind of a query, and why: stateless, bounded history, keyed, associative, or order-bound.

    >>> from millstream.processors import Apply, Count
    >>> classify(Apply(abs))[0], classify(Count())[0]
    ('stateless', 'order-bound')
    """
    node: Any = _only(query)
    if hasattr(node, "by") and hasattr(node, "inner"):
        why = refusal(node)
        return ("order-bound", why) if why else ("keyed", "its keys do not depend on each other")
    if hasattr(node, "automaton") and not node.explain:
        try:
            node.automaton()
        except ParameterError as error:
            return "order-bound", str(error)
        return "associative", "what pieces of a trace do to its states can be put together"
    history = bounded_history(query)
    if history.length == 1:
        return "stateless", "it keeps no state"
    if history.length is not None:
        return "bounded history", f"an output depends on the last {history.length} events"
    return "order-bound", history.reason


def _only(query: Query) -> Query:
    nodes = query.graph.nodes
    return nodes[0] if len(nodes) == 1 else query


def _stages(query: Query) -> list[Stage]:
    """Return the stages of a chain, stateless neighbours as one; any other query is one stage."""
    graph = query.graph
    wires = [(e.source, e.target, e.initial) for e in graph.edges]
    is_chain = wires == [((k, 0), (k + 1, 0), ()) for k in range(len(graph.nodes) - 1)]
    if not is_chain or any(n.arity != (1, 1) for n in graph.nodes):
        return [Stage(query, *classify(query))]
    stages: list[Stage] = []
    for node in graph.nodes:
        kind, why = classify(node)
        if stages and kind == stages[-1].kind == "stateless":
            stages[-1].query = stages[-1].query | node
        else:
            stages.append(Stage(node, kind, why))
    return stages


def has_joins(query: Query) -> bool:
    """Return whether streams of different clocks meet in a query: events then wait in queues."""
    graph, _ = flatten(query.graph)
    several = any(node.arity[0] > 1 for node in graph.nodes)
    return several and bool(make_plan(query.graph, pulling=False).joins)


WRAPPERS: dict[str, Callable[[Query, ThreadManager], Query]] = {
    "stateless": Pipeline,
    "bounded history": Pipeline,
    "keyed": ParallelSlice,
    "associative": ChunkedMonitor,
}


def _decide(stages: list[Stage], manager: ThreadManager) -> list[Decision]:
    """Wrap the stages that can be spread, where it pays; if there are none, the best one to run ahead."""
    kind, processors = kind_of(manager), cores()
    total = sum(stage.cost for stage in stages)
    workers = min(manager.limit, processors)

    def gained(stage: Stage, count: int) -> float:
        if stage.stuck:
            return 0.0
        return gain(kind, stage.cost, stage.moving, total - stage.cost, count, processors)

    spread = [s for s in stages if s.kind in WRAPPERS and gained(s, workers) >= WORTH]
    ahead = max(stages, key=lambda s: gained(s, 1)) if len(stages) > 1 and not spread else None
    if ahead is not None and gained(ahead, 1) < WORTH:
        ahead = None
    made = []
    for stage in stages:
        if stage in spread:
            choice = WRAPPERS[stage.kind].__name__
            why = f"{stage.why}; expected {gained(stage, workers):.1f}x"
        elif stage is ahead:
            choice = PullGroup.__name__
            why = f"{stage.why}; runs ahead of the rest, expected {gained(stage, 1):.1f}x"
        else:
            best = max(gained(stage, workers if stage.kind in WRAPPERS else 1), 0)
            choice, why = LEFT, stage.stuck or f"{stage.why}; handed over it would give {best:.1f}x"
        made.append(Decision(stage.text, stage.kind, stage.cost, choice, why))
    return made


@define(eq=False)
class Planner:
    """The stages of a query, what has been decided about them, and what they become."""

    query: Query
    manager: ThreadManager
    stages: list[Stage]
    decisions: tuple[Decision, ...] = ()
    graph: Graph | None = None
    #: what has been decided on the first events of a run
    settled: Graph | None = None
    #: the query as it is, and what has been decided about it in some run
    left: Graph = field(init=False)
    decided: Decided = field(factory=Decided, init=False)

    def __attrs_post_init__(self) -> None:
        self.left = Group(self.query, label=NAME).graph

    def __repr__(self) -> str:
        return f"Planner({self.query!r}, {self.manager!r})"

    def leave(self, why: str) -> Query:
        """Leave the query as it is."""
        self.decisions = tuple(Decision(s.text, s.kind, None, LEFT, why) for s in self.stages)
        return self.query

    def measure(self, events: Sequence[Any]) -> Query:
        """Decide by running the stages on a sample."""
        share = len(events)
        for stage in self.stages:
            measured = measure(stage.query, events)
            stage.note(kind_of(self.manager), events, measured.outputs, measured.cost, share)
            events = measured.outputs
        return self._chosen()

    def _chosen(self) -> Query:
        """Decide, and return what the query becomes."""
        self.decisions = tuple(_decide(self.stages, self.manager))
        if all(d.choice == LEFT for d in self.decisions):
            return self.query
        return chain(self.build(k, d.choice) for k, d in enumerate(self.decisions))

    def wait(self) -> Query:
        """Decide when the first events come."""
        for stage in self.stages:
            if kind_of(self.manager) != "threads":
                stage.try_to_send(stage.query)
        self.decisions = tuple(
            Decision(s.text, s.kind, None, LEFT if s.stuck else "undecided", s.stuck or f"{s.why}; {LATER}")
            for s in self.stages
        )
        if all(s.stuck or (len(self.stages) == 1 and s.kind not in WRAPPERS) for s in self.stages):
            return self.leave("; ".join({s.stuck or s.why for s in self.stages}))
        if has_joins(self.query):
            return self.leave(JOINS)
        return self.deciding()

    def deciding(self) -> Deciding:
        """Return what decides on the first events."""
        stages = tuple(_only(s.query) for s in self.stages)
        return Deciding(self.query, stages, self.choose, self.build, self.decided)

    def choose(self, cheap: bool, samples: Sequence[Sample]) -> tuple[str, ...]:
        """Decide by what was measured on the first events: each stage, or all of them together if cheap."""
        if cheap:
            self.leave(f"all of it takes {samples[0].cost * 1e6:.2f} us an event, too little for a worker")
            self.settled = self.left
            return (LEFT,) * len(self.stages)
        whole = len(samples[0].events)
        for stage, sample in zip(self.stages, samples, strict=True):
            stage.note(kind_of(self.manager), sample.events, sample.outputs, sample.cost, whole)
        self.settled = Group(self._chosen(), label=NAME).graph
        return tuple(d.choice for d in self.decisions)

    def build(self, k: int, choice: str) -> Query:
        """Return what becomes of a stage."""
        query = _only(self.stages[k].query)
        if choice == LEFT:
            return query
        wrap: Any = PullGroup if choice == PullGroup.__name__ else WRAPPERS[self.stages[k].kind]
        wrapped: Query = wrap(query, self.manager)
        return wrapped


JOINS = "joins streams of different clocks, which is not decided upon while it runs: give a sample"
LATER = "decided when the first events have been measured"


def parallelize(query: Any, manager: ThreadManager, sample: Iterable[Any] = ()) -> Parallelized:
    """Return the query with those stages handed over to workers for which it is sound and pays.

    Parameters
    ----------
    query
        A query with one input and one output.
    manager
        Lends the workers.
    sample
        Events to measure the stages on: a thousand or so, typical ones, on which the stages are run here and
        now. Without them the first events of the first run are measured as they come, nothing being run
        twice; `plan` then tells more after these. Runs that survive failures are not measured.

    Examples
    --------
    >>> from millstream.processors import Apply, Cumulate
    >>> from operator import add
    >>> with ThreadManager(2, "processes") as manager:
    ...     fast = parallelize(Apply(abs) | Cumulate(add), manager, sample=range(1000))
    ...     print([decision.choice for decision in fast.plan().decisions])
    ...     later = parallelize(Apply(abs) | Cumulate(add), manager)
    ...     print([decision.choice for decision in later.plan().decisions])
    ...     print(sum(later(range(1000))))
    ...     print("undecided" in str(later.plan()))
    ['as it is', 'as it is']
    ['undecided', 'undecided']
    166666500
    False
    """
    query, events = as_query(query), list(sample)
    whole = query.arity != (1, 1)
    planner = Planner(query, manager, [Stage(query, "whole", "")] if whole else _stages(query))
    why = obstacle(manager) or ("only queries with one input and one output are taken apart" if whole else "")
    made = planner.leave(why) if why else planner.measure(events) if events else planner.wait()
    return Parallelized(made, planner=planner)
