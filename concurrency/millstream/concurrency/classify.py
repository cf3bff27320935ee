"""What is known about a query's state, from its declarations: how many events an output can depend on."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from millstream.processors import Processor, Query, Router, Run, Uniform
from millstream.processors.graph import flatten
from millstream.processors.processor import fields, inline_form, is_state, overrides


@frozen
class History:
    """How many last events, the present one included, an output depends on; None if that is not known."""

    length: int | None
    reason: str = ""
    #: whether the query itself can tell that its state will not change any more
    adaptive: bool = False

    def is_stateless(self, run: Run, values: Any) -> bool:
        """Ask a query in some state whether it will change any more."""
        if values is None:
            values = run.fresh()
        run.give(values)
        nodes: tuple[Any, ...] = run.processors
        return all(not states(n) or (_tells(n) and n.is_stateless()) for n in nodes)


def _tells(node: Any) -> bool:
    return callable(getattr(node, "is_stateless", None))


def states(node: Processor) -> list[str]:
    """Return the names of the state fields of a processor.

    >>> from operator import add
    >>> from millstream.processors import Apply, Cumulate
    >>> states(Apply(abs)), states(Cumulate(add))
    ([], ['value'])
    """
    return [a.name for a in fields(node) if is_state(a)]


def declared_history(node: Processor) -> int | None:
    """Return the number of events that a processor says it depends on: 1 if it has no state at all."""
    declared = getattr(node, "history", None)
    if isinstance(declared, int) and not isinstance(declared, bool):
        return declared
    if not states(node) and not overrides(node, "end") and not isinstance(node, Router):
        return 1
    kind = f"{type(node).__module__}.{type(node).__qualname__}"
    found: Any = KNOWN[kind](node) if kind in KNOWN else None
    return found if isinstance(found, int) else None


def _sliding(node: Any) -> int | None:
    """A window that moves by one event sees the last ones; until it is full, all there are."""
    return int(node.width) if node.every == 1 and not node.partial else None


def _columnar(node: Any) -> int | None:
    """A query on batches depends on one of them if its rows do not depend on each other."""
    return 1 if bounded_history(node.query).length == 1 else None


#: processors of the palettes whose history is known, by name, so that no palette has to be present
KNOWN = {
    "millstream.palettes.windows.counted.Sliding": _sliding,
    "millstream.palettes.columns.columnar.Columnar": _columnar,
}


def gives_one_for_one(node: Processor) -> bool:
    """Return whether a processor gives exactly one output for each front."""
    form = inline_form(node)
    return isinstance(node, Uniform) or (form is not None and form.when is None)


def bounded_history(query: Query) -> History:
    """Return how many events an output of a query depends on.

    >>> from millstream.processors import Apply, Filter, X
    >>> bounded_history(Apply(abs) | Filter(X > 1)).length
    1
    """
    graph, _ = flatten(query.graph)
    if any(e.initial for e in graph.edges):
        return History(None, "has a cycle, which is a state")
    lengths = [declared_history(node) for node in graph.nodes]
    for node, length in zip(graph.nodes, lengths, strict=True):
        if length is None:
            adaptive = all(
                n is not None or _tells(node) for node, n in zip(graph.nodes, lengths, strict=True)
            )
            return History(None, _why(node), adaptive)
    joins = any(node.arity[0] > 1 for node in graph.nodes)
    if joins and len(query.into().fresh()) > sum(len(states(node)) for node in graph.nodes):
        return History(None, "joins streams of different clocks, whose queues are a state")
    total, regular = 1, True
    for node, length in zip(graph.nodes, lengths, strict=True):
        if length is not None and length > 1 and not regular:
            return History(None, f"has {type(node).__name__} behind a processor that drops or adds events")
        total += (length or 1) - 1
        regular = regular and gives_one_for_one(node)
    return History(total)


def _why(node: Processor) -> str:
    if isinstance(node, Router) and node.arity[0] > 1:
        return f"has {type(node).__name__}, whose outputs depend on the order in which its inputs come"
    names = states(node)
    if not names:
        return f"has {type(node).__name__}, which does something at the end of the trace"
    return f"keeps a state ({', '.join(names)}) that all later outputs may depend on"
