"""Running a query on given traces, in push and in pull; what the checks of this package share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..push import Run
from ..query import Query

#: (port, event), in the order of arrival
Trace = list[tuple[int, Any]]


def pushed(
    query: Query, inputs: Sequence[list[Any]], order: Trace | None = None, **options: Any
) -> list[list[Any]]:
    """Return the outputs of a push run, a list for each output, given the inputs in turn or in an order."""
    outs: list[list[Any]] = [[] for _ in range(query.arity[1])]
    run = query.into(*outs, **options)
    give(run, in_turn(inputs) if order is None else order)
    run.end()
    return outs


def pulled(query: Query, inputs: Sequence[list[Any]]) -> list[list[Any]]:
    """Return the outputs of the query in pull."""
    streams = query(*inputs)
    return [list(s) for s in (streams if query.arity[1] > 1 else (streams,))]


def in_turn(inputs: Sequence[list[Any]]) -> Trace:
    """Return the events of all inputs in the order in which pull reads unsynchronised inputs."""
    longest = max(map(len, inputs), default=0)
    return [
        (port, events[k]) for k in range(longest) for port, events in enumerate(inputs) if k < len(events)
    ]


def give(run: Run, trace: Trace) -> None:
    """Push a trace into a run."""
    for port, event in trace:
        if port:
            run.push(event, port)
        else:
            run.push(event)
