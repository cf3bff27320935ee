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

from .classify import bounded_history
from .costs import WORTH, gain, kind_of, measure, obstacle, transport
from .machines import ChunkedMonitor
from .manager import ThreadManager, cores
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


@processor
class Parallelized(Group):
    """A query with wrappers in it; `plan` tells what runs where, and why."""

    label: str = "Parallelized"
    decisions: tuple[Decision, ...] = field(default=(), kw_only=True)

    def plan(self) -> Plan:
        """Return what runs where and why, and what was refused and why."""
        return Plan(self.decisions)


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


def classify(query: Query) -> tuple[str, str]:
    """Return the kind of a query, and why: stateless, bounded history, keyed, finite state, or order-bound.

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
        return "finite state", "its automaton can be read in pieces"
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


def _measure(stages: list[Stage], sample: Sequence[Any], kind: str) -> None:
    """Find out what each stage costs, and what it would cost to hand it over."""
    events = list(sample)
    for stage in stages:
        if kind != "threads":
            try:
                pickle.dumps((stage.query, events))
            except Exception as error:
                stage.stuck = f"cannot be pickled: {error}"
        measured = measure(stage.query, events)
        share = len(events) / len(sample)
        stage.cost = measured.cost * share
        if not stage.stuck:
            try:
                stage.moving = transport(kind, events, measured.outputs) * share
            except Exception as error:
                stage.stuck = f"its outputs cannot be pickled: {error}"
        events = measured.outputs


WRAPPERS: dict[str, Callable[[Query, ThreadManager], Query]] = {
    "stateless": Pipeline,
    "bounded history": Pipeline,
    "keyed": ParallelSlice,
    "finite state": ChunkedMonitor,
}


def _decide(stages: list[Stage], manager: ThreadManager) -> list[tuple[Query, Decision]]:
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
        text, query = shorten(stage.query, 60), _only(stage.query)
        if stage in spread:
            wrapped: Query = WRAPPERS[stage.kind](query, manager)
            choice, why = type(wrapped).__name__, f"{stage.why}; expected {gained(stage, workers):.1f}x"
        elif stage is ahead:
            wrapped, choice = PullGroup(query, manager), "PullGroup"
            why = f"{stage.why}; runs ahead of the rest, expected {gained(stage, 1):.1f}x"
        else:
            wrapped, choice = query, "as it is"
            best = max(gained(stage, workers if stage.kind in WRAPPERS else 1), 0)
            why = stage.stuck or f"{stage.why}; handed over it would give {best:.1f}x"
        made.append((wrapped, Decision(text, stage.kind, stage.cost, choice, why)))
    return made


def parallelize(query: Any, manager: ThreadManager, sample: Iterable[Any] = ()) -> Parallelized:
    """Return the query with those stages handed over to workers for which it is sound and pays.

    Parameters
    ----------
    query
        A query with one input and one output.
    manager
        Lends the workers.
    sample
        Events to measure the stages on: a thousand or so, typical ones. Without them nothing is known about
        costs, and the query stays as it is.

    Examples
    --------
    >>> from millstream.processors import Apply, Cumulate
    >>> from operator import add
    >>> with ThreadManager(2, "processes") as manager:
    ...     fast = parallelize(Apply(abs) | Cumulate(add), manager, sample=range(1000))
    ...     print([decision.choice for decision in fast.plan().decisions])
    ['as it is', 'as it is']
    """
    query, events = as_query(query), list(sample)
    why = obstacle(manager)
    if not why and query.arity != (1, 1):
        why = "only queries with one input and one output are taken apart"
    stages = [Stage(query, "whole", "")] if query.arity != (1, 1) else _stages(query)
    if not why and not events:
        why = "without a sample of events nothing is known about costs"
    if why:
        left = tuple(Decision(shorten(s.query, 60), s.kind, None, "as it is", why) for s in stages)
        return Parallelized(query, decisions=left)
    _measure(stages, events, kind_of(manager))
    made = _decide(stages, manager)
    decisions = tuple(decision for _, decision in made)
    if all(decision.choice == "as it is" for decision in decisions):
        return Parallelized(query, decisions=decisions)
    return Parallelized(chain(q for q, _ in made), decisions=decisions)
