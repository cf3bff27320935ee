"""Forests: one or several event expressions, analysed before anything runs.

Equal subexpressions become one node, so that they are computed once; a name of the forest used as a type is
an edge to that root. The nodes come out in an order in which operands stand before operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field, frozen

from millstream.processors.errors import ParameterError, shorten

from .constructors import AnyOf
from .expressions import Constructor, Either, Event, Last, On, Only, Timed, as_event
from .modes import Mode

#: stands for time among the sources of an expression
TIME = -1


@frozen
class Node:
    """An expression of the forest with its operands as indices, and what the analysis found out about it."""

    index: int
    event: Event
    operands: tuple[int, ...]
    mode: Mode
    #: the leaves below by index, and `TIME`: what can make it occur
    sources: frozenset[int]
    #: whether one event can reach it through several operands, whose order then has to be kept
    meets: bool
    #: whether it waits for the end of the trace, because a `last` stands below
    deferred: bool


@frozen(repr=False)
class Forest:
    """Event expressions by name, or a single one without a name."""

    roots: tuple[tuple[str | None, Event], ...]
    #: whether the user has been warned about it
    announced: bool = field(default=False, eq=False)

    @staticmethod
    def of(value: Any) -> Forest:
        """Return a forest for an expression, a mapping of expressions by name, or a forest."""
        if isinstance(value, Forest):
            return value
        if isinstance(value, Mapping):
            if not value:
                raise ParameterError("Detector: expected at least one expression, got none")
            return Forest(tuple((str(name), as_event(e, "Detector")) for name, e in value.items()))
        return Forest(((None, as_event(value, "Detector")),))

    @property
    def names(self) -> dict[str, Event]:
        """Return the named expressions."""
        return {name: event for name, event in self.roots if name is not None}

    def __repr__(self) -> str:
        names = self.names
        return repr(names) if names else repr(self.roots[0][1])


@define
class Analysis:
    """The nodes of a forest."""

    forest: Forest
    mode: Mode
    kinds: frozenset[str] | None = None
    nodes: list[Node] = field(factory=list)
    roots: list[int] = field(factory=list)
    _known: dict[Event, int] = field(factory=dict)
    _open: list[str] = field(factory=list)

    @staticmethod
    def of(forest: Forest, mode: Mode, kinds: Iterable[str] | None = None) -> Analysis:
        """Analyse a forest, in which constructors without a mode have the given one."""
        found = Analysis(forest, mode, None if kinds is None else frozenset(kinds))
        found.roots = [
            found.visit(event) if name is None else found.composite(name) for name, event in forest.roots
        ]
        return found

    def visit(self, event: Event) -> int:
        """Return the index of the node of an expression."""
        if isinstance(event, On) and isinstance(event.what, str) and event.what in self.forest.names:
            return self.composite(event.what)
        if event not in self._known:
            operands = tuple(self.visit(o) for o in event.operands)
            self._check(event)
            self._known[event] = self._add(event, operands)
        return self._known[event]

    def composite(self, name: str) -> int:
        """Return the index of the node of a named expression."""
        if name in self._open:
            circle = " -> ".join([*self._open[self._open.index(name) :], name])
            raise ParameterError(f"Detector: a cycle of composites, {circle}")
        self._open.append(name)
        index = self.visit(Only(self.forest.names[name], name=name))
        self._open.pop()
        return index

    def _check(self, event: Event) -> None:
        if not isinstance(event, On) or self.kinds is None or not isinstance(event.what, str):
            return
        if event.what not in self.kinds:
            known = ", ".join(map(repr, sorted(self.kinds | self.forest.names.keys())))
            raise ParameterError(f"Detector: unknown type {event.what!r}; known are {known}")

    def _add(self, event: Event, operands: tuple[int, ...]) -> int:
        index, below = len(self.nodes), [self.nodes[o] for o in operands]
        own = {index} if isinstance(event, On) else {TIME} if isinstance(event, Timed) else set()
        mode = getattr(event, "mode", None) or self.mode
        self.nodes.append(
            Node(
                index,
                event,
                operands,
                mode,
                frozenset(own.union(*(n.sources for n in below))),
                isinstance(event, AnyOf | Either) and self._can_meet([n.sources for n in below]),
                any(n.deferred or isinstance(n.event, Last) for n in below),
            )
        )
        return index

    def _can_meet(self, operands: list[frozenset[int]]) -> bool:
        """Return whether one event may be of two of these sets of sources."""
        seen: set[int] = set()
        predicate = False
        for sources in operands:
            has = any(self._is_predicate(s) for s in sources)
            if seen & sources or (seen and (predicate or has)):
                return True
            seen |= sources
            predicate = predicate or has
        return False

    def _is_predicate(self, index: int) -> bool:
        event = self.nodes[index].event if index != TIME else None
        return isinstance(event, On) and not isinstance(event.what, str)

    def growing(self) -> list[Event]:
        """Return the constructors whose memory nothing bounds: mode ALL, no window."""
        return [
            n.event
            for n in self.nodes
            if isinstance(n.event, Constructor) and n.mode is Mode.ALL and n.event.window is None
        ]

    def waiting(self) -> list[Event]:
        """Return the constructors in which any number of occurrences may wait: all but RECENT, no window."""
        return [
            n.event
            for n in self.nodes
            if isinstance(n.event, Constructor) and n.mode is not Mode.RECENT and n.event.window is None
        ]

    def consumers(self) -> list[list[tuple[int, int]]]:
        """Return for each node who takes its occurrences, as (node, operand)."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.nodes]
        for node in self.nodes:
            for port, operand in enumerate(node.operands):
                found[operand].append((node.index, port))
        return found


def describe_all(events: Iterable[Event]) -> str:
    """Return a short list of expressions for a message."""
    return ", ".join(shorten(e, 60) for e in events)
