"""What an operator is: functions of a memory that the caller owns.

The memory of a whole detector is one list. Position 0 holds the time; each operator that remembers something
has a position of its own, with built-in containers in it. So a copy of a detector is a copy of a list, and
the same operators serve any number of keys.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from attrs import define, field

from millstream.processors import BufferFullError, as_function

from ..forest import Node
from ..occurrence import NO_ATTRIBUTES, Entry, Occurrence

Memory = list[Any]
Feed = Callable[[Memory, Entry], None]
#: a buffer in order of arrival; mostly short, and a short list takes far less memory than a deque
Waiting = deque[Entry] | list[Entry]
Fits = Callable[[Entry, Entry], Any]
Keep = Callable[[Any, Any], None]

new: Callable[..., Any] = tuple.__new__
#: longest buffer that is a list
SHORT = 30


def nothing(memory: Memory) -> None:
    """Do nothing: the default of what an operator may do."""


def ignore(memory: Memory, entry: Entry) -> None:
    """Take an entry that need not be stored."""


@define
class Operator:
    """A machine: one function for each operand, and what happens when time passes or ends."""

    feeds: tuple[Feed, ...]
    #: the time stamp of the next thing that time itself will bring, None if nothing
    due: Callable[[Memory], Any] | None = None
    #: lets that thing happen
    fire: Callable[[Memory], None] = nothing
    #: whether what is due after the last event still happens at the end of the trace
    beyond: bool = False
    #: the end of the trace
    finish: Callable[[Memory], None] | None = None
    #: the feeds without looking for combinations, if what one entry finds changes nothing for the others:
    #: several workers then can share the entries, each storing all of them
    stores: tuple[Feed, ...] = ()


@define
class Context:
    """What operators are built with: the positions given out in the memory, and the bound of buffers."""

    limit: int | None = None
    full: str = "error"
    #: how to make the value of each position
    fresh: list[Callable[[], Any]] = field(factory=list)

    def slot(self, fresh: Callable[[], Any]) -> int:
        """Return a position of the memory."""
        self.fresh.append(fresh)
        return len(self.fresh)

    def keep(self, node: Node) -> Keep:
        """Return how an operator adds to a buffer."""
        if self.limit is None:
            return _append
        return partial(self._keep_bounded, node)

    def _keep_bounded(self, node: Node, waiting: Any, entry: Any) -> None:
        if not self.room(node, len(waiting)):
            if self.full == "drop_newest":
                return
            del waiting[0]
        waiting.append(entry)

    def room(self, node: Node, length: int) -> bool:
        """Return whether a buffer may grow; raise if it must not and nothing may be dropped."""
        if self.limit is None or length < self.limit:
            return True
        if self.full == "error":
            raise BufferFullError(
                f"{node.event!r} holds {length} pending occurrences, max_pending is {self.limit}"
            )
        return False


def _append(waiting: Any, entry: Any) -> None:
    waiting.append(entry)


def composer(kind: str) -> Callable[..., Entry]:
    """Return a function that makes a composite of entries, the newest last."""

    def compose(time: Any, entries: Iterable[Entry], parts: tuple[Any, ...]) -> Entry:
        start = min(e[1] for e in entries)
        return time, start, new(Occurrence, (kind, time, NO_ATTRIBUTES, parts, start))

    return compose


def kind_of(node: Node) -> str:
    """Return the kind of the composites of a node."""
    return getattr(node.event, "name", None) or node.event.word


def pair_test(window: Any, condition: Any, parts: Callable[[Entry, Entry], tuple[Any, ...]]) -> Fits | None:
    """Return whether two entries may be combined, None if nothing forbids it."""
    test = None if condition is None else as_function(condition)
    if window is None and test is None:
        return None

    def fits(a: Entry, b: Entry) -> Any:
        if window is not None and b[0] - (a[1] if a[1] <= b[1] else b[1]) > window:
            return False
        return test is None or test(*parts(a, b))

    return fits


def forget(waiting: Waiting, now: Any, window: Any) -> None:
    """Drop what is too old for a window."""
    while waiting and now - waiting[0][0] > window:
        del waiting[0]


def settled(waiting: Waiting) -> Waiting:
    """Return the buffer in the form that suits its length: a long list is slow at its head."""
    if waiting.__class__ is list:
        return deque(waiting) if len(waiting) > SHORT else waiting
    return waiting or []
