"""columnar: a query whose events are rows, as a processor whose events are record batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

from attrs import field

from millstream.palettes.ltl.verdicts import rebuilt
from millstream.processors import (
    Graph,
    Query,
    Router,
    Run,
    Saved,
    as_query,
    configuration,
    processor,
    state,
    transient,
)
from millstream.processors.errors import shorten
from millstream.processors.query import OnError
from millstream.processors.sinks import as_sink
from millstream.processors.wiring import Options

from .batches import BadBatch, BatchError, Outlet, as_batches, as_frame
from .column import Unfit
from .explaining import Explanation
from .frame import of_batch
from .program import Carry, Program


@processor
class Columnar(Router):
    """Run a query over record batches; made by `columnar`."""

    icon: ClassVar[str] = "▤"
    query: Query = field(converter=lambda query: as_query(query).graph)
    mixed: bool = False
    #: what happens to an event that a processor fails on, as in `Query.into`
    failing: Any = field(default="raise", alias="on_error")
    program: Program = transient()
    #: the graph of this processor alone: made once, since the engines keep their plans with it
    single: Graph | None = transient()
    outlets: list[Outlet] = transient()
    #: the schema of each input, and what it says about the events
    schemas: dict[int, Any] = transient()
    #: the batches that had to be run event by event, and why: reason -> how many
    unfit: dict[str, int] = transient()
    #: whether batches are pulled; a failure then waits until what came before it has been read
    pulling: bool = transient()
    failure: Exception | None = transient()
    carry: Carry = state(of=lambda self: self.compiled().fresh())

    def __attrs_post_init__(self) -> None:
        self.compiled()

    def compiled(self) -> Program:
        """Return the query as kernels."""
        if self.program is None:
            self.program = Program(self.query, self.mixed, self.failing)
        return self.program

    @property
    def arity(self) -> tuple[int, int]:
        """Return the arity of the query."""
        return self.query.arity

    @property
    def graph(self) -> Graph:
        """Return the graph of this processor alone; a state of the query is one of it."""
        if self.single is None:
            self.single = super().graph
            self.single.plans["fingerprint"] = self.query.graph.fingerprint
        return self.single

    def __reduce__(self) -> Any:
        return rebuilt, (type(self), configuration(self))

    def prepare(self) -> None:
        """Forget the schemas of another trace."""
        self.schemas, self.unfit = {}, {}
        self.outlets = [Outlet() for _ in range(self.arity[1])]

    def receive(self, port: int, event: Any) -> None:
        """Take a batch of one input."""
        try:
            frame = as_frame(event, self.schemas, port)
        except BadBatch as why:
            raise self._bad(f"input {port}", port, why) from None
        position = self.carry.positions[port]
        try:
            outputs = self.program.take(self.carry, port, frame)
        except Unfit as why:
            self._receive_events(port, frame, str(why))
            return
        for k, output in enumerate(outputs):
            if output is not None:
                try:
                    batches = self.outlets[k].batches(output)
                except BadBatch as why:
                    raise self._bad(f"output {k}", port, why, position) from None
                for batch in batches:
                    self.send(k, batch)

    def _bad(self, place: str, port: int, why: BadBatch, position: int | None = None) -> BatchError:
        position = self.carry.positions[port] if position is None else position
        return BatchError(f"columnar({shorten(self.query)})", place, "", position, str(why))

    def _receive_events(self, port: int, frame: Any, why: str) -> None:
        self.unfit[why] = self.unfit.get(why, 0) + 1
        self._learn(port, frame)
        outputs, failure = self.program.take_events(self.carry, port, frame.events())
        self._give_events(outputs)
        if failure is not None:
            self.failure = failure
            if not self.pulling:
                raise failure

    def _learn(self, port: int, frame: Any) -> None:
        """Let the outlets know the types of what comes out, from a batch without rows."""
        if any(outlet.schema is None for outlet in self.outlets):
            try:
                empty = self.program.take(self.carry.__copy__(), port, frame.slice(0, 0))
            except Unfit:
                return
            for outlet, output in zip(self.outlets, empty, strict=True):
                if output is not None:
                    outlet.learn(output)

    def _give_events(self, outputs: list[list[Any]]) -> None:
        for k, events in enumerate(outputs):
            try:
                batches = self.outlets[k].of_events(events)
            except BadBatch as why:
                raise self._bad(f"output {k}", 0, why) from None
            for batch in batches:
                self.send(k, batch)

    def end(self) -> None:
        """Come to the end of the trace."""
        if self.program.layout.ends:
            self._give_events(self.program.end(self.carry))

    def order(self, inputs: Sequence[Iterator[Any]]) -> Iterator[tuple[int, Any]]:
        """Yield the batches of the input that is furthest behind, until nothing can come out any more."""
        left = dict(enumerate(map(as_batches, inputs)))
        self.pulling = True
        while left and not self.program.spent(self.carry):
            if self.failure is not None:
                raise self.failure
            port = min(left, key=self.carry.positions.__getitem__) if len(left) > 1 else next(iter(left))
            batch = next(left[port], None)
            if batch is None:
                del left[port]
            else:
                yield port, batch
        if self.failure is not None:
            raise self.failure

    def explain(self) -> Explanation:
        """Return which part of the query runs how, and why; prints as a table."""
        return Explanation.of(self.compiled())

    def into(self, *sinks: Any, explain: bool | int = False, **options: Any) -> Any:
        """Push: return a run that takes record batches; its saved states are those of the query itself.

        With `explain` it is an ordinary run whose events are batches: it tells where each batch comes from.
        """
        if explain:
            return Router.into(self, *sinks, explain=explain, **options)
        return ColumnarRun(self.graph, sinks, Options(**options))

    def into_rows(self, *sinks: Any, **options: Any) -> ColumnarRun:
        """Push: return a run that takes record batches and gives outputs to the sinks one by one."""
        return ColumnarRun(self.graph, tuple(map(_row_sink, sinks)), Options(**options))


def _row_sink(sink: Any) -> Any:
    give = as_sink(sink)

    def take(batch: Any) -> None:
        for event in of_batch(batch).events():
            give(event)

    return take


class ColumnarRun(Run):
    """A run over batches, whose saved states are interchangeable with those of the event by event run."""

    __slots__ = ()

    @property
    def _columnar(self) -> Columnar:
        found = self.processors[0]
        assert isinstance(found, Columnar)
        return found

    @property
    def positions(self) -> tuple[int, ...]:
        """Return how many events, which are rows, each input has taken."""
        return self._columnar.carry.positions

    @staticmethod
    def after(source: Any, position: int) -> tuple[Iterator[Any], int]:
        """Return the batches of a source without its first events, and how many these were."""
        left, batches = position, as_batches(source)
        for batch in batches:
            if batch.num_rows > left:
                return chain([batch.slice(left)], batches), position
            left -= batch.num_rows
        return iter(()), position - left

    @property
    def unfit(self) -> dict[str, int]:
        """Return why batches had to be run event by event, and how many."""
        return dict(self._columnar.unfit)

    def save(self) -> Saved:
        """Return the state as the event by event run of the same query would save it."""
        outer = super().save()
        return self._columnar.program.saved(outer.values[0], outer.ended)

    def load(self, saved: Saved) -> None:
        """Continue where a columnar or an event by event run of the same query was saved."""
        program = self._columnar.program
        program.run.load(saved)
        values = program.run.take()
        outer = Saved(
            self._graph.fingerprint,
            (0,) * len(saved.positions),
            saved.ended,
            (program.entered(values, saved.positions),),
        )
        super().load(outer)


def columnar(query: Any, mixed: bool = False, on_error: OnError = "raise") -> Columnar:
    """Return a query that does the same on record batches as the given one does on their rows.

    Parameters
    ----------
    query
        A query of expressions and processors with a columnar form; see `Columnar.explain`.
    mixed
        Whether parts without a columnar form may run event by event between conversions.
    on_error
        What happens to an event that a processor fails on, as in `Query.into`.

    Examples
    --------
    >>> from operator import add
    >>> import pyarrow as pa
    >>> from millstream.processors import Apply, Cumulate, E, Filter
    >>> total = columnar(Filter(E.kind == "temp") | Apply(E.celsius) | Cumulate(add))
    >>> readings = pa.record_batch({"kind": ["temp", "wind", "temp"], "celsius": [20, 3, 22]})
    >>> [batch.to_pydict() for batch in total([readings, readings.slice(0, 1)])]
    [{'value': [20, 42]}, {'value': [62]}]
    """
    return Columnar(query, mixed, on_error=on_error)
