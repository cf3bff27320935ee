"""Stations: the operators of a forest, each with a memory of its own; somebody else decides who works.

A detector lets operators call one another. Here each gives back what it has found, as a plain state machine:
the tick simulator and the parallel strategies move entries between stations, each in its own way. Every entry
has a key, (time, number of the event that completed it), which is the order of the sequential execution.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from math import inf
from operator import ge, gt
from typing import Any

from attrs import define, field

from .expressions import Either, First, On, Only
from .forest import Analysis, Node
from .occurrence import EARLIEST, LATEST, Entry
from .operators import Context, Memory, Operator
from .operators.build import BUILDERS, deferred, end_timers, run_timers

Key = tuple[Any, float]
#: an entry with its key; a heartbeat has no entry
Item = tuple[Key, Entry | None]


def heartbeat(time: Any, number: float = inf) -> Item:
    """Return a heartbeat: nothing with a smaller key follows it."""
    return (time, number), None


#: the heartbeat after which nothing follows at all
END: Item = heartbeat(LATEST)


@define
class Station:
    """One operator with its memory: takes an entry of an operand, and returns what that completes."""

    node: Node
    operator: Operator
    memory: Memory
    found: list[Entry]

    @staticmethod
    def of(node: Node, limit: int | None = None, full: str = "error") -> Station:
        """Return the station of a node."""
        context, found = Context(limit, full), list[Entry]()
        operator = BUILDERS[type(node.event)](node, context, lambda memory, entry: found.append(entry))
        if node.deferred:
            operator = deferred(operator, node, context)
        return Station(node, operator, [EARLIEST, *(make() for make in context.fresh)], found)

    @property
    def splits(self) -> bool:
        """Return whether several workers may share the entries: each stores all and combines its own."""
        return bool(self.operator.stores)

    def store(self, port: int, entry: Entry) -> None:
        """Take an entry whose combinations somebody else looks for."""
        self.operator.stores[port](self.memory, entry)

    def feed(self, port: int, entry: Entry, now: Any = LATEST) -> list[Entry]:
        """Take an entry of an operand; what was due before it comes first.

        At the end of the trace an absence may lie beyond the last event, at `now`: time does not pass then.
        """
        if self.operator.due is not None and entry[0] > now and not self.operator.beyond:
            run_timers([self.operator], self.memory, partial(ge, now))
        else:
            self._pass_time(entry[0])
        self.memory[0] = entry[0]
        self.operator.feeds[port](self.memory, entry)
        return self.taken()

    def wait(self, time: Any) -> list[Entry]:
        """Learn that nothing older than a time will come."""
        self._pass_time(time)
        return self.taken()

    def _pass_time(self, time: Any) -> None:
        if self.operator.due is not None:
            run_timers([self.operator], self.memory, partial(gt, time))

    def expire(self, time: Any) -> list[Entry]:
        """Return what is due at the end of a trace whose last event has this time."""
        self.memory[0] = time
        end_timers([self.operator], self.memory)
        return self.taken()

    def finish(self) -> list[Entry]:
        """Return what has waited for the end of the trace."""
        if self.operator.finish is not None:
            self.operator.finish(self.memory)
        return self.taken()

    def taken(self) -> list[Entry]:
        """Return and forget what has been found."""
        found = self.found[:]
        self.found.clear()
        return found


@define
class Merge:
    """Input streams of a station, each in order of keys, merged into one.

    The oldest head may be taken when every stream shows one: nothing older can follow. A stream that is
    silent holds the others up until a heartbeat comes through it; identical heartbeats of all streams become
    one.

    >>> merge = Merge.of(2)
    >>> merge.add(0, ((1, 0), (1, 1, "a")))
    >>> merge.take() is None
    True
    >>> merge.add(1, heartbeat(3))
    >>> merge.take()
    (0, ((1, 0), (1, 1, 'a')))
    """

    streams: list[deque[Item]] = field(factory=list)

    @staticmethod
    def of(ports: int) -> Merge:
        """Return a merge of so many streams."""
        return Merge([deque() for _ in range(ports)])

    def add(self, port: int, item: Item) -> None:
        """Append to a stream."""
        self.streams[port].append(item)

    def take(self) -> tuple[int, Item] | None:
        """Return the next item with its stream, None if that cannot be known yet."""
        if not all(self.streams):
            return None
        port = min(range(len(self.streams)), key=lambda k: self.streams[k][0][0])
        item = self.streams[port].popleft()
        if item[1] is None:
            for stream in self.streams:
                if stream and stream[0] == item:
                    stream.popleft()
        return port, item

    def take_all(self, most: int | None = None) -> list[tuple[int, Item]]:
        """Return the next items with their streams, as many as can be known, at most so many."""
        if len(self.streams) == 1:
            (stream,) = self.streams
            return [(0, stream.popleft()) for _ in range(min(len(stream), most or len(stream)))]
        taken: list[tuple[int, Item]] = []
        while len(taken) != most and (one := self.take()) is not None:
            taken.append(one)
        return taken

    def __len__(self) -> int:
        return sum(map(len, self.streams))


def is_predicate(node: Node) -> bool:
    """Return whether a node is a leaf that asks every event."""
    return isinstance(node.event, On) and not isinstance(node.event.what, str)


def is_stateless(node: Node) -> bool:
    """Return whether the entries of a node do not depend on each other, so that each may be a task."""
    return is_predicate(node) or (isinstance(node.event, Only) and not node.deferred)


def is_light(node: Node) -> bool:
    """Return whether a node only passes entries on: collectors, FIRST and LAST, and names."""
    if isinstance(node.event, Only):
        return node.event.condition is None
    return isinstance(node.event, Either | First)


def stations(analysis: Analysis, limit: int | None = None, full: str = "error") -> dict[int, Station]:
    """Return the stations of all operators and predicates of a forest; a type name needs none."""
    return {n.index: Station.of(n, limit, full) for n in analysis.nodes if n.operands or is_predicate(n)}
