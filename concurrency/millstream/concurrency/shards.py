"""Shards: events spread by key over a fixed number of states, and their outputs put back into order.

A key always belongs to the same shard, a shard to one worker. `Tape` remembers which shard each event went
to, so that outputs come in the order of events; it is a plain object. `Sharding` is what a worker does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any

from attrs import define, field, frozen

from millstream.processors import Query, Run

from .chunks import Failed, Reply
from .failures import portable
from .stages import named

State = tuple[Any, ...]


@define
class Tape:
    """Which shard each event went to, and what has come back.

    >>> tape = Tape()
    >>> for shard in (0, 1, 0):
    ...     tape.went(shard)
    >>> tape.came(0, [["a"], ["c"]])
    >>> tape.take(), tape.came(1, [["b"]]), tape.take()
    (['a'], None, ['b', 'c'])
    """

    _order: deque[int] = field(factory=deque)
    _back: dict[int, deque[list[Any]]] = field(factory=dict)

    def __len__(self) -> int:
        return len(self._order)

    def went(self, group: int) -> None:
        """Take note that the next event went to a group of shards."""
        self._order.append(group)

    def came(self, group: int, outputs: list[list[Any]]) -> None:
        """Take the outputs of the next events of a group, a list for each event."""
        self._back.setdefault(group, deque()).extend(outputs)

    def take(self) -> list[Any]:
        """Return all outputs whose turn it is."""
        out: list[Any] = []
        order, back = self._order, self._back
        while order and (queue := back.get(order[0])):
            out += queue.popleft()
            order.popleft()
        return out


def shard_of(key: Hashable, shards: int) -> int:
    """Return the shard of a key; equal keys have the same one."""
    return hash(key) % shards


@frozen(eq=False)
class Sharding:
    """Makes what runs events on the states of their shards.

    Requests: ``("give", {shard: state})``, ``("take", None)``, ``("events", (shards, events))``.
    """

    query: Query

    def __call__(self) -> Callable[[tuple[str, Any]], Any]:
        outputs: list[Any] = []
        run = self.query.into(outputs)
        values: dict[int, State] = {}

        def answer(request: tuple[str, Any]) -> Any:
            name, content = request
            if name == "give":
                values.clear()
                return values.update(content)
            if name == "take":
                return values.copy()
            return run_shards(run, outputs, values, *content)

        return answer


def run_shards(
    run: Run, outputs: list[Any], values: dict[int, State], shards: list[int], events: list[Any]
) -> Reply:
    """Run events on the states of their shards; the outputs are a list for each event."""
    begun, failed, current = perf_counter(), False, None
    given: list[list[Any]] = []
    for shard, event in zip(shards, events, strict=True):
        if shard != current:
            if current is not None:
                values[current] = run.take()
            run.give(values[shard] if shard in values else run.fresh())
            current = shard
        try:
            run.entry(event)
        except Exception as error:
            failed = True
            outputs.append(Failed(len(given), portable(named(run, error))))
        given.append(outputs.copy())
        outputs.clear()
    if current is not None:
        values[current] = run.take()
    return Reply(given, failed, len(events), perf_counter() - begun)
