"""BEFORE, and BETWEEN with its middle (absence, aperiodic*): the last operand completes a composite."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from operator import itemgetter
from typing import Any

from ..constructors import Before, Between
from ..forest import Node
from ..modes import Mode
from ..occurrence import NO_ATTRIBUTES, Entry, Occurrence
from .base import (
    SHORT,
    Context,
    Feed,
    Memory,
    Operator,
    Waiting,
    composer,
    forget,
    ignore,
    kind_of,
    new,
    pair_test,
    settled,
)
from .selection import SELECT, keep_recent

_time = itemgetter(0)


def before(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of BEFORE."""
    event = node.event
    assert isinstance(event, Before)
    plain = event.window is None and event.condition is None and not event.flat
    if plain and node.mode is Mode.CHRONICLE:
        return _plain_chronicle(node, context, send)
    slot, window = context.slot(list), event.window
    keep = keep_recent if node.mode is Mode.RECENT else context.keep(node)
    select, compose = SELECT[node.mode], composer(kind_of(node))
    parts = _flat_parts if event.flat else _pair_parts
    fits = pair_test(window, event.condition, parts)

    def left(memory: Memory, a: Entry) -> None:
        if window is not None:
            forget(memory[slot], a[0], window)
        keep(memory[slot], a)
        memory[slot] = settled(memory[slot])

    def right(memory: Memory, b: Entry) -> None:
        if window is not None:
            forget(memory[slot], b[0], window)
        for group in select(memory[slot], b, fits):
            items = parts(group[0], b) if len(group) == 1 else _grouped(group, b, event.flat)
            send(memory, compose(b[0], (*group, b), items))

    return Operator((left, right), stores=(left, ignore) if node.mode is Mode.ALL else ())


def _plain_chronicle(node: Node, context: Context, send: Feed) -> Operator:
    """Return BEFORE in CHRONICLE without conditions: the most common machine, a queue."""
    slot, kind, keep = context.slot(list), kind_of(node), context.keep(node)
    unbounded = context.limit is None

    def left(memory: Memory, a: Entry) -> None:
        waiting = memory[slot]
        if unbounded:
            waiting.append(a)
        else:
            keep(waiting, a)
        if len(waiting) == SHORT:
            memory[slot] = deque(waiting)

    def right(memory: Memory, b: Entry) -> None:
        waiting = memory[slot]
        if waiting and waiting[0][0] < b[0]:
            _, start, item = waiting[0]
            del waiting[0]
            if not waiting and waiting.__class__ is deque:
                memory[slot] = []
            time, other, last = b
            if other < start:
                start = other
            send(memory, (time, start, new(Occurrence, (kind, time, NO_ATTRIBUTES, (item, last), start))))

    return Operator((left, right))


def _pair_parts(a: Entry, b: Entry) -> tuple[Any, ...]:
    return a[2], b[2]


def _flat_parts(a: Entry, b: Entry) -> tuple[Any, ...]:
    return *a[2].constituents, b[2]


def _grouped(group: list[Entry], b: Entry, flat: bool) -> tuple[Any, ...]:
    if flat:
        return *(part for a in group for part in a[2].constituents), b[2]
    return *(a[2] for a in group), b[2]


def inside(middles: list[Entry], after: Any, until: Any) -> tuple[int, int]:
    """Return where the entries strictly between two times stand, found by bisection."""
    low = bisect_right(middles, after, key=_time)
    return low, bisect_left(middles, until, low, key=_time)


def count(middles: list[Entry], after: Any, until: Any) -> int:
    """Return how many entries are strictly between two times."""
    low, high = inside(middles, after, until)
    return high - low


def between(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of BETWEEN: BEFORE of its ends, that counts and collects what lies between."""
    event = node.event
    assert isinstance(event, Between)
    slot = context.slot(lambda: (deque(), []))
    least, most, window = event.least, event.most, event.window
    keep = keep_recent if node.mode is Mode.RECENT else context.keep(node)
    collect = context.keep(node)
    select, compose = SELECT[node.mode], composer(kind_of(node))
    pair = pair_test(window, event.condition, _pair_parts)

    def settle(memory: Memory, now: Any) -> tuple[Waiting, list[Entry]]:
        """Drop beginnings that are too old or have too much behind them, and middles that nobody needs."""
        waiting, middles = memory[slot]
        if window is not None:
            forget(waiting, now, window)
        while waiting and most is not None and count(middles, waiting[0][0], now) > most:
            del waiting[0]
        useless = bisect_right(middles, waiting[0][0], key=_time) if waiting else len(middles)
        if useless * 2 > len(middles):
            del middles[:useless]
        return waiting, middles

    def begin(memory: Memory, a: Entry) -> None:
        keep(settle(memory, a[0])[0], a)

    def middle(memory: Memory, b: Entry) -> None:
        waiting, middles = settle(memory, b[0])
        if waiting:
            collect(middles, b)

    def end(memory: Memory, c: Entry) -> None:
        waiting, middles = settle(memory, c[0])

        def fits(a: Entry, c: Entry) -> Any:
            number = count(middles, a[0], c[0])
            return least <= number and (most is None or number <= most) and (pair is None or pair(a, c))

        for group in select(waiting, c, fits):
            low, high = inside(middles, group[0][0], c[0])
            items = tuple(e[2] for e in (*group, *middles[low:high], c))
            send(memory, compose(c[0], (*group, c), items))

    return Operator((begin, middle, end), stores=(begin, middle, ignore) if node.mode is Mode.ALL else ())
