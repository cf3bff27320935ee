"""`Query`: what processors, composed graphs and groups have in common: they can be run and composed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .errors import QueryError, shorten
from .expressions import Expression

if TYPE_CHECKING:
    from .drawing import Drawing
    from .graph import Graph, Port
    from .memory import Memory
    from .push import Run

OnError = str | Callable[[Any], Any] | list[Any]


class Query:
    """A description of a computation on event streams: run it by calling it (pull) or with `into` (push)."""

    __slots__ = ()

    @property
    def graph(self) -> Graph:
        """Return the query as nodes and edges."""
        raise TypeError(f"{type(self).__name__} has no graph")

    @property
    def arity(self) -> tuple[int, int]:
        """Return the number of inputs and outputs."""
        graph = self.graph
        return len(graph.entries), len(graph.exits)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return the input ports, to be wired with `connect`."""
        from .graph import Port

        return tuple(Port(self, "inputs", i) for i in range(self.arity[0]))

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return the output ports, to be wired with `connect`."""
        from .graph import Port

        return tuple(Port(self, "outputs", i) for i in range(self.arity[1]))

    def __call__(
        self, *sources: Iterable[Any], on_error: OnError = "raise", capacity: int | None = None
    ) -> Any:
        """Pull: return an iterator over the outputs for given input iterables.

        Parameters
        ----------
        sources
            One iterable for each input.
        on_error
            ``"raise"``, ``"skip"``, or a sink (a list or a callable) that gets a `DeadLetter` for each
            failure.
        capacity
            How many events a fork may hold back for its slower branch; more raises `BufferFullError`.

        Returns
        -------
        An iterator; for a query with several outputs, a tuple of iterators.
        """
        from .pull import pull

        streams = pull(self.graph, sources, on_error, capacity)
        return streams[0] if len(streams) == 1 else tuple(streams)

    def into(
        self,
        *sinks: Any,
        on_error: OnError = "raise",
        counting: bool = False,
        capacity: int | None = None,
        full: str = "error",
        explain: bool | int = False,
    ) -> Run:
        """Push: return a run that takes events one at a time and gives outputs to the sinks.

        Parameters
        ----------
        sinks
            One for each output: a callable, a list, a queue, or a text file. None at all discards the
            outputs.
        on_error
            ``"raise"``, ``"skip"``, or a sink that gets a `DeadLetter` for each failure.
        counting
            Whether `Run.statistics` tells the events in and out of each processor.
        capacity
            How many events a join may hold; unbounded if None.
        full
            What happens to an event for a full join: ``"error"``, ``"drop_newest"`` or ``"drop_oldest"``.
        explain
            Whether the run can be asked where an output comes from: ``run.explain(number)``. It is slower
            then. A number says how many outputs are remembered, and how many events for each (1000 if True).
        """
        from .push import Run
        from .wiring import Options

        options = Options(on_error, counting, capacity, full)
        if not explain:
            return Run(self.graph, sinks, options)
        from .explaining import LIMIT, ExplainedRun

        return ExplainedRun(self.graph, sinks, options, LIMIT if explain is True else explain)

    def draw(self) -> Drawing:
        """Return a picture of the query: Mermaid, Graphviz and SVG text."""
        from .drawing import Drawing

        return Drawing(self.graph)

    def memory(self) -> Memory:
        """Return which processors have state that can grow without bound, by what, and how to bound it."""
        from .memory import memory_of

        return memory_of(self)

    def _repr_svg_(self) -> str:
        return self.draw().svg

    def __or__(self, other: Any) -> Graph:
        from .graph import pipe

        return pipe(self, as_query(other))

    def __ror__(self, other: Any) -> Any:
        if isinstance(other, Expression) or callable(other):
            return as_query(other) | self
        if isinstance(other, Iterable):
            return self(other)
        return NotImplemented

    def __and__(self, other: Any) -> Graph:
        from .graph import beside

        return beside(self, as_query(other))

    def __rand__(self, other: Any) -> Graph:
        return as_query(other) & self

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"{shorten(self)} is a query, not a stream: call it on its input, as in query(events)"
        )


def as_query(value: Any) -> Query:
    """Return a query for a query, a function or an expression.

    >>> as_query(str.upper)
    Apply(upper)
    """
    if isinstance(value, Query):
        return value
    if isinstance(value, Expression) or callable(value):
        from .apply import Apply

        return Apply(value)
    raise QueryError(f"expected a query, a function or an expression, got {shorten(value)}")
