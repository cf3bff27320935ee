"""Kernel of slices: one fold for each key.

The rows of a batch are sorted by key, stably; what each key has so far is put in front of its rows; and the
folds are taken back to the order of the rows. Running numbers and sums of ints need one pass over the sorted
rows. Other folds go by rounds, the first row of every key, then the second of those that have one, so that
each key's values are combined one after the other, as Python would.

What is known of the keys lives in a `Store`, which grows in place. A batch leaves what it changes beside it,
and the next batch enters that: one that is given up because another kernel was unfit leaves nothing behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve, frozen

from millstream.palettes.slicer.fast import PlainSlices, SnapshotSlices
from millstream.palettes.slicer.slices import Slices
from millstream.processors import MISSING, Apply, Count, Cumulate, Filter, Passthrough
from millstream.processors.graph import flatten
from millstream.processors.processor import Processor

from ..column import DTYPES, LARGEST, Array, Column, Unfit, of_list
from ..comparing import truth
from ..evaluating import NotColumnar, compiled, event
from ..frame import Frame, of_pairs
from ..loops import loops, tidy
from .base import Fields, Front, Kernel, Outputs, kernel_for
from .folds import SCANS, comparable, fold_symbol, values_of
from .keys import Store, numbered
from .simple import as_frame


@frozen
class Keyed:
    """The state of slices: the store, how many of its keys count, and what is to be entered into it."""

    store: Store
    known: int = 0
    places: Array | None = None
    changed: Array | None = None

    def __copy__(self) -> Keyed:
        return evolve(self, store=self.store.__copy__())


@kernel_for(PlainSlices)
class SliceKernel(Kernel):
    """Functions around one fold, for each key."""

    ends = False

    def __init__(self, node: PlainSlices) -> None:
        self.by = compiled(node.by)
        self.keep = node.keep
        nodes = _line(node.inner)
        at = next((k for k, n in enumerate(nodes) if isinstance(n, (Count, Cumulate))), None)
        if at is None:
            raise NotColumnar("a slice of a query without a fold")
        fold: Any = nodes[at]
        self.symbol = None if isinstance(fold, Count) else fold_symbol(fold.function)
        self.start = fold.start if isinstance(fold, Cumulate) else 0
        if node.keep and any(isinstance(n, Filter) for n in nodes[:at]):
            raise NotColumnar("keep=True and a filter before the fold: keys without a value")
        self.before, self.after = ([_step(n) for n in part] for part in (nodes[:at], nodes[at + 1 :]))

    def enter(self, fields: Fields) -> Keyed:
        (states,) = fields
        column = of_list(list(states.values()))
        if states and (column.kind not in DTYPES or column.valid is not None):
            return Keyed(Store(dict(states)), -1)
        values = column.data if states else np.zeros(0, np.int64)
        return Keyed(Store({key: k for k, key in enumerate(states)}, values), len(states))

    def leave(self, state: Keyed) -> Fields:
        if state.known < 0:
            return (dict(state.store.numbers),)
        state.store.commit(state.known, state.places, state.changed)
        values = state.store.values[: state.known].tolist()
        dropped = MISSING if self.keep or self.symbol is None else self.start
        return ({k: v for k, v in zip(state.store.numbers, values, strict=True) if v != dropped},)

    def run(self, state: Keyed, front: Front) -> tuple[Outputs, Keyed]:
        if state.known < 0:
            raise Unfit("slices that fold values of several types")
        frame, keys = self._kept(self.before, *self._keyed(front[0]))
        state.store.commit(state.known, state.places, state.changed)
        if self.symbol is None:
            column = Column("i", np.ones(frame.length, np.int64), bounds=(1, 1))
        else:
            column = values_of(frame)
        numbers, known = numbered(keys, state.store)
        found, places, changed = self._folded(state, numbers, known, column)
        frame, keys = self._kept(self.after, as_frame(found, len(found)), keys)
        value = event(frame)
        if not isinstance(value, Column):
            raise Unfit("slices that give rows")
        return (of_pairs(keys, value),), Keyed(state.store, known, places, changed)

    def _keyed(self, frame: Frame) -> tuple[Frame, Column]:
        """Return the events that have a key, and their keys."""
        keys = self.by((frame,))
        if not isinstance(keys, Column) or keys.kind in "ao":
            raise Unfit("keys that are no plain values")
        if keys.kind == "f" and np.isnan(keys.data).any():
            raise Unfit("a key is NaN, which equals no other")
        if keys.complete:
            return frame, keys
        places = keys.presence.nonzero()[0]
        return frame.take(places), keys.take(places)

    @staticmethod
    def _kept(steps: list[Any], frame: Frame, keys: Column) -> tuple[Frame, Column]:
        """Return events and keys after the functions and filters of the inner query."""
        for keeps, function in steps:
            value = function((frame,))
            if not keeps:
                frame = as_frame(value, frame.length)
                continue
            places = truth(value, frame.length).nonzero()[0]
            frame, keys = frame.take(places), keys.take(places)
        return frame, keys

    def _folded(
        self, state: Keyed, numbers: Array, known: int, column: Column
    ) -> tuple[Column, Array | None, Array | None]:
        """Return the folds in the order of events, the keys that have changed, and what they have now."""
        kind = "i" if column.kind == "b" and self.symbol in ("+", "*", None) else column.kind
        length = len(numbers)
        if kind not in DTYPES or (kind == "b" and self.symbol not in ("&", "|", "^")):
            raise Unfit("slices that fold something else than numbers")
        if not length:
            return Column(kind, np.zeros(0, DTYPES[kind])), None, None
        data = self._fitting(state, column, kind)
        compiled = loops(length) if kind != "b" and self.symbol in (None, "+", "*", "min", "max") else None
        if compiled is not None:
            return self._looped(compiled, state, numbers, known, data)
        order, begins = _sorted(numbers, known)
        owners = numbers.take(order.take(begins))
        begun = owners < state.known
        before = state.store.values.take(np.minimum(owners, max(0, state.known - 1))) if state.known else None
        found = self._scanned(data.take(order), begins, begun, before)
        result = np.empty_like(found)
        result[order] = found
        ends = np.append(begins[1:], length) - 1
        return Column(kind, result), owners, found.take(ends)

    def _looped(
        self, compiled: Any, state: Keyed, numbers: Array, known: int, data: Array
    ) -> tuple[Column, Array, Array]:
        """Return what `_folded` does, by one compiled loop."""
        store, begins = state.store, self.start is not MISSING
        if len(store.scratch) < known:
            store.scratch = np.full(2 * known, -1, np.int32)
        values = store.values if store.values.dtype == data.dtype else np.zeros(0, data.dtype)
        owners, changed, found = np.empty(len(data), np.int32), np.empty_like(data), np.empty_like(data)
        many = compiled.keyed(
            compiled.OPERATIONS[self.symbol or "+"], numbers, tidy(data), state.known, values,
            begins, self.start if begins else 0, store.scratch, owners, changed, found,
        )  # fmt: skip
        return Column("i" if data.dtype == np.int64 else "f", found), owners[:many], changed[:many]

    def _fitting(self, state: Keyed, column: Column, kind: str) -> Array:
        """Return the data, if all folds with what is known of the keys can be computed by NumPy."""
        known, data = state.store.values[: state.known], column.data.astype(DTYPES[kind], copy=False)
        types = {known.dtype} if len(known) else set()
        if self.start is not MISSING:
            types.add(np.array(self.start).dtype)
        if types - {data.dtype}:
            raise Unfit("slices that fold values of several types")
        if kind == "f" and not (self.symbol in ("+", "*") or self._ordered(data, known)):
            raise Unfit("slices with NaN, or of floats that have no such operation")
        if kind == "i" and self.symbol in ("+", "*", None):
            size = max(1, *map(abs, Column("i", data).bounds), *map(abs, Column("i", known).bounds))
            size = max(size, abs(self.start) if isinstance(self.start, int) else 1)
            grown = size * (len(data) + 1) if self.symbol != "*" else (LARGEST + 1 if size > 1 else 1)
            if grown > LARGEST:
                raise Unfit("a fold that may leave int64")
        return data  # type: ignore[no-any-return]

    def _ordered(self, data: Array, known: Array) -> bool:
        return self.symbol in ("min", "max") and comparable(np.append(data, known))

    @np.errstate(all="ignore")
    def _scanned(self, data: Array, begins: Array, begun: Array, before: Array | None) -> Array:
        """Return the folds of sorted data, each key's going on from what it had before."""
        counts = np.diff(np.append(begins, len(data)))
        fresh: Any = None if self.start is MISSING else self.start
        if data.dtype == np.int64 and self.symbol in ("+", None):
            sums = data.cumsum()
            bases = np.zeros(len(begins), np.int64)
            bases[1:] = -sums.take(begins[1:] - 1)
            bases += np.where(begun, 0 if before is None else before, fresh or 0)
            return sums + np.repeat(bases, counts)
        scan = SCANS[self.symbol or "+"]
        found = data.copy()
        old = begun if fresh is None else np.ones(len(begins), bool)
        if old.any():
            value = np.where(begun, 0 if before is None else before, 0 if fresh is None else fresh)
            firsts = begins[old]
            found[firsts] = scan(value[old].astype(data.dtype), data.take(firsts))
        _rounds(scan, found, begins, counts)
        return found


