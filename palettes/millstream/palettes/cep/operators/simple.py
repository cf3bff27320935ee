"""Collectors and selectors: they pass occurrences on, and compose nothing."""

from __future__ import annotations

from collections import deque
from typing import Any

from millstream.processors import as_function

from ..expressions import On, Only
from ..forest import Node
from ..occurrence import Entry, Occurrence
from .base import Context, Feed, Memory, Operator


def either(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of OR."""
    return Operator((send,) * len(node.operands))


def first(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of FIRST."""
    slot = context.slot(lambda: [False])

    def receive(memory: Memory, a: Entry) -> None:
        if not memory[slot][0]:
            memory[slot][0] = True
            send(memory, a)

    return Operator((receive,))


def last(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of LAST, which blocks until the end of the trace."""
    slot = context.slot(lambda: deque(maxlen=1))

    def receive(memory: Memory, a: Entry) -> None:
        memory[slot].append(a)

    def finish(memory: Memory) -> None:
        while memory[slot]:
            send(memory, memory[slot].popleft())

    return Operator((receive,), finish=finish)


def only(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of a condition on single occurrences."""
    event = node.event
    assert isinstance(event, Only)
    window, name = event.window, event.name
    test = None if event.condition is None else as_function(event.condition)

    def receive(memory: Memory, a: Entry) -> None:
        if window is not None and a[0] - a[1] > window:
            return
        if test is None or test(a[2]):
            send(memory, a if name is None else renamed(a, name))

    return Operator((receive,))


def leaf(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of a predicate, where it is asked like an operator."""
    event = node.event
    assert isinstance(event, On)
    test = as_function(event.what)

    def receive(memory: Memory, a: Entry) -> None:
        if test(a[2]):
            send(memory, a)

    return Operator((receive,))


def renamed(entry: Entry, name: str) -> Entry:
    """Return an entry whose occurrence has another kind; an ordinary event becomes its only constituent."""
    time, start, item = entry
    if isinstance(item, Occurrence):
        return time, start, item._replace(kind=name)
    return time, start, Occurrence(name, time, constituents=(item,), start=start)


def outcome(entry: Entry, kind: Any) -> Occurrence:
    """Return what a detector gives for an entry: an occurrence, also of an ordinary event."""
    item = entry[2]
    if isinstance(item, Occurrence):
        return item
    return Occurrence(kind(item), entry[0], constituents=(item,), start=entry[1])
