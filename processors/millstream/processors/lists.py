"""Processors between events and lists of events, and those that find events inside larger ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from attrs import field

from .apply import Apply
from .compiling import as_function
from .errors import fail_parameter
from .expressions import Expression
from .graph import Graph, Group, flatten
from .lineage import OnValue, Parts, TracedList, Tracker
from .memory import Growth
from .processor import MISSING, Processor, processor, state, transient
from .push import Run
from .query import Query, as_query


def host(owner: Processor, inner: Query, sink: Any) -> Run:
    """Return a run, to live inside a processor, of a query with one input and one output."""
    if inner.arity != (1, 1):
        fail_parameter(owner, "inner", "a query with one input and one output", inner)
    return inner.into(sink)


def spread(inner: Query, make: Callable[[Query], Query]) -> Query | None:
    """Return a host of copies of a query with its copies spread, if something in the query can do that.

    A hook for processors that host many copies of a query. `make` gives the host of a plain query. It has, or
    consists of one processor that has, ``shares(count)``: processors which have a part of the copies each and
    read the same events; and ``merged(parts)``: the outputs for an event, of which each share has given some.

    >>> spread(Apply(abs), Pack) is None
    True
    """
    graph, _ = flatten(inner.graph)
    able: dict[int, Any] = {k: node for k, node in enumerate(graph.nodes) if hasattr(node, "spread")}
    if not able:
        return None
    nodes = tuple(Group(able[k].inner) if k in able else node for k, node in enumerate(graph.nodes))
    plain = Graph(nodes, graph.edges, graph.entries, graph.exits)
    found: Query | None = min(able.items())[1].spread(make(plain))
    return found


@processor
class Pack(Processor):
    """Collect events into lists; a true condition begins the next list, the end of the trace gives the last.

    Parameters
    ----------
    when
        A function or expression of the event. Without it the processor has two inputs: events, and truth
        values.

    Examples
    --------
    >>> from millstream.processors import X
    >>> list(Pack(X == "a")("abcad"))
    [['a', 'b', 'c'], ['a', 'd']]
    """

    icon: ClassVar[str] = "≡"
    when: Any = None
    test: Callable[[Any], Any] = transient()
    held: list[Any] = state(of=lambda self: [])

    def __attrs_post_init__(self) -> None:
        if self.when is not None and not (isinstance(self.when, Expression) or callable(self.when)):
            fail_parameter(self, "when", "a function or an expression of X, E", self.when)

    def prepare(self) -> None:
        """Compile the condition."""
        self.test = bool if self.when is None else as_function(self.when)

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input, or two if there is no condition."""
        return (2 if self.when is None else 1), 1

    def step(self, x: Any, *release: Any) -> None:
        """Add the event to the list, after giving the list away if a new one begins."""
        if self.test(release[0] if release else x):
            self.end()
        self.held.append(x)

    def end(self) -> None:
        """Emit the list unless it is empty."""
        if self.held:
            held, self.held = self.held, []
            self.emit(held)

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the events in the list."""
        return Parts(limit)

    def explained(self, limit: int) -> Processor | None:
        """Return lists of traced events, if a condition of the event begins them."""
        if self.when is None:
            return None
        return Group(Pack(OnValue(as_function(self.when))) | Apply(TracedList(limit)))

    def growth(self) -> Growth:
        """Return how the list grows."""
        return Growth("the events of the list under way", "a condition that comes true often enough")


@processor
class Unpack(Processor):
    """Give the elements of each event one by one.

    >>> list(Unpack()([[1, 2], [], [3]]))
    [1, 2, 3]
    """

    icon: ClassVar[str] = "…"

    def step(self, x: Any) -> None:
        """Emit each element."""
        for element in x:
            self.emit(element)


@processor
class RunOn(Processor):
    """Run a query on the elements of each event, and give its last output.

    >>> from millstream.processors import Cumulate
    >>> list(RunOn(Cumulate(max))([[0, 6, 0], [100, -1, 3, 72]]))
    [6, 100]
    """

    inner: Query = field(converter=as_query)
    run: Run = transient()
    last: list[Any] = transient()

    def __attrs_post_init__(self) -> None:
        host(self, self.inner, [])

    def prepare(self) -> None:
        """Wire the inner query."""
        self.last = []
        self.run = host(self, self.inner, self.last)

    def step(self, x: Any) -> None:
        """Run a fresh copy of the inner query to its end."""
        run, last = self.run, self.last
        last.clear()
        run.give(run.fresh())
        for element in x:
            run.entry(element)
        run.finish()
        if last:
            self.emit(last[-1])


@processor
class ResetLast(Processor):
    """Run a query, begin it anew when a second input is true, and give its last output before that.

    The last output at the end of the trace comes out as well.

    >>> from operator import add
    >>> from millstream.processors import Cumulate
    >>> list(ResetLast(Cumulate(add))([1, 2, 3, 4], [False, False, True, False]))
    [3, 7]
    """

    ins: ClassVar[int] = 2
    icon: ClassVar[str] = "↺"
    inner: Query = field(converter=as_query)
    run: Run = transient()
    #: state of the inner query, None before its first event
    current: tuple[Any, ...] | None = state(None)
    last: Any = state(MISSING)

    def __attrs_post_init__(self) -> None:
        host(self, self.inner, [])

    def prepare(self) -> None:
        """Wire the inner query."""
        self.run = host(self, self.inner, self.keep)

    def keep(self, y: Any) -> None:
        """Remember the inner query's last output."""
        self.last = y

    def step(self, x: Any, reset: Any) -> None:
        """Give the event to the inner query, which begins anew if it is reset."""
        if reset:
            self.end()
        self.run.give(self.run.fresh() if self.current is None else self.current)
        self.run.entry(x)
        self.current = self.run.take()

    def end(self) -> None:
        """End the inner query and emit its last output."""
        if self.current is not None:
            self.run.give(self.current)
            self.run.finish()
            self.current = None
        if self.last is not MISSING:
            last, self.last = self.last, MISSING
            self.emit(last)


@processor
class FindPattern(Processor):
    """Find the matches of a regular expression in a stream of strings, across the borders of events.

    A match gives its first group, or the whole of it if there are no groups; the text up to its end is used
    up.

    Parameters
    ----------
    pattern
        A regular expression, as text or compiled.
    limit
        How much unmatched text may wait; more is an error, since nothing tells that a match will ever come.

    Examples
    --------
    >>> list(FindPattern("(.*?),")(["abc,d", "e,fgh,"]))
    ['abc', 'de', 'fgh']
    """

    pattern: re.Pattern[str] = field(converter=re.compile)
    limit: int = 1 << 20
    text: str = state("")

    def step(self, x: str) -> None:
        """Add to the text and emit its matches."""
        text, start = self.text + x, 0
        for match in self.pattern.finditer(text):
            self.emit(match[1] if self.pattern.groups else match[0])
            start = match.end()
        self.text = text[start:]
        if len(self.text) > self.limit:
            raise ValueError(
                f"{len(self.text)} characters without a match of {self.pattern.pattern!r}; raise limit"
            )
