"""Hypothesis strategies for traces and queries. Those for formulas stand with the palettes that read them:
`millstream.palettes.ltl.strategies` and `millstream.palettes.fol.strategies`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, sub
from typing import Any, Final

from hypothesis import strategies as st

from .. import (
    Apply,
    Count,
    Cumulate,
    Decimate,
    Filter,
    Fork,
    Graph,
    Group,
    Insert,
    KeepLast,
    Pack,
    Passthrough,
    Prefix,
    Query,
    Stutter,
    Trim,
    Unpack,
    X,
    connect,
)

#: processors over integers, of all kinds and arities
PROCESSORS: Final[Sequence[Callable[[], Query]]] = (
    lambda: Apply(X + 1),
    lambda: Apply(add),
    lambda: Apply(sub),
    lambda: Apply(lambda x: (x, -x), outs=2),
    lambda: Filter(X % 2 == 0),
    lambda: Filter(),
    lambda: Cumulate(add),
    lambda: Count(),
    lambda: Trim(1),
    lambda: Prefix(3),
    lambda: Decimate(2),
    lambda: Decimate(2, last=True),
    lambda: Insert(7),
    lambda: KeepLast(),
    lambda: Stutter(2),
    lambda: Fork(2),
    lambda: Passthrough(),
    lambda: Pack(X > 3) | Unpack(),
    lambda: Group(Filter(X > 0) | Cumulate(add)),
)


@st.composite
def queries(
    draw: Any, processors: Sequence[Callable[[], Query]] = PROCESSORS, max_size: int = 8, max_inputs: int = 2
) -> Graph:
    """Graphs of processors with any wiring, one or more inputs, and one or two outputs.

    Parameters
    ----------
    processors
        What makes the processors; add your own, or use nothing else.
    max_size, max_inputs
        How many processors and inputs there may be.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(queries(), lambda q: q.arity == (2, 1)).arity
    (2, 1)
    """
    doors = [Passthrough() for _ in range(draw(st.integers(1, max_inputs)))]
    sources = [d.outputs[0] for d in doors]
    wires = []
    for make in draw(st.lists(st.sampled_from(processors), min_size=1, max_size=max_size)):
        query = make()
        wires += [draw(st.sampled_from(sources)) >> port for port in query.inputs]
        sources.extend(query.outputs)
    outputs = draw(st.lists(st.sampled_from(sources), min_size=1, max_size=2))
    return connect(*wires, inputs=[d.inputs[0] for d in doors], outputs=outputs)


def traces(query: Query, *events: st.SearchStrategy[Any], max_size: int = 9) -> st.SearchStrategy[Any]:
    """One trace for each input of a query; a strategy for the events of each input, or one for all.

    >>> from hypothesis import find
    >>> find(traces(Count(), st.integers()), lambda inputs: len(inputs[0]) > 1)
    ([0, 0],)
    """
    each = events * query.arity[0] if len(events) == 1 else events
    return st.tuples(*(st.lists(e, max_size=max_size) for e in each))


@st.composite
def timed_traces(
    draw: Any,
    events: st.SearchStrategy[Any],
    *,
    max_gap: int = 3,
    delay: int = 0,
    max_size: int = 12,
) -> list[tuple[int, Any]]:
    """Traces of pairs ``(time, event)``, in the order of their arrival.

    Parameters
    ----------
    events
        The events.
    max_gap
        The longest time between two events.
    delay
        How long after its time an event may arrive; with 0 they come in order.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(timed_traces(st.just("x"), delay=2), lambda t: t != sorted(t))
    [(1, 'x'), (0, 'x')]
    """
    time, arrivals = 0, []
    for n, event in enumerate(draw(st.lists(events, max_size=max_size))):
        time += draw(st.integers(0, max_gap))
        arrivals.append((time + draw(st.integers(0, delay)), n, (time, event)))
    return [pair for _, _, pair in sorted(arrivals, key=lambda a: a[:2])]
