"""Slice: a query run separately on the events of each key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from attrs import field

from millstream.palettes.windows import Monoid
from millstream.palettes.windows.triggers import check_span
from millstream.processors import Group, Query, as_query, processor
from millstream.processors.errors import fail_parameter
from millstream.processors.expressions import Expression
from millstream.processors.lists import host, spread

from .fast import PlainSlices, SnapshotSlices
from .slices import Slices

#: what `PlainSlices` cannot do
EXTRAS = ("snapshot", "collect", "until", "ttl", "time", "max_slices", "full", "on_drop")


@processor
class Slice(Group):
    """Run a copy of a query on the events of each key.

    A copy is only a state: the query is wired once. A slice begins with the first event of its key, and ends
    with the trace. It is dropped earlier if its state is the initial one again (unless `keep`), or if `until`
    or `ttl` end it; an event of its key then begins a new one.

    Parameters
    ----------
    by
        Function or expression of an event that gives its key; or `Keys` (several), `ALL` (every existing
        slice, and no new one), or None (no slice).
    inner
        A query with one input and one output.
    keep
        Keep slices whose state is the initial one: `ALL` reaches them, and they see the end of the trace.
    snapshot
        Give, after every event, an immutable mapping from keys to their last outputs.
    collect
        Give, after every event, a function of the list of all last outputs. ``sum``, ``max``, ``min``,
        ``len``, ``any``, ``all`` and a `Monoid` (a commutative one: slices have no order) are not computed
        anew each time.
    until
        Function or expression of an output: if it holds, the slice comes to its end. What it has put out
        stays in snapshots and collections.
    ttl, time
        A slice without an event of its own for longer than `ttl` comes to its end and disappears from
        snapshots. `time` tells the time of an event; without it, events are counted.
    max_slices, full, on_drop
        How many keys may be known at once (have a slice, or are shown), and what happens with one more:
        ``"error"``, or ``"drop"``: the least recently used one is forgotten without coming to its end, and
        `on_drop` is called with its key.

    Examples
    --------
    >>> from operator import add
    >>> from millstream.processors import Apply, Count, Cumulate, E, X
    >>> events = [{"user": "a", "n": 1}, {"user": "b", "n": 5}, {"user": "a", "n": 2}]
    >>> list(Slice(E.user, Apply(E.n) | Cumulate(add))(events))
    [('a', 1), ('b', 5), ('a', 3)]
    >>> list(Slice(X % 2 == 0, Cumulate(add), snapshot=True)([1, 6, 3]))[-1] == {False: 4, True: 6}
    True
    >>> list(Slice(X, Count(), collect=max)("abaca"))
    [1, 1, 2, 2, 3]
    """

    icon: ClassVar[str] = "∥"
    by: Any
    inner: Any = field(converter=as_query)
    keep: bool = field(default=False, kw_only=True)
    snapshot: bool = field(default=False, kw_only=True)
    collect: Any = field(default=None, kw_only=True)
    until: Any = field(default=None, kw_only=True)
    ttl: Any = field(default=None, kw_only=True)
    time: Any = field(default=None, kw_only=True)
    max_slices: Any = field(default=None, kw_only=True)
    full: str = field(default="error", kw_only=True)
    on_drop: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    query: Query = field(init=False)
    label: str = field(init=False, default="Slice")

    def __attrs_post_init__(self) -> None:
        run = host(self, self.inner, [])
        self._check()
        extras = {name: getattr(self, name) for name in EXTRAS}
        spreading = spread(self.inner, lambda plain: Slice(self.by, plain, keep=self.keep, **extras))
        if spreading is not None:
            self.query = spreading
        elif not run.defers and all(extras[name] is None for name in EXTRAS[1:] if name != "full"):
            kind = SnapshotSlices if self.snapshot else PlainSlices
            self.query = kind(self.by, self.inner, self.keep)
        else:
            self.query = Slices(self.by, self.inner, self.keep, **extras)

    def _check(self) -> None:
        for name in ("by", "until", "time", "on_drop"):
            value = getattr(self, name)
            if (name == "by" or value is not None) and not (isinstance(value, Expression) or callable(value)):
                fail_parameter(self, name, "a function or an expression", value)
        if self.collect is not None and not (isinstance(self.collect, Monoid) or callable(self.collect)):
            fail_parameter(self, "collect", "a function of a list or a Monoid", self.collect)
        if self.snapshot and self.collect is not None:
            fail_parameter(self, "collect", "left out with snapshot=True", self.collect)
        if self.ttl is not None:
            check_span("Slice", "ttl", self.ttl)
        elif self.time is not None:
            fail_parameter(self, "ttl", "given with time", None)
        if self.full not in ("error", "drop"):
            fail_parameter(self, "full", "'error' or 'drop'", self.full)
        if self.max_slices is not None:
            if (
                isinstance(self.max_slices, bool)
                or not isinstance(self.max_slices, int)
                or self.max_slices < 1
            ):
                fail_parameter(self, "max_slices", "an integer of at least 1", self.max_slices)
        elif self.full == "drop" or self.on_drop is not None:
            fail_parameter(self, "max_slices", "given with full and on_drop", None)
