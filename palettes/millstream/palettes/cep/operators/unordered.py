"""ANY m of n (and AND, where m = n), and repetition: combinations in any order of time.

The newcomer completes combinations with entries that wait at other operands. Candidates come in the order of
the operands, and for each operand the oldest first; the first candidate is what CHRONICLE takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Any

from millstream.processors import as_function

from ..constructors import AnyOf, Repeated
from ..expressions import Constructor
from ..forest import Node
from ..modes import Mode
from ..occurrence import NO_ATTRIBUTES, Entry, Occurrence
from .base import (
    Context,
    Feed,
    Keep,
    Memory,
    Operator,
    Waiting,
    composer,
    forget,
    kind_of,
    new,
    settled,
)

#: entries with the operand that each belongs to
Candidate = tuple[tuple[int, Entry], ...]
Accepts = Callable[[Sequence[Entry], Any], Any]


def accepts(event: Constructor) -> Accepts:
    """Return whether entries together satisfy window and condition."""
    window = event.window
    test = None if event.condition is None else as_function(event.condition)

    def accept(entries: Sequence[Entry], now: Any) -> Any:
        if window is not None and now - min(e[1] for e in entries) > window:
            return False
        return test is None or test(*[e[2] for e in entries])

    return accept


def choices(ports: Sequence[int], buffers: list[Waiting]) -> Iterator[Candidate]:
    """Yield one entry of each operand in all ways, the oldest first, without looking further than asked."""
    if not ports:
        yield ()
        return
    for entry in buffers[ports[0]]:
        for rest in choices(ports[1:], buffers):
            yield ((ports[0], entry), *rest)


def consume(buffers: list[Waiting], found: list[Candidate]) -> None:
    """Remove whatever took part, each at its operand."""
    if len(found) == 1:
        for port, entry in found[0]:
            _discard(buffers[port], entry)
        return
    used = {(port, id(entry)) for candidate in found for port, entry in candidate}
    for port, waiting in enumerate(buffers):
        rest = [e for e in waiting if (port, id(e)) not in used]
        waiting.clear()
        waiting.extend(rest)


def _discard(waiting: Waiting, entry: Entry) -> None:
    for k, e in enumerate(waiting):
        if e is entry:
            del waiting[k]
            return


def union(found: list[Candidate], buffers: list[Waiting], port: int, newcomer: Entry) -> Candidate:
    """Return everything that is in some candidate, operand by operand, each in order of arrival."""
    used = {(k, id(entry)) for candidate in found for k, entry in candidate}
    parts: list[tuple[int, Entry]] = []
    for k, waiting in enumerate(buffers):
        parts += [(k, e) for e in waiting if (k, id(e)) in used]
        parts += [(k, newcomer)] if k == port else []
    return tuple(parts)


def settle(
    mode: Mode, buffers: list[Waiting], port: int, newcomer: Entry, possible: Iterable[Candidate], keep: Keep
) -> list[Candidate]:
    """Apply a mode: return what is to be composed, having used up or kept what the mode says."""
    found = list(islice(possible, 1)) if mode is Mode.CHRONICLE else list(possible)
    if mode is Mode.ALL or not found:
        keep(buffers[port], newcomer)
        return found
    given = [union(found, buffers, port, newcomer)] if mode is Mode.CUMULATIVE else found
    consume(buffers, found)
    return given


def any_of(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of ANY."""
    event = node.event
    assert isinstance(event, AnyOf)
    if node.mode is Mode.RECENT:
        return _any_recent(event, node, context, send)
    if node.mode is Mode.CHRONICLE and len(event.of) == 2 and event.window is event.condition is None:
        return _plain_both(node, context, send)
    size, window, mode = len(event.of), event.window, node.mode
    slot = context.slot(lambda: [deque() for _ in range(size)])
    keep, compose, accept = context.keep(node), composer(kind_of(node)), accepts(event)
    others = [
        list(combinations([k for k in range(size) if k != port], event.number - 1)) for port in range(size)
    ]

    def candidates(buffers: list[Waiting], port: int, newcomer: Entry) -> Iterator[Candidate]:
        for ports in others[port]:
            place = sum(k < port for k in ports)
            for chosen in choices(ports, buffers) if all(buffers[k] for k in ports) else ():
                candidate = (*chosen[:place], (port, newcomer), *chosen[place:])
                if accept([e for _, e in candidate], newcomer[0]):
                    yield candidate

    def receive(port: int, memory: Memory, newcomer: Entry) -> None:
        buffers = memory[slot]
        if window is not None:
            for waiting in buffers:
                forget(waiting, newcomer[0], window)
        possible = candidates(buffers, port, newcomer)
        for candidate in settle(mode, buffers, port, newcomer, possible, keep):
            entries = [e for _, e in candidate]
            send(memory, compose(newcomer[0], entries, tuple(e[2] for e in entries)))

    def store(port: int, memory: Memory, newcomer: Entry) -> None:
        if window is not None:
            forget(memory[slot][port], newcomer[0], window)
        keep(memory[slot][port], newcomer)

    ports = range(size) if mode is Mode.ALL else ()
    return Operator(
        tuple(_feed(receive, port) for port in range(size)),
        stores=tuple(_feed(store, port) for port in ports),
    )


