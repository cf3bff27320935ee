"""Brute force: filter the trace by key, run the inner query alone on each part, and merge by position."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from millstream.palettes.slicer import ALL, Keys


def parts(trace: list[Any], by: Any) -> dict[Any, list[tuple[int, Any]]]:
    """Return the positions and events of each key, in the order of its first event."""
    found: dict[Any, list[tuple[int, Any]]] = {}
    for position, event in enumerate(trace):
        key = by(event)
        if key is ALL:
            keys = list(found)
        else:
            keys = [] if key is None else list(dict.fromkeys(key)) if isinstance(key, Keys) else [key]
        for k in keys:
            found.setdefault(k, []).append((position, event))
    return found


def alone(inner: Any, part: list[tuple[int, Any]]) -> list[tuple[float, Any]]:
    """Return the outputs of a query on some events, each with the position that caused it."""
    out: list[Any] = []
    found: list[tuple[float, Any]] = []
    run = inner.into(out)
    for position, event in part:
        run.push(event)
        found += [(position, y) for y in out]
        out.clear()
    run.end()
    return found + [(float("inf"), y) for y in out]


def slices(inner: Any, trace: list[Any], by: Any) -> list[tuple[Any, Any]]:
    """Return (key, output) for every output of every part, sorted by position."""
    found = [(p, k, y) for k, part in parts(trace, by).items() for p, y in alone(inner, part)]
    found.sort(key=lambda entry: entry[0])
    order: dict[Any, list[Any]] = {}
    for position, event in enumerate(trace):
        key = by(event)
        order[position] = list(dict.fromkeys(key)) if isinstance(key, Keys) else []
    found.sort(key=lambda e: (e[0], order[e[0]].index(e[1]) if e[1] in order.get(e[0], []) else 0))
    return [(k, y) for _, k, y in found]


def snapshots(pairs_at: list[list[tuple[Any, Any]]]) -> list[dict[Any, Any]]:
    """Return the last output of every key after each event, given the outputs of each event."""
    shown: dict[Any, Any] = {}
    out = []
    for pairs in pairs_at:
        shown = {**shown, **dict(pairs)}
        out.append(shown)
    return out


@define
class Lives:
    """Slices by definition: each key has the events of its life so far, and everything is run anew for it.

    `pairs` are all outputs, `shown` what is shown after each event, `dropped` the keys without room.
    """

    inner: Any
    shows: bool
    until: Callable[[Any], bool] = lambda y: False
    ttl: int | None = None
    time: Callable[[Any], int] | None = None
    max_slices: int | None = None
    pairs: list[tuple[Any, Any]] = field(factory=list)
    shown: list[dict[Any, Any]] = field(factory=list)
    dropped: list[Any] = field(factory=list)
    _lives: dict[Any, list[tuple[int, Any]]] = field(factory=dict)
    _last: dict[Any, Any] = field(factory=dict)
    #: the time of each key's last own event, the least recent first
    _used: dict[Any, int] = field(factory=dict)

    def run(self, trace: list[Any], by: Callable[[Any], Any]) -> None:
        """Take a trace and come to its end."""
        for position, x in enumerate(trace):
            now = position if self.time is None else max(map(self.time, trace[: position + 1]))
            self._expire(now)
            key = by(x)
            keys = list(self._lives) if key is ALL else key if isinstance(key, Keys) else [key]
            for k in dict.fromkeys(keys):
                if k is not None:
                    self._give(k, position, x, None if key is ALL else now)
            self.shown.append(dict(self._last))
        before = len(self.pairs)
        for k in list(self._lives):
            self._end(k)
        if len(self.pairs) > before:
            self.shown.append(dict(self._last))

    def known(self) -> set[Any]:
        """Return the keys that have a slice, or are shown."""
        return set(self._lives) | set(self._last)

    def _give(self, key: Any, position: int, x: Any, now: int | None) -> None:
        if key not in self.known() and len(self.known()) == self.max_slices:
            oldest = next(k for k in self._used if k in self.known())
            self.dropped.append(oldest)
            self._lives.pop(oldest, None)
            self._last.pop(oldest, None)
        life = self._lives.setdefault(key, [])
        life.append((position, x))
        out = [y for p, y in alone(self.inner, life) if p == position]
        self._put(key, out)
        if any(map(self.until, out)):
            self._end(key)
        if now is not None:
            self._used.pop(key, None)
            self._used[key] = now

    def _end(self, key: Any) -> None:
        life = self._lives.pop(key)
        self._put(key, [y for p, y in alone(self.inner, life) if p == float("inf")])

    def _put(self, key: Any, out: list[Any]) -> None:
        self.pairs += [(key, y) for y in out]
        if out and self.shows:
            self._last[key] = out[-1]

    def _expire(self, now: int) -> None:
        for key in [k for k in self._used if k in self.known()]:
            if self.ttl is not None and now - self._used[key] > self.ttl:
                if key in self._lives:
                    self._end(key)
                self._last.pop(key, None)
