"""Vertices of a phased graph: any function or query as a computation from a front of values to a result.

A function takes one value for each input and returns its result, None for nothing. A query takes the same
front as events, one on each input, and its result is the last output that they cause, None if there is none
(for several outputs: a tuple of such). Previous values are not kept here: whoever calls a computation knows
the whole front.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from millstream.processors import MISSING, Query, as_function
from millstream.processors.errors import QueryError, shorten
from millstream.processors.expressions import Expression

Computation = Callable[..., Any]


def _as_input(given: Any) -> tuple[str, int | None]:
    return (given, None) if isinstance(given, str) else (given[0], given[1])


def _as_inputs(given: Any) -> tuple[tuple[str, int | None], ...]:
    return tuple(map(_as_input, given))


@frozen
class Vertex:
    """A named computation, the vertices that it reads, and what it reads before they have sent anything.

    Parameters
    ----------
    name
        How others refer to it.
    what
        A function, an expression, a query, or None for a source whose values come from outside.
    inputs
        Names of vertices; ``(name, k)`` reads only the k-th part of a result.
    initial
        The value of an input that nothing has been sent to so far. Without one, the vertex waits until every
        input has had a value.
    """

    name: str
    what: Any = None
    inputs: tuple[tuple[str, int | None], ...] = field(default=(), converter=_as_inputs)
    initial: Any = MISSING

    def __attrs_post_init__(self) -> None:
        if self.what is None:
            if self.inputs:
                raise QueryError(f"vertex {self.name!r} has inputs but nothing that computes")
        elif isinstance(self.what, Query):
            ins = self.what.arity[0]
            if ins != self.width:
                raise QueryError(
                    f"vertex {self.name!r}: {shorten(self.what)} has {ins} inputs, given {self.width}"
                )
        elif not callable(self.what) and not isinstance(self.what, Expression):
            raise QueryError(f"vertex {self.name!r} is a function or a query, got {shorten(self.what)}")
        elif not _takes(self.what, self.width):
            raise QueryError(f"vertex {self.name!r}: {shorten(self.what)} does not take {self.width} values")

    @property
    def width(self) -> int:
        """Return how many values the computation takes: a source is told the time of the phase."""
        return max(1, len(self.inputs))

    @property
    def has_state(self) -> bool:
        """Return whether a result may depend on earlier fronts; functions are taken at their word."""
        return isinstance(self.what, Query) or (
            self.what is not None and not inspect.isfunction(self.what) and not inspect.isbuiltin(self.what)
        )

    def computation(self) -> Computation:
        """Return a new computation, with a state of its own."""
        return _query(self.what) if isinstance(self.what, Query) else as_function(self.what)


def _takes(function: Any, count: int) -> bool:
    if isinstance(function, Expression):
        return function._arity <= count
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _query(query: Query) -> Computation:
    """Return a query as a function of fronts; it keeps its state from one to the next."""
    outs: list[list[Any]] = [[] for _ in range(query.arity[1])]
    run = query.into(*outs)

    def compute(*front: Any) -> Any:
        for out in outs:
            out.clear()
        for port, value in enumerate(front):
            run.push(value, port) if port else run.push(value)
        last = tuple(out[-1] if out else None for out in outs)
        if len(last) == 1:
            return last[0]
        return None if all(value is None for value in last) else last

    return compute