def _rounds(scan: Any, data: Array, begins: Array, counts: Array) -> None:
    """Accumulate each stretch of an array in place: long stretches one by one, the others all together."""
    long = counts > 256
    for begin, count in zip(begins[long].tolist(), counts[long].tolist(), strict=True):
        scan.accumulate(data[begin : begin + count], out=data[begin : begin + count])
    begins, counts = begins[~long], counts[~long]
    by_length = np.argsort(-counts, kind="stable")
    begins, counts = begins[by_length], counts[by_length]
    active = len(begins) - np.searchsorted(counts[::-1], np.arange(2, (counts[0] if len(counts) else 0) + 1))
    for k, many in enumerate(active.tolist(), 1):
        places = begins[:many] + k
        data[places] = scan(data.take(places - 1), data.take(places))


def _sorted(numbers: Array, known: int) -> tuple[Array, Array]:
    """Return the order of rows by key, and where each key begins in it."""
    small = numbers.astype(np.uint16) if known <= 1 << 16 else numbers
    order = np.argsort(small, kind="stable")  # by radix for 16 bits
    sorted_numbers = small.take(order)
    changes = np.flatnonzero(sorted_numbers[1:] != sorted_numbers[:-1]) + 1
    return order, np.concatenate([np.zeros(1, np.intp), changes])


