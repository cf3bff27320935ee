"""Slices: a copy of a query for each key, with all that can end a copy and every way to show the outputs.

This is the definition; `PlainSlices` and `SnapshotSlices` are the same for the common cases.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from millstream.palettes.windows import Monoid
from millstream.palettes.windows.monoid import monoid_of
from millstream.processors import (
    MISSING,
    Apply,
    Group,
    Processor,
    Query,
    Run,
    as_function,
    configuration,
    processor,
    state,
    transient,
)
from millstream.processors.explaining import explained
from millstream.processors.lists import host
from millstream.processors.memory import Growth

from .keys import ALL, several, unhashable
from .snapshot import Snapshot
from .tally import Tally
from .traced import Shown, Together, on_value, pair


@processor
class Slices(Processor):
    """Run a copy of a query on the events of each key; see `Slice` for the parameters.

    >>> from millstream.processors import Count, X
    >>> list(Slices(X, Count(), until=X == 2)("abaa"))
    [('a', 1), ('b', 1), ('a', 2), ('a', 1)]
    """

    icon: ClassVar[str] = "∥"
    by: Any
    inner: Query
    keep: bool = False
    snapshot: bool = False
    collect: Any = None
    until: Any = None
    ttl: Any = None
    time: Any = None
    max_slices: int | None = None
    full: str = "error"
    on_drop: Callable[[Any], Any] | None = None
    key_of: Callable[[Any], Any] = transient()
    time_of: Callable[[Any], Any] = transient()
    ends: Callable[[Any], Any] | None = transient()
    run: Run = transient()
    tally: Tally | None = transient()
    #: whether slices that get the same event are stepped together: workers may then share them
    together: bool = transient()
    #: whether outputs are shown all together, rather than one by one; whether known keys are counted
    shows: bool = transient()
    counts: bool = transient()
    #: the key whose slice is running, its last output, and whether an output ended it
    key: Any = transient()
    last: Any = transient()
    over: bool = transient()
    #: key -> state of its copy
    states: dict[Any, Any] = state(of=lambda self: {})
    #: known keys (with a slice, or shown), least recently used first, with the time of their last event;
    #: only if ttl or max_slices ask for it
    recent: OrderedDict[Any, Any] = state(of=lambda self: OrderedDict())
    #: the latest time; a count of events if there is no `time`
    now: Any = state(of=lambda self: 0 if self.time is None else MISSING)
    #: what is shown: a snapshot, a tally, or a dict of last outputs
    shown: Any = state(of=lambda self: self.nothing_shown())

    def nothing_shown(self) -> Any:
        """Return what is shown before the first output."""
        if self.snapshot:
            return Snapshot()
        return Tally.empty() if monoid_of(self.collect) is not None else {}

    def prepare(self) -> None:
        """Wire the inner query and compile the functions."""
        self.key_of = as_function(self.by)
        self.time_of = as_function(self.time) if self.time is not None else self._ticks
        self.ends = as_function(self.until) if self.until is not None else None
        self.run = host(self, self.inner, self._got)
        self.together = self.run.defers and self.max_slices is None
        monoid = monoid_of(self.collect)
        self.tally = None if monoid is None else Tally(monoid)
        self.shows = self.snapshot or self.collect is not None
        self.counts = self.ttl is not None or self.max_slices is not None

    def _ticks(self, _: Any) -> int:
        count: int = self.now + 1
        return count

    def step(self, x: Any) -> None:
        """Give the event to the slices of its keys, then show what there is to show."""
        if self.ttl is not None:
            self._expire(x)
        key = self.key_of(x)
        try:
            keys = [key] if key in self.states else several(key, self.states)
        except TypeError as error:
            raise unhashable(key) from error
        if self.together and keys is not None and len(keys) > 1:
            self._touch_together(keys, x, refresh=key is not ALL)
        else:
            for k in [key] if keys is None else keys:
                self.touch(k, x, refresh=key is not ALL)
        if self.shows:
            self.show()

    # -- one slice

    def touch(self, key: Any, x: Any, refresh: bool = True) -> None:
        """Give an event to one slice."""
        values = self.states.get(key)
        if values is None:
            self._make_room(key)
            values = self.run.fresh()
        self._begin(key)
        self.run.give(values)
        self.run.entry(x)
        self._touched(key, self.run.take(), refresh)

    def _touch_together(self, keys: list[Any], x: Any, refresh: bool) -> None:
        """Give an event to several slices at once; what each puts out comes in the order of the keys."""
        known = ((key, self.states.get(key)) for key in keys)
        stepped = self.run.each([(self.run.fresh() if v is None else v, x) for _, v in known])
        for key in keys:
            self._begin(key)
            self._touched(key, next(stepped), refresh)

    def _touched(self, key: Any, values: Any, refresh: bool) -> None:
        """Keep a slice as an event has left it, or let it go."""
        if self.over:
            self._end(key, values)
        elif not self.keep and _same(values, self.run.fresh()):
            self.states.pop(key, None)
        else:
            self.states[key] = values
        if self.shows and self.last is not MISSING:
            self.keep_last(key, self.last)
        if self.counts:
            self._note(key, refresh)

    def _note(self, key: Any, used: bool) -> None:
        """Note that a key was used, or that nothing is known of it any more."""
        if key not in self.states and not self._is_shown(key):
            self.recent.pop(key, None)
        elif used:
            self.recent[key] = self.now
            self.recent.move_to_end(key)

    def _begin(self, key: Any) -> None:
        self.key, self.last, self.over = key, MISSING, False

    def _got(self, y: Any) -> None:
        """Take an output of the copy that is running."""
        self.last = y
        if self.ends is not None and self.ends(y):
            self.over = True
        if not self.shows:
            self.emit((self.key, y))

    def _end(self, key: Any, values: Any) -> None:
        """Let a copy come to its end, and drop it."""
        self.states.pop(key, None)
        self.run.give(values)
        self.run.finish()

    # -- what is shown

    def keep_last(self, key: Any, y: Any) -> None:
        """Keep the last output of a slice, to be shown."""
        if self.snapshot:
            self.shown = self.shown.set(key, y)
        elif self.tally is not None:
            self.tally.set(self.shown, key, y)
        else:
            self.shown[key] = y

    def _hide(self, key: Any) -> None:
        if self.snapshot:
            self.shown = self.shown.without(key)
        elif self.tally is not None:
            self.tally.remove(self.shown, key)
        else:
            self.shown.pop(key, None)

    def _is_shown(self, key: Any) -> bool:
        return key in (self.shown if self.tally is None else self.tally.keys(self.shown))

    def show(self) -> None:
        """Emit what is shown."""
        if self.snapshot:
            self.emit(self.shown)
        elif self.tally is not None:
            total = self.tally.value(self.shown)
            if total is not MISSING:
                self.emit(total)
        elif self.shown:
            self.emit(self.collect(list(self.shown.values())))

    # -- slices that leave

    def _expire(self, x: Any) -> None:
        """End the slices that have had no event for too long."""
        now = self.time_of(x)
        self.now = now if self.time is None or self.now is MISSING else max(now, self.now)
        while self.recent:
            key, stamp = next(iter(self.recent.items()))
            if not self.now - stamp > self.ttl:
                return
            del self.recent[key]
            self._begin(key)
            if key in self.states:
                self._end(key, self.states[key])
            self._hide(key)

    def _make_room(self, key: Any) -> None:
        """Make sure that one more slice is allowed."""
        if self.max_slices is None or len(self.recent) < self.max_slices or key in self.recent:
            return
        if self.full == "error":
            raise ValueError(
                f"a slice for key {key!r} would be more than max_slices={self.max_slices}; "
                "raise it, end slices with until or ttl, or choose full='drop'"
            )
        oldest, _ = self.recent.popitem(last=False)
        self.states.pop(oldest, None)
        self._hide(oldest)
        if self.on_drop is not None:
            self.on_drop(oldest)

    def end(self) -> None:
        """End the slices that exist, in the order in which they began."""
        changed = False
        for key, values in list(self.states.items()):
            self._begin(key)
            self._end(key, values)
            if self.shows and self.last is not MISSING:
                self.keep_last(key, self.last)
                changed = True
        if changed:
            self.show()

    def explained(self, limit: int) -> Processor:
        """Return slices of traced events."""
        changes = {name: on_value(getattr(self, name)) for name in ("by", "until", "time")}
        changes["inner"] = explained(self.inner, limit)
        if self.collect is not None:
            collect = self.collect.fold if isinstance(self.collect, Monoid) else self.collect
            changes["collect"] = Together(collect, limit)
        slices = Slices(**{**configuration(self), **changes})
        if self.collect is not None:
            return slices
        return Group(slices | Apply(Shown(limit) if self.snapshot else pair))

    def growth(self) -> Growth | None:
        """Return that there is a state for each key."""
        if self.max_slices is not None or self.ttl is not None or self.until is not None:
            return None
        return Growth("a state for each key", "ttl=, until= or max_slices=")


def _same(values: Any, initial: Any) -> bool:
    try:
        return bool(values == initial)
    except Exception:  # values that cannot be compared are not the initial ones
        return False