def _plain_both(node: Node, context: Context, send: Feed) -> Operator:
    """Return AND of two operands in CHRONICLE without conditions: a queue for the one that is ahead."""
    slot, kind, keep = context.slot(lambda: [[], []]), kind_of(node), context.keep(node)

    def receive(port: int, memory: Memory, newcomer: Entry) -> None:
        buffers = memory[slot]
        other = buffers[1 - port]
        if not other:
            keep(buffers[port], newcomer)
            buffers[port] = settled(buffers[port])
            return
        partner = other[0]
        del other[0]
        if not other:
            buffers[1 - port] = []
        time, start, item = newcomer
        start = min(start, partner[1])
        items = (partner[2], item) if port else (item, partner[2])
        send(memory, (time, start, new(Occurrence, (kind, time, NO_ATTRIBUTES, items, start))))

    return Operator((_feed(receive, 0), _feed(receive, 1)))


def _feed(receive: Callable[[int, Memory, Entry], None], port: int) -> Feed:
    return lambda memory, entry: receive(port, memory, entry)


def _any_recent(event: AnyOf, node: Node, context: Context, send: Feed) -> Operator:
    """Return ANY in RECENT: the newest entry of each operand by operand, the most recently changed last."""
    slot, number = context.slot(dict), event.number
    compose, accept = composer(kind_of(node)), accepts(event)

    def receive(port: int, memory: Memory, newcomer: Entry) -> None:
        newest: dict[int, Entry] = memory[slot]
        newest.pop(port, None)
        chosen = dict([*list(newest.items())[1 - number :], (port, newcomer)])
        newest[port] = newcomer
        if len(chosen) == number:
            combination = tuple(chosen[k] for k in sorted(chosen))
            if accept(combination, newcomer[0]):
                send(memory, compose(newcomer[0], combination, tuple(e[2] for e in combination)))

    return Operator(tuple(_feed(receive, port) for port in range(len(event.of))))


def repeated(node: Node, context: Context, send: Feed) -> Operator:
    """Return the machine of repetition."""
    event = node.event
    assert isinstance(event, Repeated)
    if node.mode is Mode.RECENT:
        return _repeated_recent(event, node, context, send)
    slot, window, mode, others = context.slot(deque), event.window, node.mode, event.number - 1
    keep, compose, accept = context.keep(node), composer(kind_of(node)), accepts(event)

    def candidates(waiting: Waiting, newcomer: Entry) -> Iterator[Candidate]:
        for chosen in combinations(waiting, others):
            if accept((*chosen, newcomer), newcomer[0]):
                yield tuple((0, e) for e in (*chosen, newcomer))

    def receive(memory: Memory, newcomer: Entry) -> None:
        waiting = memory[slot]
        if window is not None:
            forget(waiting, newcomer[0], window)
        possible = candidates(waiting, newcomer)
        for candidate in settle(mode, [waiting], 0, newcomer, possible, keep):
            entries = [e for _, e in candidate]
            send(memory, compose(newcomer[0], entries, tuple(e[2] for e in entries)))

    def store(memory: Memory, newcomer: Entry) -> None:
        if window is not None:
            forget(memory[slot], newcomer[0], window)
        keep(memory[slot], newcomer)

    return Operator((receive,), stores=(store,) if mode is Mode.ALL else ())


def _repeated_recent(event: Repeated, node: Node, context: Context, send: Feed) -> Operator:
    """Return repetition in RECENT: the newest occurrences, sliding."""
    slot = context.slot(lambda: deque(maxlen=event.number))
    compose, accept = composer(kind_of(node)), accepts(event)

    def receive(memory: Memory, newcomer: Entry) -> None:
        newest = memory[slot]
        newest.append(newcomer)
        if len(newest) == event.number and accept(newest, newcomer[0]):
            send(memory, compose(newcomer[0], newest, tuple(e[2] for e in newest)))

    return Operator((receive,))
