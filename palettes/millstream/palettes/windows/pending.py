"""Pending: a sliding window over a query with few states, without replaying.

Every window under way has a copy of the inner query in some state. Copies in equal states (with equal last
outputs) behave alike from then on, so they are stepped once. A monitor with a handful of states costs a
handful of steps per event, whatever the width. Where the states do not merge, `Pending` notices within the
first events and replays from then on; it keeps the events of the window either way.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Any, ClassVar

from millstream.processors import MISSING, Processor, Query, Run, processor, state, transient
from millstream.processors.explaining import explained

from .contents import Replay
from .counted import Sliding

#: values of these types are equal only if they behave alike (1 == 1.0 == True do not)
PLAIN = frozenset({int, bool, str, bytes, type(None)})
Group = tuple[Any, Any, int]


def key_of(values: tuple[Any, ...]) -> Any:
    """Return what tells states apart, types included; None if they cannot safely be compared.

    >>> key_of((1, "a")) == key_of((True, "a"))
    False
    >>> key_of(([],)) is None
    True
    """
    kinds: list[Any] = []
    for value in values:
        kind = type(value)
        if kind is tuple:
            kinds.append(key_of(value))
            if kinds[-1] is None:
                return None
        elif kind in PLAIN or isinstance(value, Enum):
            kinds.append(kind)
        else:
            return None
    return values, tuple(kinds)


@processor
class Pending(Processor):
    """Run a query on the last `width` events, stepping copies in equal states together.

    >>> from millstream.processors import Filter, X
    >>> list(Pending(Filter(X % 2 == 0), 2, 4)([1, 3, 4, 5, 7]))
    [4, 4]
    """

    icon: ClassVar[str] = "▭"
    inner: Query
    width: int
    limit: int
    every: int = 1
    partial: bool = False
    replay: Replay = transient()
    run: Run = transient()
    #: the events since the beginning of the oldest window under way
    held: deque[Any] = state(of=lambda self: deque())
    #: windows under way, oldest first, by the number of their group; None when states turned out not to merge
    windows: deque[int] | None = state(of=lambda self: deque())
    #: group -> (state, last output, number of windows)
    groups: dict[int, Group] = state(of=lambda self: {})
    #: group -> the group it was merged into
    merged: dict[int, int] = state(of=lambda self: {})
    #: windows begun, and events since the last of them began
    begun: int = state(0)
    phase: int = state(0)

    def prepare(self) -> None:
        """Wire the inner query."""
        self.replay = Replay(self, self.inner)
        self.run = self.replay.run

    def step(self, x: Any) -> None:
        """Give the event to the windows under way (one may begin with it), and close the oldest if full."""
        if self.windows is not None:
            begins = self.phase == 0
            self.phase = (self.phase + 1) % self.every
            groups = self._stepped(x, {self.begun: (self.run.fresh(), MISSING, 1)} if begins else {})
            if begins:
                self.windows.append(self.begun)
                self.begun += 1
            self._install(groups)
        self.held.append(x)
        if len(self.held) == self.width:
            self._close()

    def _stepped(self, x: Any, new: dict[int, Group]) -> list[tuple[int, Any, Group]] | None:
        """Return each group with its key after an event; None if there is a state that cannot be compared."""
        run, last, stepped = self.run, self.replay.last, []
        for group, (values, output, size) in {**self.groups, **new}.items():
            last.clear()
            run.give(values)
            run.entry(x)
            values, output = run.take(), last.pop() if last else output
            key = key_of((*values, output))
            if key is None:
                return None
            stepped.append((group, key, (values, output, size)))
        return stepped

    def _install(self, stepped: list[tuple[int, Any, Group]] | None) -> None:
        """Keep the groups, those with equal keys as one; give up if there are too many."""
        groups: dict[int, Group] = {}
        seen: dict[Any, int] = {}
        for group, key, (values, output, size) in stepped or ():
            known = seen.setdefault(key, group)
            if known != group:
                self.merged[group] = known
                size += groups[known][2]
            groups[known] = values, output, size
        self.groups = groups
        if stepped is None or len(groups) > self.limit:
            self.windows, self.groups, self.merged = None, {}, {}
        elif len(self.merged) > 4 * self.width:
            assert self.windows is not None
            self.windows, self.merged = deque(map(self._find, self.windows)), {}

    def _find(self, group: int) -> int:
        """Return the group that a group has become."""
        merged, path = self.merged, []
        while group in merged:
            path.append(group)
            group = merged[group]
        for passed in path:
            merged[passed] = group
        return group

    def _close(self) -> None:
        """Emit the value of the oldest window, and let the events leave that the next one does not have."""
        try:
            value = self.replay.value(self.held) if self.windows is None else self._oldest(self.windows)
        finally:
            for _ in range(min(self.every, len(self.held))):
                self.held.popleft()
        if value is not MISSING:
            self.emit(value)

    def _oldest(self, windows: deque[int]) -> Any:
        group = self._find(windows.popleft())
        values, output, size = self.groups.pop(group)
        if size > 1:
            self.groups[group] = values, output, size - 1
        self.replay.last.clear()
        self.run.give(values)
        value = self.replay.finish(closing=True)
        return output if value is MISSING else value

    def end(self) -> None:
        """Close the windows that have begun, if that is wanted."""
        while self.partial and self.held:
            self._close()

    def explained(self, limit: int) -> Processor:
        """Return windows over traced events, which have no equal states."""
        return Sliding(explained(self.inner, limit), self.width, self.every, self.partial)
