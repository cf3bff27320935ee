"""Slices spread over workers: what a worker does with its keys, and how outputs come back into order.

A key belongs to one worker. Slices remember the event that began them, so that an event for all of them, and
the end of the trace, give outputs in the order in which one worker would have. `Tape` is a plain object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

from attrs import define, field, frozen

from millstream.processors import Query, Run, as_function

from .chunks import Failed, Reply
from .failures import portable
from .stages import named

State = tuple[Any, ...]
#: the order of slices: the number of the event that began one, and the place of its key among those of it
Birth = tuple[int, int]
#: what several slices give for an event: their ranks in the order of all, and for each its outputs as a list,
#: or the only one
Ranked = tuple[Sequence[Any], list[Any]]


@define
class Tape:
    """Which workers each event went to, and what has come back.

    >>> tape = Tape()
    >>> for members in (0, 1, (0, 1)):
    ...     tape.went(members)
    >>> tape.came(0, [["a"], ([2, 3], ["d", ["e", "f"]])])
    >>> list(tape.take())
    [['a']]
    >>> tape.came(1, [["b"], ([1], ["c"])])
    >>> list(tape.take())
    [['b'], ['c', 'd', 'e', 'f']]
    """

    _order: deque[int | tuple[int, ...]] = field(factory=deque)
    _back: dict[int, deque[Any]] = field(factory=dict)
    #: the ranks of the last event that went to several, which are often those of the next, and their order
    _ranks: list[Any] = field(factory=list)
    _ranked: list[int] = field(factory=list)

    def went(self, members: int | tuple[int, ...]) -> None:
        """Take note which worker, or which several of them, got the next event."""
        self._order.append(members)

    def came(self, member: int, outputs: Iterable[Any]) -> None:
        """Take what a worker gave for its next events: outputs, or, where others got it too, ranked ones."""
        self._back.setdefault(member, deque()).extend(outputs)

    def take(self) -> Iterator[list[Any]]:
        """Yield the outputs of each event whose turn it is."""
        order, back = self._order, self._back
        while order:
            head = order[0]
            if isinstance(head, int):
                queue = back.get(head)
                if not queue:
                    return
                order.popleft()
                yield queue.popleft()
                continue
            queues = [back.get(member) for member in head]
            if not all(queues):
                return
            order.popleft()
            yield self._merged([queue.popleft() for queue in queues if queue is not None])

    def _merged(self, parts: list[Ranked]) -> list[Any]:
        """Return outputs in the order of their ranks; those behind a failure are left out."""
        ranks = [rank for more, _ in parts for rank in more]
        several = [outputs for _, made in parts for outputs in made]
        if ranks != self._ranks:
            self._ranks, self._ranked = ranks, sorted(range(len(ranks)), key=ranks.__getitem__)
        found: list[Any] = []
        for k in self._ranked:
            outputs = several[k]
            if outputs.__class__ is not list:
                found.append(outputs)
                continue
            found += outputs
            if outputs and outputs[-1].__class__ is Failed:
                break
        return found


def lost(key: Any, failed: Failed) -> Any:
    """Return what stands for an event with this key whose worker is gone."""
    return ([(-1,)], [[failed]]) if is_for_several(key) else [failed]


def same(values: State, initial: State) -> bool:
    """Return whether a state is the initial one; values that cannot be compared are not."""
    try:
        return bool(values == initial)
    except Exception:
        return False


def is_for_several(key: Any) -> bool:
    """Return whether an event goes to several slices: `Several` of them, or ALL."""
    kind = type(key)
    return kind is Several or (kind.__name__ == "All" and kind.__module__.endswith("slicer.keys"))


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

    inner: Query
    keep: bool
    until: Any

    def __call__(self) -> Callable[[tuple[str, Any]], Any]:
        return Shard(self).answer


class Shard:
    """The slices of one worker."""

    def __init__(self, made: Sharding) -> None:
        self.outputs: list[Any] = []
        self.run: Run = made.inner.into(self.outputs)
        self.keep, self.initial = made.keep, self.run.fresh()
        self.ends = None if made.until is None else as_function(made.until)
        self.states: dict[Any, State] = {}
        #: for each slice, and perhaps for some that are gone, where it began
        self.births: dict[Any, Birth] = {}
        #: births of all slices, as long as there is no other one
        self.ranked: tuple[Birth, ...] | None = None

    def answer(self, request: tuple[str, Any]) -> Any:
        """Answer a request."""
        name, content = request
        if name == "events":
            return self._events(*content)
        if name == "give":
            self.states = {key: values for key, (_, values) in content.items()}
            self.births = {key: birth for key, (birth, _) in content.items()}
            self.ranked = None
            return None
        return {key: (self.births[key], values) for key, values in self.states.items()}

    def _events(self, numbers: list[int], keys: list[Any], events: list[Any]) -> Reply:
        begun, touch = perf_counter(), self._touch
        given: list[Any] = []
        for number, key, event in zip(numbers, keys, events, strict=True):
            kind = key.__class__
            if kind is str or kind is int or not is_for_several(key):
                given.append(touch(key, number, 0, event))
            elif kind is Several:
                given.append(self._several(key.keys, number, event, [(place,) for place, _ in key.keys]))
            else:
                given.append(self._all(number, event))
        return Reply(given, False, len(events), perf_counter() - begun)

    def _several(
        self, keys: Iterable[tuple[int, Any]], number: int, event: Any, ranks: Sequence[Any]
    ) -> Ranked:
        made: list[Any] = []
        for place, key in keys:
            outputs = self._touch(key, number, place, event)
            failed = outputs and outputs[-1].__class__ is Failed
            made.append(outputs[0] if len(outputs) == 1 and not failed else outputs)
            if failed:
                break
        return ranks[: len(made)], made

    def _all(self, number: int, event: Any) -> Ranked:
        """Give an event to all slices; while they stay the same, so does what tells their ranks."""
        keys = list(self.states)
        if self.ranked is None or len(self.ranked) != len(keys):
            self.ranked = tuple(self.births[key] for key in keys)
        return self._several(list(enumerate(keys)), number, event, self.ranked)

    def _touch(self, key: Any, number: int, place: int, event: Any) -> list[Any]:
        """Return the outputs of a slice; if it fails, that is the last of them."""
        run, outputs = self.run, self.outputs
        values = self.states.get(key)
        if values is None:
            self.births[key], self.ranked = (number, place), None
            values = run.fresh()
        try:
            run.give(values)
            run.entry(event)
            self._touched(key, run.take())
        except Exception as error:
            made: list[Any] = [(key, y) for y in outputs]
            made.append(Failed(number, portable(named(run, error)), event))
        else:
            made = [(key, y) for y in outputs]
        outputs.clear()
        return made

    def _touched(self, key: Any, values: State) -> None:
        """Keep a slice as an event has left it, or let it go; see `Slices`."""
        if self.ends is not None and any(map(self.ends, self.outputs)):
            self.states.pop(key, None)
            self.run.give(values)
            self.run.finish()
        elif not self.keep and same(values, self.initial):
            self.states.pop(key, None)
        else:
            self.states[key] = values
