"""Kernel of sliding windows over folds, flat in the width of the window.

The windows are computed block by block as `windows.sliding` does it, so that floats are combined in the
same order: the value at place p of a block is the fold of the previous block from p on, combined with the
fold of this block up to p. Sums of ints are differences of running sums, which is exact even where those
wrap; minima and maxima of windows that fit into a batch are found by doubling (windows of 1, 2, 4, 8...).

The state is kept as arrays: the folds of the suffixes of the finished block (`suffixes`), and the chunks of
the block under way (`back`), which are only put together when the block is complete.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from millstream.palettes.windows.sliding import SlidingFold
from millstream.palettes.windows.sums import SlidingSum
from millstream.processors import MISSING
from millstream.processors.processor import fields, is_state

from ..column import DTYPES, LARGEST, SMALLEST, Array, Column, Unfit, of_list
from ..evaluating import NotColumnar
from ..frame import of_values
from .base import Fields, Front, Kernel, Outputs, kernel_for
from .folds import PYTHON, SCANS, comparable, emptied, fold_symbol, scanned, values_of

IDEMPOTENT = ("min", "max", "&", "|")


class Held(NamedTuple):
    """The state of a sliding window; arrays are None where there is nothing yet."""

    #: folds of the suffixes of the finished block (of a sum of ints: its events), from its first event on
    suffixes: Array | None
    #: the chunks of the block under way, how many events they have, and their fold
    back: tuple[Array, ...]
    length: int
    total: Any
    due: int
    ints: bool | None
    kind: str
    #: whether something in it (a NaN, values of several types) needs Python
    odd: bool = False
    #: no int in it is larger, regardless of sign
    size: int = 0


@kernel_for(SlidingFold, SlidingSum)
class SlidingKernel(Kernel):
    """A sliding window over a fold."""

    def __init__(self, node: SlidingFold) -> None:
        self.symbol = fold_symbol(node.function)
        self.width, self.every, self.start = node.width, node.every, node.start
        self.sums, self.ends = type(node) is SlidingSum, node.partial
        #: the inlined step does not count down to each single output
        self.counts = node.every != 1 or node.partial
        self.names = [a.name for a in fields(node) if is_state(a)]
        if self.start is not MISSING and type(self.start) not in (int, float, bool):
            raise NotColumnar(f"a window that begins with {self.start!r}")

    # -- state

    def enter(self, fields: Fields) -> Held:
        named = dict(zip(self.names, fields, strict=True))
        front, back = of_list(named["front"][::-1]), of_list(named["back"])
        kinds = {c.kind for c in (front, back) if len(c)}
        kind = kinds.pop() if len(kinds) == 1 else "i" if not kinds else "o"
        ordered = kind == "f" and self.symbol in ("min", "max")
        odd = kind not in DTYPES or (ordered and not all(comparable(c.data) for c in (front, back) if len(c)))
        suffixes = None
        if len(front) or self.width == 1:
            gone = np.zeros(0 if odd else self.width - len(front), DTYPES.get(kind))
            suffixes = np.concatenate([gone, front.data])
        chunks = (back.data,) if len(back) else ()
        state = Held(suffixes, chunks, len(back), named["total"], named["due"], named.get("ints"), kind, odd)
        return state._replace(size=_size(state)) if kind == "i" else state

    def leave(self, state: Held) -> Fields:
        older = [] if state.suffixes is None else state.suffixes.tolist()
        front = older if state.odd else older[state.length + 1 :] if state.length < self.width else []
        named = {
            "front": front[::-1],
            "back": [x for chunk in state.back for x in chunk.tolist()],
            "total": state.total,
            "due": state.due,
            "ints": state.ints,
        }
        return tuple(named[name] for name in self.names)

    # -- events

    def run(self, state: Held, front: Front) -> tuple[Outputs, Held]:
        column = values_of(front[0])
        state = self._fitting(state, column)
        if not len(column):
            return (of_values(self._typed(emptied(column))),), state
        if state.ints:
            values, following = self._int_sums(state, column)
        else:
            values, following = self._folds(state, column)
        chosen, due = self._chosen(values, len(column), state.due)
        return (of_values(self._typed(self._begun(chosen, column))),), following._replace(due=due)

    @staticmethod
    def _typed(column: Column) -> Column:
        return Column(column.kind, column.data)

    def _fitting(self, state: Held, column: Column) -> Held:
        """Return the state in the type of the events, if the two fit together."""
        kind, begun = column.kind, state.suffixes is not None or state.length > 0
        if kind not in DTYPES or (kind == "b" and (self.sums or self.symbol not in "&|^")):
            raise Unfit(f"a window over events of kind {kind!r}")
        if (begun and state.kind != kind) or (state.odd and begun):
            raise Unfit("a window over events of several types, or with NaN")
        ordered = self.symbol in ("min", "max")
        if kind == "f" and (self.symbol in "&|^" or (ordered and not comparable(column.data))):
            raise Unfit("a window with NaN, or over floats that have no such operation")
        if kind == "f" and state.ints and len(column):  # no int: go on without subtracting
            state = state._replace(ints=False)
        if not len(column) or (state.kind == kind and not state.odd):
            return state
        return state._replace(kind=kind, odd=False)

    def _chosen(self, values: Array, length: int, due: int) -> tuple[Array, int]:
        """Return the values whose turn it is; those given belong to the last events, with full windows."""
        if not self.counts:
            return values, due
        first = (due or self.every) - 1
        after = first + 1 - length if length <= first else -(length - first - 1) % self.every
        return values[max(0, first - (length - len(values))) :: self.every], after

    @np.errstate(all="ignore")
    def _begun(self, values: Array, column: Column) -> Column:
        """Return the values, each combined with what windows begin with."""
        found = Column(column.kind, values)
        if self.start is MISSING or not len(values):
            return found
        if column.kind == "i" and type(self.start) is int and self.symbol == "+":
            low, high = found.bounds
            if low + self.start >= SMALLEST and high + self.start <= LARGEST:
                return Column("i", values + self.start) if self.start else found
        elif column.kind == "f" and self.symbol in "+*" and type(self.start) in (int, float):
            return Column("f", SCANS[self.symbol](float(self.start), values))
        return of_list([PYTHON[self.symbol](self.start, x) for x in values.tolist()])

    # -- sums of ints

    def _int_sums(self, state: Held, column: Column) -> tuple[Array, Held]:
        state = self._sized(state, column, LARGEST // self.width)
        width, data = self.width, column.data
        missing = width - 1 - self._known(state)  # events until the first window is full
        after = self._moved(state, data, raw=True)
        if missing >= len(data):
            return data[:0], after._replace(total=state.total + int(data.sum()))
        before = self._before(state, len(data))
        total = state.total + int(data[:missing].sum()) if missing else state.total
        values = _differences(data[missing:], np.concatenate([before, data[:missing]]) if missing else before)
        values[0] += total
        np.add.accumulate(values, out=values)
        left = len(values) - 1  # this many have left the windows
        oldest = before[left] if left < len(before) else data[len(data) - width]
        return values, after._replace(total=int(values[-1]) - int(oldest))

    def _known(self, state: Held) -> int:
        """Return how many events before this batch its first window may have."""
        return self.width - 1 if state.suffixes is not None else state.length

    @staticmethod
    def _sized(state: Held, column: Column, limit: int) -> Held:
        """Return the state with the size that its ints have together with a column, if that is allowed."""
        largest = max(map(abs, column.bounds))
        if max(largest, state.size) > limit:
            state = state._replace(size=_size(state))  # what was large may have left
        if max(largest, state.size) > limit:
            raise Unfit("a fold that may leave int64")
        return state if state.size >= largest else state._replace(size=largest)

    def _before(self, state: Held, wanted: int) -> Array:
        """Return the events from before this batch that leave its windows, oldest first."""
        older = np.empty(0, np.int64) if state.suffixes is None else state.suffixes[state.length + 1 :]
        if len(older) >= wanted:
            return older[:wanted]
        return np.concatenate([older, *state.back])[:wanted]

    # -- folds in blocks

    @np.errstate(all="ignore")
    def _folds(self, state: Held, column: Column) -> tuple[Array, Held]:
        if self.symbol == "*" and column.kind == "i":
            state = self._sized(state, column, max(1, int(LARGEST ** (1 / (self.width + 1))) - 1))
        if self.symbol == "+" and column.kind == "i":
            raise Unfit("ints after floats")
        if self.symbol in IDEMPOTENT and self.width <= len(column):
            if column.kind == "i":
                state = self._sized(state, column, LARGEST + 1)
            return self._doubled(state, column)
        data, width, scan = column.data, self.width, SCANS[self.symbol]
        first = min(len(data), width - state.length)
        total = state.total if state.length else MISSING
        prefix = scanned(self.symbol, total, Column(column.kind, data[:first])).data
        parts = [self._joined(state.suffixes, prefix, state.length + 1)]
        suffixes = state.suffixes
        blocks, rest = divmod(len(data) - first, width)
        if state.length + first == width:
            suffixes = suffix_folds(scan, np.concatenate([*state.back, data[:first]])[None, :])[0]
        if blocks:
            whole = data[first : first + blocks * width].reshape(blocks, width)
            older, newer = both_folds(scan, whole)
            found = np.empty((blocks, width), data.dtype)
            scan(suffixes[1:], newer[0, :-1], out=found[0, :-1])  # type: ignore[index]
            scan(older[:-1, 1:], newer[1:, :-1], out=found[1:, :-1])
            found[:, -1] = newer[:, -1]
            parts.append(found.ravel())
            suffixes, prefix = older[-1].copy(), newer[-1]
        if rest:
            prefix = scanned(self.symbol, MISSING, Column(column.kind, data[-rest:])).data
            parts.append(self._joined(suffixes, prefix, 1))
        after = self._moved(state, data, raw=False)._replace(suffixes=suffixes, total=prefix[-1].item())
        return np.concatenate(parts), after

    def _joined(self, suffixes: Array | None, prefix: Array, place: int) -> Array:
        """Return the values of windows that end at `place` and after it; only full ones."""
        whole = place + len(prefix) - 1 == self.width
        if suffixes is None:
            return prefix[-1:] if whole else prefix[:0]
        older = suffixes[place : place + len(prefix)]
        found: Array = SCANS[self.symbol](older, prefix[: len(older)])
        return np.concatenate([found, prefix[-1:]]) if whole else found

    def _doubled(self, state: Held, column: Column) -> tuple[Array, Held]:
        """Return the folds of all windows by doubling; suffix folds stand for the events they begin with."""
        data, width, scan = column.data, self.width, SCANS[self.symbol]
        older = np.empty(0, data.dtype) if state.suffixes is None else state.suffixes[state.length + 1 :]
        known = np.concatenate([older, *state.back, data])[-(len(data) + width - 1) :]
        folds, size = known.astype(self._narrow(state, column), copy=False), 1
        while size * 2 <= width:
            folds = scan(folds[:-size], folds[size:])
            size *= 2
        if size < width:
            folds = scan(folds[: len(known) - width + 1], folds[width - size :])
        after = self._moved(state, data, raw=False)
        if state.length + len(data) >= width:
            block = self._block(state, data, after.length)
            after = after._replace(suffixes=suffix_folds(scan, block[None, :])[0])
        tail = np.concatenate(after.back) if after.back else block
        return folds.astype(data.dtype, copy=False), after._replace(total=scan.reduce(tail).item())

    @staticmethod
    def _narrow(state: Held, column: Column) -> Any:
        """Return the type in which ints can be compared fastest."""
        if column.kind != "i":
            return column.data.dtype
        return next((t for t in (np.int16, np.int32) if state.size <= np.iinfo(t).max), np.int64)

    def _moved(self, state: Held, data: Array, raw: bool) -> Held:
        """Return the state with the events added to the blocks; `raw`: events stand for the suffixes."""
        length, width = state.length + len(data), self.width
        if length < width:
            return state._replace(back=(*state.back, data), length=length)
        over = length % width
        back = (data[len(data) - over :].copy(),) if over else ()
        if not raw:
            return state._replace(back=back, length=over)
        return state._replace(back=back, length=over, suffixes=self._block(state, data, over))

    def _block(self, state: Held, data: Array, over: int) -> Array:
        """Return the events of the last block that is complete, before the last `over` ones."""
        begin = len(data) - over - self.width
        if begin >= 0:
            return data[begin : begin + self.width].copy()
        found: Array = np.concatenate([*state.back, data])[-(over + self.width) :][: self.width]
        return found


def _differences(data: Array, leaving: Array) -> Array:
    """Return the events, each without the one that left the window before it came; it may be one of them."""
    found, early = np.empty_like(data), min(len(leaving), len(data) - 1)
    found[0] = data[0]
    np.subtract(data[1 : early + 1], leaving[:early], out=found[1 : early + 1])
    np.subtract(data[early + 1 :], data[: len(data) - 1 - early], out=found[early + 1 :])
    return found


def both_folds(scan: Any, blocks: Array) -> tuple[Array, Array]:
    """Return the folds of the suffixes and of the prefixes of each row."""
    count, width = blocks.shape
    if scan is not np.add or blocks.dtype != np.float64 or count >= 6 * width:
        return suffix_folds(scan, blocks), prefix_folds(scan, blocks)
    pairs = np.empty(blocks.shape, np.complex128)  # two sums at once: each waits for its own last one only
    pairs.real, pairs.imag = blocks, blocks[:, ::-1]
    np.add.accumulate(pairs, axis=1, out=pairs)
    return pairs.imag[:, ::-1], pairs.real


def suffix_folds(scan: Any, blocks: Array) -> Array:
    """Return the folds of the suffixes of each row."""
    return prefix_folds(scan, blocks[:, ::-1])[:, ::-1]


def prefix_folds(scan: Any, blocks: Array) -> Array:
    """Return the folds of the prefixes of each row, from left to right."""
    count, width = blocks.shape
    if count < 6 * width:
        found: Array = scan.accumulate(blocks, axis=1)
        return found
    columns = blocks.T.copy()  # many short rows: one operation for each place instead of one for each row
    for j in range(1, width):
        scan(columns[j - 1], columns[j], out=columns[j])
    return columns.T


def _size(state: Held) -> int:
    arrays = [a for a in (*state.back, state.suffixes) if a is not None and len(a)]
    return max((max(abs(int(a.min())), abs(int(a.max()))) for a in arrays), default=0)
