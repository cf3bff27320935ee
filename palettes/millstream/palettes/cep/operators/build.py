"""From the nodes of a forest to machines that feed one another.

Two things surround the machines. Where one event can arrive through several operands, it is collected first
and handed on operand by operand (`Meeting`), so that sharing a subexpression never changes an outcome. And
what stands above a LAST keeps everything until the end of the trace, and then takes it in order of time
(`deferred`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import ge, gt, itemgetter
from typing import Any

from attrs import define, field

from ..constructors import AnyOf, Aperiodic, Before, Between, Lacking, Periodic, Plus, Repeated
from ..expressions import Either, Event, First, Last, On, Only
from ..forest import Analysis, Node
from ..occurrence import Entry
from . import ordered, simple, timed, unordered
from .base import Context, Feed, Memory, Operator

Builder = Callable[[Node, Context, Feed], Operator]
BUILDERS: dict[type[Event], Builder] = {
    Before: ordered.before,
    Between: ordered.between,
    AnyOf: unordered.any_of,
    Repeated: unordered.repeated,
    Aperiodic: timed.aperiodic,
    Periodic: timed.periodic,
    Lacking: timed.lacking,
    Plus: timed.plus,
    Either: simple.either,
    First: simple.first,
    Last: simple.last,
    Only: simple.only,
    On: simple.leaf,
}


@define
class Meeting:
    """Entries that one event has brought to a node, until all of them are there."""

    feeds: Sequence[Feed]
    inbox: list[tuple[int, Entry]] = field(factory=list)

    def port(self, port: int) -> Feed:
        """Return what takes the entries of an operand."""
        return lambda memory, entry: self.inbox.append((port, entry))

    def flush(self, memory: Memory) -> None:
        """Hand on what has come, operand by operand."""
        if not self.inbox:
            return
        arrived, self.inbox = sorted(self.inbox, key=itemgetter(0)), []
        for port, entry in arrived:
            self.feeds[port](memory, entry)


@define
class Machines:
    """The machines of a forest, by what they are needed for."""

    #: what takes the entries of each leaf, by index of its node
    leaves: dict[int, Feed] = field(factory=dict)
    timers: list[Operator] = field(factory=list)
    meetings: list[Meeting] = field(factory=list)
    finishers: list[Callable[[Memory], None]] = field(factory=list)
    #: where in the memory that of each operator stands
    slots: dict[int, slice] = field(factory=dict)


def build(analysis: Analysis, context: Context, roots: Sequence[Feed]) -> Machines:
    """Return the machines of a forest that sends what it finds to one function for each root."""
    machines = Machines()
    if len(roots) > 1:
        meeting = Meeting(roots)
        machines.meetings.append(meeting)
        roots = [meeting.port(k) for k in range(len(roots))]
    takers: list[list[Feed]] = [[] for _ in analysis.nodes]
    for root, feed in zip(analysis.roots, roots, strict=True):
        takers[root].append(feed)
    consumers = analysis.consumers()
    feeds: dict[int, Sequence[Feed]] = {}
    for node in reversed(analysis.nodes):
        own = [feeds[n][port] for n, port in consumers[node.index]] + takers[node.index]
        if isinstance(node.event, On):
            machines.leaves[node.index] = together(own)
        else:
            feeds[node.index] = _machine(node, context, together(own), machines)
    machines.timers.reverse()
    machines.meetings.reverse()
    machines.finishers.reverse()
    return machines


def together(feeds: list[Feed]) -> Feed:
    """Return one function for several takers."""
    if len(feeds) == 1:
        return feeds[0]

    def send(memory: Memory, entry: Entry) -> None:
        for feed in feeds:
            feed(memory, entry)

    return send


def _machine(node: Node, context: Context, send: Feed, machines: Machines) -> Sequence[Feed]:
    begin = len(context.fresh) + 1
    operator = BUILDERS[type(node.event)](node, context, send)
    if node.deferred:
        operator = deferred(operator, node, context)
    machines.slots[node.index] = slice(begin, len(context.fresh) + 1)
    if operator.due is not None:
        machines.timers.append(operator)
    if operator.finish is not None:
        machines.finishers.append(operator.finish)
    if node.meets and not node.deferred:
        meeting = Meeting(operator.feeds)
        machines.meetings.append(meeting)
        return [meeting.port(port) for port in range(len(operator.feeds))]
    return operator.feeds


def deferred(operator: Operator, node: Node, context: Context) -> Operator:
    """Return a machine that takes all its entries at the end of the trace, in order of time and operand."""
    slot, keep = context.slot(list), context.keep(node)

    def receive(port: int) -> Feed:
        return lambda memory, entry: keep(memory[slot], (port, entry))

    def finish(memory: Memory) -> None:
        kept, memory[slot] = memory[slot], []
        end = memory[0]
        for port, entry in sorted(kept, key=lambda pair: (pair[1][0], pair[0])):
            run_timers([operator], memory, partial(gt, entry[0]))
            memory[0] = entry[0]
            operator.feeds[port](memory, entry)
        memory[0] = end
        end_timers([operator], memory)
        if operator.finish is not None:
            operator.finish(memory)

    return Operator(tuple(receive(port) for port in range(len(operator.feeds))), finish=finish)


def run_timers(
    timers: Sequence[Operator],
    memory: Memory,
    ripe: Callable[[Any], bool],
    after: Callable[[Memory], None] | None = None,
) -> None:
    """Let everything happen that is due, in order of time, calling `after` behind each point in time."""
    while True:
        pending = [due for t in timers if t.due and (due := t.due(memory)) is not None]
        if not pending or not ripe(now := min(pending)):
            return
        for timer in timers:
            while timer.due is not None and timer.due(memory) == now:
                timer.fire(memory)
        if after is not None:
            after(memory)


def end_timers(
    timers: Sequence[Operator], memory: Memory, after: Callable[[Memory], None] | None = None
) -> None:
    """Let happen what is due at the end of the trace: until the last event, and open absences beyond it."""
    end = memory[0]
    run_timers(timers, memory, partial(ge, end), after)
    run_timers([t for t in timers if t.beyond], memory, lambda due: True, after)
