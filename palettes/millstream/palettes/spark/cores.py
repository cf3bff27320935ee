"""The part of a query that carries state from event to event, if stretches of a trace can be summed up.

A query qualifies if it is a chain of processors without state and one *core*: a monitor with a finite
automaton, a machine whose guards are values, or an associative fold. A stretch of the trace then has a
summary (what it does to every state, or its own fold), summaries are put together in order, and with the
state before a stretch its outputs can be computed without the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from attrs import field, frozen

from millstream.palettes.fsm import MooreMachine
from millstream.palettes.fsm.transitions import OTHERWISE
from millstream.palettes.ltl import Monitor
from millstream.palettes.windows.monoid import is_associative
from millstream.processors import (
    MISSING,
    Count,
    Cumulate,
    Graph,
    Inline,
    ParameterError,
    Processor,
    Query,
    QueryError,
    Router,
    Uniform,
    as_function,
    processor,
    state,
)
from millstream.processors.graph import flatten
from millstream.processors.processor import fields, instance, is_state, overrides

from .walking import Walker

#: functions whose result does not depend on the grouping only as long as there are no floats
INEXACT = ("add", "mul", "+", "*")


class NoCore(Exception):
    """A query for which stretches of a trace cannot be summed up; says why."""


@frozen(eq=False)
class Numbering:
    """The numbers of letters: a monitor's valuation, a machine's guards, or the events themselves."""

    monitor: Monitor | None = None
    guards: tuple[Any, ...] | None = None

    @property
    def is_identity(self) -> bool:
        """Whether events are letters already."""
        return self.monitor is None and self.guards is None

    def function(self) -> Callable[[Any], int]:
        """Return the function from events to letters."""
        if self.monitor is not None:
            return instance(self.monitor).valuation  # type: ignore[attr-defined,no-any-return]
        if self.guards is None:
            return int
        numbers, other = {guard: k for k, guard in enumerate(self.guards)}, len(self.guards)
        return lambda event: numbers.get(event, other)


@processor
class Walk(Uniform):
    """Follow an automaton, and give what it says in the state reached.

    >>> list(Walk([[0, 1], [1, 1]], ("open", "closed"))([0, 1, 0]))
    ['open', 'closed', 'closed']
    """

    table: Any
    says: tuple[Any, ...]
    numbering: Numbering = field(factory=Numbering)
    now: int = state(0)

    def __repr__(self) -> str:
        return f"Walk({len(self.table)} states)"

    def step(self, event: Any) -> Any:
        """Take the transition of an event."""
        self.now = self.table[self.now][self.numbering.function()(event)]
        return self.says[self.now]

    def inline(self) -> Inline:
        """Return the look-up as one assignment."""
        letter = "{0}" if self.numbering.is_identity else "{letter}({0})"
        return Inline(
            do=("{me}.now = {y0} = {table}[{me}.now][" + letter + "]",),
            out=("{says}[{y0}]",),
            names={"table": self.table, "says": self.says, "letter": self.numbering.function()},
        )


@frozen
class TableCore:
    """An automaton; a summary is a map from states to states."""

    table: tuple[tuple[int, ...], ...]
    #: what is said in each state
    says: tuple[Any, ...]
    numbering: Numbering
    start: int = 0
    #: the state in which the query fails, if there is one: there the machine itself must speak
    stuck: int | None = None
    machine: MooreMachine | None = None

    def node(self) -> Processor:
        """Return the processor that stands for the core."""
        return Walk(self.table, self.says, self.numbering) if self.machine is None else self.machine

    def identity(self) -> tuple[int, ...]:
        """Return the summary of nothing."""
        return tuple(range(len(self.table)))

    def summary(self, events: list[Any]) -> tuple[int, ...]:
        """Return what a stretch of events does."""
        letters = np.fromiter(map(self.numbering.function(), events), dtype=np.int64, count=len(events))
        return Walker(self.table).summary(letters)

    def then(self, first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
        """Return the summary of two neighbouring stretches."""
        return tuple(second[s] for s in first)

    def after(self, before: int, summary: tuple[int, ...]) -> int:
        """Return the state after a stretch."""
        return summary[before]

    def said(self, now: int) -> Any:
        """Return the output in a state."""
        return self.says[now]

    def put(self, node: Any, now: int) -> None:
        """Give a running core its state."""
        if self.machine is None:
            node.now = now
        elif now != self.stuck:
            node.at = self.machine.states[now]


@frozen
class FoldCore:
    """An associative fold; a summary is the fold of a stretch, MISSING for nothing."""

    template: Processor
    function: Any
    start: Any
    #: the name of the state field
    slot: str
    stuck: None = None

    def node(self) -> Processor:
        """Return the processor itself."""
        return self.template

    def identity(self) -> Any:
        """Return the summary of nothing."""
        return MISSING

    def summary(self, events: list[Any]) -> Any:
        """Return the fold of a stretch of events."""
        if self.slot == "seen":
            return len(events) or MISSING
        rounds = self._rounds()
        if any(isinstance(e, float | complex) and (rounds or e != e) for e in events):
            raise NoCore("sums and products of floats, and what is no number, depend on where a trace is cut")
        return reduce(as_function(self.function), events) if events else MISSING

    def _rounds(self) -> bool:
        name = getattr(self.function, "__name__", None) or getattr(self.function, "_operator", "")
        return name in INEXACT or self.function is None

    def then(self, first: Any, second: Any) -> Any:
        """Return the summary of two neighbouring stretches."""
        if first is MISSING or second is MISSING:
            return second if first is MISSING else first
        return as_function(self.function)(first, second)

    def after(self, before: Any, summary: Any) -> Any:
        """Return the value after a stretch."""
        return self.then(before, summary)

    def said(self, now: Any) -> Any:
        """Return the output, which is the value."""
        return now

    def put(self, node: Any, now: Any) -> None:
        """Give a running core its value."""
        setattr(node, self.slot, now)


Core = TableCore | FoldCore


def core_of(node: Processor) -> Core:
    """Return the core that a processor is; raise `NoCore` if it is none.

    >>> core_of(Monitor("G a")).says
    (UNKNOWN, FALSE)
    """
    if type(node) is Walk:
        return TableCore(node.table, node.says, node.numbering)
    if type(node) is Monitor:
        return _monitor_core(node)
    if type(node) is MooreMachine:
        return _machine_core(node)
    if type(node) is Count:
        return FoldCore(node, _plus, 0, "seen")
    if type(node) is Cumulate and is_associative(node.function):
        return FoldCore(node, node.function, node.start, "value")
    raise NoCore(f"{node!r} keeps a state that cannot be summed up for a stretch of events")


def _plus(a: int, b: int) -> int:
    return a + b


def _monitor_core(node: Monitor) -> TableCore:
    try:
        automaton = node.automaton()
    except ParameterError as error:
        raise NoCore(str(error)) from error
    if node.explain:
        raise NoCore("explanations need all events")
    return TableCore(automaton.table, automaton.verdicts, Numbering(monitor=node))


def _machine_core(node: MooreMachine) -> TableCore:
    try:
        table = node.table()
    except QueryError as error:
        raise NoCore(str(error)) from error
    symbols = dict(zip(node.states, node.states, strict=True)) if node.symbols is None else dict(node.symbols)
    if not table.finite or any(s not in symbols for s in node.states):
        raise NoCore(f"{node!r} has guards that are no values, or states without a symbol")
    try:
        guards = tuple(dict.fromkeys(t.guard for t in node.transitions if t.guard is not OTHERWISE))
    except TypeError as error:
        raise NoCore(f"{node!r} has a guard that cannot be looked up: {error}") from error
    maps = [table.map_of(guard) for guard in guards] + [table.map_of(object())]
    rows = tuple(tuple(m[s] for m in maps) for s in range(len(table.states) + 1))
    says = (*(symbols[s] for s in table.states), None)
    return TableCore(rows, says, Numbering(guards=guards), table.start, len(table.states), node)


@frozen
class Chain:
    """A query as stateless processors, the core, and stateless processors."""

    before: tuple[Processor, ...]
    core: Core
    after: tuple[Processor, ...]

    def query(self) -> Graph:
        """Return the query again, with the processor that stands for the core."""
        from millstream.processors import chain

        return chain([*self.before, self.core.node(), *self.after])


def as_chain(query: Query) -> Chain:
    """Cut a query at its core; raise `NoCore` if it has none or several.

    >>> from operator import add
    >>> from millstream.processors import Apply, E
    >>> as_chain(Apply(E.n) | Cumulate(add) | Apply(str)).after
    (Apply(str),)
    """
    graph, _ = flatten(query.graph)
    nodes, steps = graph.nodes, [(e.source, e.target) for e in graph.edges]
    if steps != [((k, 0), (k + 1, 0)) for k in range(len(nodes) - 1)] or any(e.initial for e in graph.edges):
        raise NoCore("it is not a chain of processors")
    stateful = [k for k, node in enumerate(nodes) if not _is_stateless(node)]
    if len(stateful) != 1:
        raise NoCore("it has several processors with a state" if stateful else "it has no state at all")
    at = stateful[0]
    return Chain(nodes[:at], core_of(nodes[at]), nodes[at + 1 :])


def _is_stateless(node: Processor) -> bool:
    plain = not any(is_state(a) for a in fields(node)) and not overrides(node, "end")
    return plain and not isinstance(node, Router) and node.arity == (1, 1)
