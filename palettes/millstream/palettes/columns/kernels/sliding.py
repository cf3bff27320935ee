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
from ..loops import loops, room, tidy
from .base import Fields, Front, Kernel, Outputs, kernel_for
from .folds import PYTHON, SCANS, accumulated, comparable, emptied, fold_symbol, scanned, values_of

IDEMPOTENT = ("min", "max", "&", "|")
NARROW = 32


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
        values, following = (self._int_sums if state.ints else self._folds)(state, column)
        if self.counts:
            values, due = self._chosen(values, len(column), state.due)
            following = following._replace(due=due)
        if self.start is MISSING:
            return (of_values(Column(column.kind, values)),), following
        return (of_values(self._typed(self._begun(values, column))),), following

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
        first = (due or self.every) - 1
        after = first + 1 - length if length <= first else -(length - first - 1) % self.every
        return values[max(0, first - (length - len(values))) :: self.every], after

    @np.errstate(all="ignore")
    def _begun(self, values: Array, column: Column) -> Column:
        """Return the values, each combined with what windows begin with."""
        found = Column(column.kind, values)
        if not len(values):
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
        size = self._sized(state, column, LARGEST // self.width)
        width, data = self.width, column.data
        # events until the first window is full
        missing = 0 if state.suffixes is not None else width - 1 - state.length
        if missing >= len(data):
            values, total = data[:0], state.total + int(data.sum())
        else:
            before = self._before(state, len(data))
            total = state.total + int(data[:missing].sum()) if missing else state.total
            leaving = np.concatenate([before, data[:missing]]) if missing else before
            values = self._sums(data[missing:], leaving, total)
            left = len(values) - 1  # this many have left the windows
            total = int(values[-1]) - int(before[left] if left < len(before) else data[len(data) - width])
        back, length = self._moved(state, data)
        suffixes = state.suffixes
        if state.length + len(data) >= width:
            suffixes = self._block(state, data, length)
        return values, Held(suffixes, back, length, total, state.due, True, "i", False, size)

    @staticmethod
    def _sums(data: Array, leaving: Array, total: int) -> Array:
        """Return the sums of windows that had `total` before, given the events that leave them first."""
        compiled, found = loops(len(data)), room(len(data), np.int64)
        if compiled is not None:
            compiled.sums(tidy(data), leaving, total, found)
            return found
        early, found[0] = min(len(leaving), len(data) - 1), data[0] + total
        np.subtract(data[1 : early + 1], leaving[:early], out=found[1 : early + 1])
        np.subtract(data[early + 1 :], data[: len(data) - 1 - early], out=found[early + 1 :])
        np.add.accumulate(found, out=found)
        return found

    @staticmethod
    def _sized(state: Held, column: Column, limit: int) -> int:
        """Return the size that the ints of a state have together with a column, if that is allowed."""
        low, high = column.bounds
        size = max(-low, high, state.size)
        if size > limit:
            size = max(-low, high, _size(state))  # what was large may have left
        if size > limit:
            raise Unfit("a fold that may leave int64")
        return size

    def _before(self, state: Held, wanted: int) -> Array:
        """Return the events from before this batch that leave its windows, oldest first."""
        older = np.empty(0, np.int64) if state.suffixes is None else state.suffixes[state.length + 1 :]
        if len(older) >= wanted or not state.back:
            return older[:wanted]
        return np.concatenate([older, *state.back])[:wanted]

    # -- folds in blocks

    @np.errstate(all="ignore")
    def _folds(self, state: Held, column: Column) -> tuple[Array, Held]:
        if self.symbol == "*" and column.kind == "i":
            self._sized(state, column, max(1, int(LARGEST ** (1 / (self.width + 1))) - 1))
        if self.symbol == "+" and column.kind == "i":
            raise Unfit("ints after floats")
        size = self._sized(state, column, LARGEST + 1) if column.kind == "i" else 0
        if self.width <= len(column):
            compiled = self._compiled(column)
            if compiled is not None:
                return self._looped(compiled, state, column, size)
            if self.symbol in IDEMPOTENT:
                return self._doubled(state, column, size)
        data, width, suffixes = column.data, self.width, state.suffixes
        found, full = np.empty_like(data), 0 if suffixes is not None else width - 1 - state.length
        first = min(len(data), width - state.length)
        last = len(data) - (len(data) - first) % width
        total = self._begin(state.total if state.length else MISSING, data[:first], state, found)
        if state.length + first == width:
            block = np.concatenate([*state.back, data[:first]])
            suffixes = accumulated(self.symbol, block[::-1])[::-1]
        if last > first:
            suffixes = self._blocks(data[first:last], suffixes, found[first:last])
            total = found[last - 1].item()
        back, length = self._moved(state, data)
        after = Held(suffixes, back, length, total, state.due, state.ints, column.kind, False, size)
        if last < len(data):
            total = self._begin(MISSING, data[last:], after._replace(length=0), found[last:])
            after = after._replace(total=total)
        return found[full:], after

    def _compiled(self, column: Column) -> Any:
        """Return the compiled loops, if they know this fold of such values."""
        # a few maxima of neighbours are found faster by NumPy, without branches
        ints = ("min", "max") if self.width > NARROW else ()
        known = {"f": ("+", "*", "min", "max"), "i": ints}.get(column.kind, ())
        return loops(len(column)) if self.symbol in known else None

    def _looped(self, compiled: Any, state: Held, column: Column, size: int) -> tuple[Array, Held]:
        """Return the folds of all windows by one compiled loop."""
        data, width, total = tidy(column.data), self.width, state.total if state.length else 0
        full = 0 if state.suffixes is not None else width - 1 - state.length
        older = np.zeros(width, data.dtype) if state.suffixes is None else state.suffixes[::-1].copy()
        begun = np.concatenate(state.back) if state.back else data[:0]
        found, newer = room(len(data), data.dtype), np.empty_like(older)
        total = compiled.windows(compiled.OPERATIONS[self.symbol], data, begun, total, older, newer, found)
        back, length = self._moved(state, data)
        suffixes = (newer if (state.length + len(data)) // width % 2 else older)[::-1]
        total = float(total) if column.kind == "f" else int(total)
        after = Held(suffixes, back, length, total, state.due, state.ints, column.kind, False, size)
        return found[full:], after

    def _begin(self, total: Any, data: Array, state: Held, found: Array) -> Any:
        """Find the folds of windows that end in a block's first events; return the fold of those events."""
        prefix = scanned(self.symbol, total, Column(state.kind, data)).data
        open_ones = min(len(data), self.width - 1 - state.length)
        found[open_ones : len(data)] = prefix[open_ones:]
        if state.suffixes is not None:
            older = state.suffixes[state.length + 1 : state.length + 1 + open_ones]
            SCANS[self.symbol](older, prefix[:open_ones], out=found[:open_ones])
        return prefix[-1].item()

    def _blocks(self, data: Array, suffixes: Any, found: Array) -> Array:
        """Find the folds of windows that end in whole blocks; return those of the last one's suffixes."""
        scan, blocks = SCANS[self.symbol], found.reshape(-1, self.width)
        ends, begins = both_folds(scan, data.reshape(blocks.shape))
        scan(suffixes[1:], begins[0, :-1], out=blocks[0, :-1])
        scan(ends[:-1, 1:], begins[1:, :-1], out=blocks[1:, :-1])
        blocks[:, -1] = begins[:, -1]
        suffix: Array = ends[-1].copy()
        return suffix

    def _doubled(self, state: Held, column: Column, size: int) -> tuple[Array, Held]:
        """Return the folds of all windows by doubling; suffix folds stand for the events they begin with."""
        data, width, scan = column.data, self.width, SCANS[self.symbol]
        older = np.empty(0, data.dtype) if state.suffixes is None else state.suffixes[state.length + 1 :]
        known = np.concatenate([older, *state.back, data])[-(len(data) + width - 1) :]
        folds, reach = known.astype(_narrow(size, data.dtype), copy=False), 1
        while reach * 2 <= width:
            folds = scan(folds[:-reach], folds[reach:])
            reach *= 2
        if reach < width:
            folds = scan(folds[: len(known) - width + 1], folds[width - reach :])
        back, length = self._moved(state, data)
        suffixes = suffix_folds(scan, self._block(state, data, length)[None, :])[0]
        total = (scan.reduce(back[0]) if back else suffixes[0]).item()
        after = Held(suffixes, back, length, total, state.due, state.ints, column.kind, False, size)
        return folds.astype(data.dtype, copy=False), after

    def _moved(self, state: Held, data: Array) -> tuple[tuple[Array, ...], int]:
        """Return the chunks of the block under way after a batch, and how many events they have."""
        length = state.length + len(data)
        if length < self.width:
            return (*state.back, data), length
        over = length % self.width
        return ((data[len(data) - over :].copy(),) if over else ()), over

    def _block(self, state: Held, data: Array, over: int) -> Array:
        """Return the events of the last block that is complete, before the last `over` ones."""
        begin = len(data) - over - self.width
        if begin >= 0:
            return data[begin : begin + self.width].copy()
        found: Array = np.concatenate([*state.back, data])[-(over + self.width) :][: self.width]
        return found


def _narrow(size: int, dtype: Any) -> Any:
    """Return the type in which values can be compared fastest; ints are not larger than `size`."""
    if dtype != np.int64:
        return dtype
    return np.int16 if size < 1 << 15 else np.int32 if size < 1 << 31 else np.int64


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
