"""States that do not say where the work was done.

Some processors only have a query run elsewhere (`Processor.elsewhere`). In a checkpoint
their state is written as the query itself would write it: what is under way is waited for, and the query's
state takes the place of the processor's. So a job may go on with more workers, with fewer, or with none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import Graph, Group, flatten
from .processor import Processor, fields, is_state
from .push import Run
from .query import Query
from .states import Saved, State

#: a processor, and the join in front of it if there is one
Owners = tuple[Processor, Any]


def at_home(query: Query) -> Query:
    """Return the query with nothing run elsewhere: itself, if nothing is.

    >>> from millstream.processors import Count
    >>> at_home(Count())
    Count()
    """
    graph, _ = flatten(query.graph)
    inner = [node.elsewhere() for node in graph.nodes]
    if not any(inner):
        return query
    nodes = tuple(n if q is None else Group(q) for n, q in zip(graph.nodes, inner, strict=True))
    return Graph(nodes, graph.edges, graph.entries, graph.exits)


def save_at_home(run: Run, query: Query) -> Saved:
    """Return the state of a run of the query as that of the query with nothing run elsewhere."""
    places, away = _places(run)
    if not away:
        return run.save()
    for _ in away:  # what one of them gives may wait at another
        run.wait_for()
    for node, inside in away:
        inside.give(node.bring_back())
    home = at_home(query).into()
    _move(places, home.owners)
    saved = home.save()
    return Saved(saved.query, run.positions, run.ended, saved.values)


def load_at_home(run: Run, query: Query, saved: Saved) -> None:
    """Continue where `save_at_home` saved a state, or a run of the query with nothing run elsewhere did."""
    places, away = _places(run)
    if not away:
        run.load(saved)
        return
    home = at_home(query).into()
    home.load(saved)
    _move(home.owners, places)
    for node, inside in away:
        node.go_on(inside.take())
    run.load(Saved(query.graph.fingerprint, saved.positions, saved.ended, run.take()))


def together(query: Query, stages: Sequence[Query], parts: Sequence[State]) -> State:
    """Return the state of a chain, given that of each of its stages."""
    whole, runs = query.into(), [stage.into() for stage in stages]
    for run, part in zip(runs, parts, strict=True):
        run.give(part)
    _move([o for run in runs for o in run.owners], whole.owners)
    return whole.take()


def apart(query: Query, stages: Sequence[Query], values: State) -> tuple[State, ...]:
    """Return the state of each stage of a chain, given that of the chain."""
    whole, runs = query.into(), [stage.into() for stage in stages]
    whole.give(values)
    _move(whole.owners, [o for run in runs for o in run.owners])
    return tuple(run.take() for run in runs)


def _places(run: Run) -> tuple[list[Owners], list[tuple[Any, Run]]]:
    """Return what holds the state at home, in order, and the processors whose query is elsewhere.

    For each of these there is a run of its query, to put the state in.
    """
    places: list[Owners] = []
    away = []
    for node, join in run.owners:
        inner = node.elsewhere()
        if inner is None:
            places.append((node, join))
        else:
            away.append((node, inner.into()))
            places += away[-1][1].owners
    return places, away


def _move(sources: list[Owners], targets: list[Owners]) -> None:
    for source, target in zip(sources, targets, strict=True):
        for a, b in zip(source, target, strict=True):
            for f in fields(a) if a is not None else ():
                if is_state(f):
                    setattr(b, f.name, getattr(a, f.name))
