"""PlainSlices: one state per key and nothing else, as fast as it goes (see `fuse`).

A query with one state field is kept as that value, without a tuple around it: a counter costs a dict entry
and an int. `Slices` does the same, and more, in the ordinary way; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, ClassVar

from millstream.processors import Apply, Group, Processor, Query, Run, processor, state, transient
from millstream.processors.explaining import explained
from millstream.processors.lineage import Traced
from millstream.processors.lists import host
from millstream.processors.memory import Growth

from .fuse import PAIRS, SNAPSHOTS, Fused, fuse
from .snapshot import Snapshot
from .traced import Shown, on_value, pair


@processor
class PlainSlices(Processor):
    """Run a copy of a query on the events of each key, giving (key, output).

    >>> from millstream.processors import Count, X
    >>> list(PlainSlices(X, Count())("abaa"))
    [('a', 1), ('b', 1), ('a', 2), ('a', 3)]
    """

    icon: ClassVar[str] = "∥"
    shape: ClassVar[tuple[str, str]] = PAIRS
    by: Any
    inner: Query
    keep: bool = False
    run: Run = transient()
    out: list[Any] = transient()
    fused: Fused = transient()
    #: key -> state of its copy: a tuple, or the value itself if the inner query has only one
    states: dict[Any, Any] = state(of=lambda self: {})

    @property
    def step(self) -> Callable[[Any], None]:
        """Return the fused step; a property, so that the engine gets it without a method around it."""
        if self.fused is None:
            self.out = []
            self.run = host(self, self.inner, self.out)
            self.fused = fuse(self.by, self.run, self.out, self.keep, self.shape)
        return MethodType(self.fused.step, self)

    def deliver(self, key: Any) -> None:
        """Emit what the inner query has put out."""
        given = self.out[:]
        self.out.clear()
        for y in given:
            self.emit((key, y))

    def end(self) -> None:
        """End the slices that exist, in the order in which they began."""
        states, self.states = self.states, {}
        single = len(self.run.fresh()) == 1
        for key, s in states.items():
            self.run.give((s,) if single else s)
            try:
                self.run.finish()
            finally:
                self.deliver(key)

    def explained(self, limit: int) -> Processor:
        """Return slices of traced events."""
        slices = type(self)(on_value(self.by), explained(self.inner, limit), self.keep)
        return Group(slices | Apply(self.untangled(limit)))

    def untangled(self, limit: int) -> Callable[[Any], Traced]:
        """Return what makes a traced output of an output with traced values in it."""
        return pair

    def growth(self) -> Growth:
        """Return that there is a state for each key."""
        return Growth("a state for each key", "ttl=, until= or max_slices=")


@processor
class SnapshotSlices(PlainSlices):
    """Run a copy of a query on the events of each key, giving after every event the last output of each.

    >>> from millstream.processors import Count, X
    >>> list(SnapshotSlices(X, Count())("aba"))[-1] == {"a": 2, "b": 1}
    True
    """

    shape: ClassVar[tuple[str, str]] = SNAPSHOTS
    #: the last output of each key
    shown: Snapshot = state(Snapshot())

    def deliver(self, key: Any) -> None:
        """Note the last of what the inner query has put out."""
        if self.out:
            self.shown = self.shown.set(key, self.out[-1])
            self.out.clear()

    def end(self) -> None:
        """End the slices that exist, and show what they have put out at their end."""
        before = self.shown
        PlainSlices.end(self)
        if self.shown is not before:
            self.emit(self.shown)

    def untangled(self, limit: int) -> Callable[[Any], Traced]:
        """Return what makes a traced snapshot of a snapshot of traced outputs."""
        return Shown(limit)
