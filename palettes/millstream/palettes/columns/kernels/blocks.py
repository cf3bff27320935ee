"""Kernel of windows that do not overlap: one fold for each block of events."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream.palettes.windows.counted import Blocks, Sliding
from millstream.palettes.windows.pending import Pending
from millstream.palettes.windows.sliding import BlockFold
from millstream.processors import MISSING

from ..column import DTYPES, LARGEST, Column, of_list
from ..evaluating import NotColumnar
from ..frame import of_values
from .base import Fields, Front, Kernel, Outputs, kernel_for
from .folds import SCANS, comparable, emptied, fold_symbol, scanned, values_of
from .sliding import prefix_folds


@kernel_for(BlockFold)
class BlockKernel(Kernel):
    """One fold for each block of events."""

    def __init__(self, node: BlockFold) -> None:
        self.symbol = fold_symbol(node.function)
        self.width, self.every, self.start = node.width, node.every, node.start
        self.ends = node.partial

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        column, (total, count) = values_of(front[0]), state
        if column.kind == "b" and self.symbol in "+*":
            column = Column("i", column.data.astype(np.int64), bounds=(0, 1))
        length = len(column)
        first = min(length, self.every - count)
        inside = min(first, max(0, self.width - count))
        found: list[Any] = []
        if inside:
            total = self._folded(self.start if count == 0 else total, column.slice(0, inside))
            if count + inside == self.width:
                found.append(total)
        blocks, rest = divmod(length - first, self.every)
        whole = self._blocks(column, first, blocks) if blocks else None
        if whole is not None:
            total = whole.at(blocks - 1)
        if rest:
            total = self._folded(
                self.start, column.slice(length - rest, length - rest + min(rest, self.width))
            )
            if rest >= self.width:
                return self._given(column, found, whole, [total]), (total, (count + length) % self.every)
        return self._given(column, found, whole, []), (total, (count + length) % self.every)

    def _folded(self, value: Any, column: Column) -> Any:
        if column.kind == "i" and self.symbol == "+" and (value is MISSING or type(value) is int):
            return int(column.data.sum(dtype=object) if _wide(column) else column.data.sum()) + (
                0 if value is MISSING else value
            )
        return scanned(self.symbol, value, column).at(len(column) - 1)

    @np.errstate(all="ignore")
    def _blocks(self, column: Column, first: int, blocks: int) -> Column:
        """Return the folds of whole blocks."""
        data = column.data if column.kind in DTYPES else None
        plain = self.start is MISSING or (type(self.start) is int and self.start == 0 and self.symbol == "+")
        exact = column.kind == "i" and self.symbol in ("+", "min", "max", "&", "|", "^") and not _wide(column)
        exact = exact and (self.symbol != "+" or max(map(abs, column.bounds)) * self.width <= LARGEST)
        floats = column.kind == "f" and (self.symbol in "+*" or comparable(column.data))
        if data is None or not plain or not (exact or floats):
            cut = (
                column.slice(first + k * self.every, first + k * self.every + self.width)
                for k in range(blocks)
            )
            return of_list([self._folded(self.start, c) for c in cut])
        rows = data[first : first + blocks * self.every].reshape(blocks, self.every)[:, : self.width]
        scan = SCANS[self.symbol]
        if exact:
            return Column("i", scan.reduce(rows, axis=1))
        begun = 0.0 + rows[:, :1] if self.start is not MISSING else rows[:, :1]
        return Column("f", prefix_folds(scan, np.concatenate([begun, rows[:, 1:]], axis=1))[:, -1].copy())

    @staticmethod
    def _given(column: Column, before: list[Any], whole: Column | None, after: list[Any]) -> Outputs:
        if whole is None or before or after:
            listed = [*before, *([] if whole is None else whole.pylist()), *after]
            return (of_values(of_list(listed) if listed else emptied(column)),)
        return (of_values(whole),)


def _wide(column: Column) -> bool:
    return max(map(abs, column.bounds)) * max(1, len(column)) > LARGEST


@kernel_for(Sliding, Pending, Blocks)
def replayed(node: Any) -> Kernel:
    """Refuse a window over anything but a fold."""
    raise NotColumnar(
        "a window over a query that is not one of the known folds runs that query again and again"
    )
