"""Slices spread over workers: what a worker does with its keys, and how outputs come back into order.

A key belongs to one worker. Slices remember the event that began them, so that an event for all of them, and
the end of the trace, give outputs in the order in which one worker would have. `Tape` is a plain object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from time import perf_counter
from typing import Any

from attrs import define, field, frozen

from millstream.processors import Processor, Run

from .chunks import Failed, Reply
from .failures import portable
from .stages import named

State = tuple[Any, ...]
#: the order of slices: the number of the event that began one, and the place of its key among those of it
Birth = tuple[int, int]


@define
class Tape:
    """Which workers each event went to, and what has come back.

    >>> tape = Tape()
    >>> for members in (0, 1, (0, 1)):
    ...     tape.went(members)
    >>> tape.came(0, [["a"], [(2, ["d"])]])
    >>> list(tape.take())
    [['a']]
    >>> tape.came(1, [["b"], [(1, ["c"])]])
    >>> list(tape.take())
    [['b'], ['c', 'd']]
    """

    _order: deque[int | tuple[int, ...]] = field(factory=deque)
    _back: dict[int, deque[list[Any]]] = field(factory=dict)

    def went(self, members: int | tuple[int, ...]) -> None:
        """Take note which worker, or which several of them, got the next event."""
        self._order.append(members)

    def came(self, member: int, outputs: Iterable[list[Any]]) -> None:
        """Take what a worker gave for its next events: outputs, or, where others got it too, ranked ones."""
        self._back.setdefault(member, deque()).extend(outputs)

    def take(self) -> Iterator[list[Any]]:
        """Yield the outputs of each event whose turn it is."""
        order, back = self._order, self._back
        while order:
            head = order[0]
            queues = [back.get(member) for member in ((head,) if isinstance(head, int) else head)]
            if not all(queues):
                return
            order.popleft()
            parts = [queue.popleft() for queue in queues if queue is not None]
            yield parts[0] if isinstance(head, int) else merged(parts)


def lost(key: Any, failed: Failed) -> list[Any]:
    """Return what stands for an event with this key whose worker is gone."""
    return [((-1,), [failed])] if is_for_several(key) else [failed]


def is_for_several(key: Any) -> bool:
    """Return whether an event goes to several slices: `Several` of them, or ALL."""
    kind = type(key)
    return kind is Several or (kind.__name__ == "All" and kind.__module__.endswith("slicer.keys"))


def merged(parts: Iterable[list[Any]]) -> list[Any]:
    """Return outputs in the order of their ranks; those behind a failure are left out.

    >>> merged([[(1, ["a"]), (3, ["d"])], [(2, ["b", "c"])]])
    ['a', 'b', 'c', 'd']
    """
    found: list[Any] = []
    for _, outputs in sorted((item for part in parts for item in part), key=itemgetter(0)):
        found += outputs
        if found and isinstance(found[-1], Failed):
            break
    return found


@frozen
class Several:
    """Keys that one event goes to, with the place of each among all keys of the event."""

    keys: tuple[tuple[int, Any], ...]


@frozen(eq=False)
class Sharding:
    """Makes what runs events on the slices of a worker.

    Requests: ``("give", {key: (birth, state)})``, ``("take", None)`` for the same, and ``("events",
    (numbers, keys, events))``, where a key may be `Several`, or ALL.
    """

    slices: Processor

    def __call__(self) -> Callable[[tuple[str, Any]], Any]:
        return Shard(self.slices).answer


class Shard:
    """The slices of one worker."""

    def __init__(self, slices: Processor) -> None:
        self.outputs: list[Any] = []
        self.run: Run = slices.into(self.outputs)
        self.slices: Any = self.run.processors[0]
        #: for each slice, and perhaps for some that are gone, where it began
        self.births: dict[Any, Birth] = {}

    def answer(self, request: tuple[str, Any]) -> Any:
        """Answer a request."""
        name, content = request
        if name == "events":
            return self._events(*content)
        if name == "give":
            self.slices.states = {key: values for key, (_, values) in content.items()}
            self.births = {key: birth for key, (birth, _) in content.items()}
            return None
        if name == "take":
            return {key: (self.births[key], values) for key, values in self.slices.states.items()}
        raise ValueError(f"no such request: {name}")

    def _events(self, numbers: list[int], keys: list[Any], events: list[Any]) -> Reply:
        begun, failed = perf_counter(), False
        given: list[list[Any]] = []
        for number, key, event in zip(numbers, keys, events, strict=True):
            kind = type(key)
            if kind is str or kind is int:
                made, bad = self._touch(key, number, 0, event)
            elif kind is Several:
                made, bad = self._several(key.keys, number, event, [(place,) for place, _ in key.keys])
            elif is_for_several(key):
                everyone = list(self.slices.states)
                made, bad = self._several(
                    list(enumerate(everyone)), number, event, [self.births[k] for k in everyone]
                )
            else:
                made, bad = self._touch(key, number, 0, event)
            given.append(made)
            failed = failed or bad
        return Reply(given, failed, len(events), perf_counter() - begun)

    def _several(
        self, keys: Iterable[tuple[int, Any]], number: int, event: Any, ranks: list[Any]
    ) -> tuple[list[Any], bool]:
        made: list[Any] = []
        for (place, key), rank in zip(keys, ranks, strict=True):
            outputs, bad = self._touch(key, number, place, event)
            made.append((rank, outputs))
            if bad:
                return made, True
        return made, False

    def _touch(self, key: Any, number: int, place: int, event: Any) -> tuple[list[Any], bool]:
        """Return the outputs of a slice, and whether it failed, which is then the last of them."""
        known = key in self.slices.states
        if not known:
            self.births[key] = number, place
        bad = False
        try:
            self.slices.touch(key, event)
        except Exception as error:
            bad = True
            self.outputs.append(Failed(number, portable(named(self.run, error)), event))
        made = self.outputs.copy()
        self.outputs.clear()
        return made, bad