def _line(inner: Any) -> list[Processor]:
    """Return the processors of an inner query that is a line of functions around one fold."""
    graph, _ = flatten(inner.graph)
    steps = {(e.source[0], e.target[0]) for e in graph.edges}
    if steps != {(k, k + 1) for k in range(len(graph.nodes) - 1)}:
        raise NotColumnar("a slice of a query that is not a line of processors")
    folds = [n for n in graph.nodes if isinstance(n, (Count, Cumulate))]
    odd = [n for n in graph.nodes if type(n) not in (Count, Cumulate, Apply, Filter, Passthrough)]
    if odd or len(folds) > 1:
        named = repr(odd[0]) if odd else "a second fold"
        raise NotColumnar(f"a slice of more than functions around one fold: {named}")
    return list(graph.nodes)


def _step(node: Any) -> tuple[bool, Any]:
    """Return whether a processor filters, and its function."""
    if isinstance(node, Filter):
        if node.condition is None:
            raise NotColumnar("a filter with two inputs inside a slice")
        return True, compiled(node.condition)
    if isinstance(node, Apply):
        return False, compiled(node.function)
    return False, lambda front: front[0]


@kernel_for(SnapshotSlices, Slices)
def shown(node: Any) -> Kernel:
    """Refuse slices that are shown together or come to an end."""
    raise NotColumnar(
        "slices with snapshot, collect, until, ttl or max_slices need the order of single events"
    )
