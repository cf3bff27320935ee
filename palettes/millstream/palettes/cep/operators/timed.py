"""Operators that time itself drives: aperiodic intervals, PERIODIC, PLUS and absence after an event.

What is due at a time happens after all events of that time, so that simultaneous events count in whichever
order they arrive.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush
from operator import itemgetter
from typing import Any

from ..constructors import Aperiodic, Lacking, Periodic, Plus
from ..forest import Node
from ..modes import Mode
from ..occurrence import Entry, Occurrence
from .base import Context, Feed, Memory, Operator, Waiting, composer, forget, ignore, kind_of, pair_test
from .selection import OBSERVE, keep_recent


def aperiodic(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of APERIODIC: open beginnings, and ends that take effect when their time is over."""
    event = node.event
    assert isinstance(event, Aperiodic)
    slot = context.slot(lambda: (deque(), deque()))
    window, mode = event.window, node.mode
    keep = keep_recent if mode is Mode.RECENT else context.keep(node)
    compose = composer(kind_of(node))
    fits = pair_test(window, event.condition, lambda a, b: (a[2], b[2]))
    select = OBSERVE[mode]

    def settle(memory: Memory, now: Any) -> Waiting:
        waiting: Waiting
        waiting, ends = memory[slot]
        while ends and ends[0] < now:
            close(waiting, ends.popleft(), mode)
        if window is not None:
            forget(waiting, now, window)
        return waiting

    def begin(memory: Memory, a: Entry) -> None:
        keep(settle(memory, a[0]), a)

    def middle(memory: Memory, b: Entry) -> None:
        for group in select(settle(memory, b[0]), b, fits):
            send(memory, compose(b[0], (*group, b), (*(a[2] for a in group), b[2])))

    def end(memory: Memory, c: Entry) -> None:
        if settle(memory, c[0]):
            memory[slot][1].append(c[0])

    return Operator((begin, middle, end), stores=(begin, ignore, end) if mode is Mode.ALL else ())


def close(waiting: Waiting, time: Any, mode: Mode) -> list[Entry]:
    """Remove what an end closes: all older beginnings, in CHRONICLE one."""
    closed = []
    while waiting and waiting[0][0] < time:
        closed.append(waiting[0])
        del waiting[0]
        if mode is Mode.CHRONICLE:
            break
    return closed


def plus(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of PLUS."""
    event = node.event
    assert isinstance(event, Plus)
    slot, delay = context.slot(deque), event.delay
    keep, compose = context.keep(node), composer(kind_of(node))

    def receive(memory: Memory, a: Entry) -> None:
        keep(memory[slot], a)

    def due(memory: Memory) -> Any:
        return memory[slot][0][0] + delay if memory[slot] else None

    def fire(memory: Memory) -> None:
        a = memory[slot].popleft()
        send(memory, compose(a[0] + delay, (a,), (a[2],)))

    return Operator((receive,), due, fire)


def lacking(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of absence after an event: beginnings that wait for their time to run out."""
    event = node.event
    assert isinstance(event, Lacking)
    slot, duration, mode = context.slot(deque), event.duration, node.mode
    keep, compose = context.keep(node), composer(kind_of(node))

    def begin(memory: Memory, a: Entry) -> None:
        if mode is Mode.RECENT:
            memory[slot].clear()
        keep(memory[slot], a)

    def missing(memory: Memory, b: Entry) -> None:
        close(memory[slot], b[0], mode)

    def due(memory: Memory) -> Any:
        return memory[slot][0][0] + duration if memory[slot] else None

    def fire(memory: Memory) -> None:
        expire(memory, memory[slot][0][0] + duration)

    def expire(memory: Memory, time: Any) -> None:
        waiting = memory[slot]
        group = [waiting.popleft()]
        if mode is Mode.CUMULATIVE:
            group.extend(waiting)
            waiting.clear()
        send(memory, compose(time, group, tuple(a[2] for a in group)))

    def finish(memory: Memory) -> None:
        while memory[slot]:
            expire(memory, memory[0])

    if duration is None:
        return Operator((begin, missing), finish=finish)
    return Operator((begin, missing), due, fire, beyond=True)


def periodic(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of PERIODIC: a heap of (when, number of the beginning, ticks so far, beginning)."""
    event = node.event
    assert isinstance(event, Periodic)
    slot, period, mode = context.slot(lambda: [0, []]), event.period, node.mode
    kind, gathers = kind_of(node), mode is Mode.CUMULATIVE

    def begin(memory: Memory, a: Entry) -> None:
        mine = memory[slot]
        number, heap = mine
        if mode is Mode.RECENT:
            heap.clear()
        if not context.room(node, len(heap)):
            if context.full == "drop_newest":
                return
            shut(heap, min(o[1] for o in heap))
        heappush(heap, (a[0] + period, number, 1, a))
        mine[0] = number + 1

    def end(memory: Memory, c: Entry) -> None:
        heap = memory[slot][1]
        closed = sorted((o for o in heap if o[3][0] < c[0]), key=itemgetter(1))
        for o in closed[:1] if mode is Mode.CHRONICLE else closed:
            shut(heap, o[1])
        ticks = sum(o[2] - 1 for o in closed)
        if gathers and ticks:
            start = min(c[1], *(o[3][1] for o in closed))
            items = (*(o[3][2] for o in closed), c[2])
            send(memory, (c[0], start, Occurrence(kind, c[0], {"ticks": ticks}, items, start)))

    def due(memory: Memory) -> Any:
        heap = memory[slot][1]
        return heap[0][0] if heap else None

    def fire(memory: Memory) -> None:
        heap = memory[slot][1]
        time, number, tick, a = heappop(heap)
        heappush(heap, (time + period, number, tick + 1, a))
        if not gathers:
            send(memory, (time, a[1], Occurrence(kind, time, {"tick": tick}, (a[2],), a[1])))

    return Operator((begin, end), due, fire)


def shut(heap: list[Any], number: int) -> None:
    """Remove one beginning from a heap."""
    heap[:] = [o for o in heap if o[1] != number]
    heapify(heap)
