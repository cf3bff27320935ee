"""Kernels of folds: Cumulate and Count, and the scans that windows and slices share.

Floats are added in the order of events, as Python would, so sums agree to the last bit. Ints are scanned in
int64 if their bounds allow it. Everything else (texts, mixed types, sums beyond int64, maxima with NaN) is
accumulated by Python.
"""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from millstream.processors import MISSING, Count, Cumulate
from millstream.processors.describing import describe
from millstream.processors.expressions import Binary, Expression, Input

from ..arithmetic import refuse_nulls
from ..column import LARGEST, SMALLEST, Array, Column, Unfit, of_list
from ..evaluating import NotColumnar, event
from ..frame import Frame, of_values
from ..loops import loops, room, tidy
from .base import Front, Kernel, Outputs, kernel_for

#: functions of two arguments that are folds
FOLDS = {
    operator.add: "+", operator.mul: "*", operator.and_: "&", operator.or_: "|", operator.xor: "^",
    min: "min", max: "max",
}  # fmt: skip
SCANS: dict[str, Any] = {
    "+": np.add, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip
PYTHON: dict[str, Any] = {symbol: function for function, symbol in FOLDS.items()}


def fold_symbol(function: Any) -> str:
    """Return the symbol of a known fold.

    >>> from millstream.processors import X, Y
    >>> fold_symbol(operator.add), fold_symbol(X & Y), fold_symbol(max)
    ('+', '&', 'max')
    """
    if isinstance(function, Expression):
        match function:
            case Binary(symbol, Input(0, _), Input(1, _)) if symbol in SCANS:
                return symbol
    else:
        try:
            if function in FOLDS:
                return FOLDS[function]
        except TypeError:
            pass
    raise NotColumnar(
        f"{describe(function)} is not one of the known folds (add, mul, min, max, and_, or_, xor)"
    )


def values_of(frame: Frame) -> Column:
    """Return the events of a frame, which must be plain values without nulls."""
    value = event(frame)
    if not isinstance(value, Column):
        raise Unfit("a fold of rows")
    refuse_nulls(value)
    return value


def accumulated(symbol: str, data: Array) -> Array:
    """Return the folds of all beginnings of some data. NumPy waits for memory between any two of them."""
    compiled = loops(len(data)) if data.dtype == np.float64 or symbol in ("min", "max") else None
    if compiled is None or not len(data) or data.dtype == np.bool_:
        return SCANS[symbol].accumulate(data)  # type: ignore[no-any-return]
    found = room(len(data), data.dtype)
    compiled.accumulate(compiled.OPERATIONS[symbol], tidy(data), found)
    return found


def scanned(symbol: str, value: Any, column: Column) -> Column:
    """Return all values of a fold over a column that begins with a Python value, or with nothing (MISSING).

    >>> scanned("+", 10, of_list([1, 2, 3])).pylist()
    [11, 13, 16]
    """
    if column.kind == "b" and symbol in ("+", "*") and type(value) is not bool:
        column = Column("i", column.data.astype(np.int64), bounds=(0, 1))
    if not len(column):
        return emptied(column)
    if column.kind == "i" and (value is MISSING or type(value) is int):
        found = _ints(symbol, value, column)
    elif (
        column.kind == "f"
        and symbol in ("+", "*", "min", "max")
        and type(value) in (float, int, MISSING.__class__)
    ):
        found = _floats(symbol, value, column.data)
    elif column.kind == "b" and symbol in "&|^" and (value is MISSING or type(value) is bool):
        found = Column("b", SCANS[symbol].accumulate(_begun(symbol, value, column.data)))
    else:
        found = None
    return _by_python(symbol, value, column) if found is None else found


def emptied(column: Column) -> Column:
    """Return a column without values of the type that results computed from this one have."""
    if column.kind == "s":
        return Column("s", pa.array([], pa.string()))
    return Column(column.kind, column.data[:0], type=None if column.kind in "bif" else column.type)


def _ints(symbol: str, value: Any, column: Column) -> Column | None:
    start = 0 if value is MISSING else value
    if not SMALLEST <= start <= LARGEST:
        return None
    if symbol == "+":
        compiled = loops(len(column))
        if compiled is not None:
            found = room(len(column), np.int64)
            return Column("i", found) if compiled.running(tidy(column.data), start, found) else None
        low, high = column.bounds
        bounds = start + min(0, low) * len(column), start + max(0, high) * len(column)
        if not (bounds[0] >= SMALLEST and bounds[1] <= LARGEST):
            return None
        sums = np.add.accumulate(column.data)
        if start:
            sums += start
        return Column("i", sums, bounds=bounds)
    if symbol == "*" and not _largest_product(1 if value is MISSING else start, column.data) < 2.0**62:
        return None
    return Column("i", accumulated(symbol, _begun(symbol, value, column.data)))


@np.errstate(all="ignore")
def _largest_product(start: int, data: Array) -> float:
    sizes = np.multiply.accumulate(np.abs(data.astype(np.float64)))
    return float(np.abs(sizes * float(start)).max())


@np.errstate(all="ignore")
def _floats(symbol: str, value: Any, data: Array) -> Column | None:
    if symbol in ("min", "max"):
        if type(value) is int or not comparable(data, value):
            return None
    elif symbol == "*" and type(value) is int and abs(value) > LARGEST:
        return None
    begun = _begun(symbol, value, data)
    return Column("f", accumulated(symbol, begun))


def comparable(data: Array, value: Any = MISSING) -> bool:
    """Return whether NumPy's minima and maxima of floats are Python's: no NaN, and no zero of two signs."""
    if np.isnan(data.max(initial=-np.inf)) or (value is not MISSING and value != value):
        return False
    zeros = data == 0
    if not zeros.any():
        return True
    signs = np.signbit(data[zeros])
    return not (signs.any() or (value is not MISSING and value == 0 and np.signbit(value)))


def _begun(symbol: str, value: Any, data: Array) -> Array:
    """Return the data with the value so far combined into the first one."""
    if value is MISSING:
        return data
    begun = data.copy()
    begun[0] = PYTHON[symbol](value, data[0].item())
    return begun


def _by_python(symbol: str, value: Any, column: Column) -> Column:
    values = column.pylist() if value is MISSING else [value, *column.pylist()]
    try:
        found = list(accumulate(values, PYTHON[symbol]))
    except Exception as error:
        raise Unfit(f"{type(error).__name__}: {error}") from error
    return of_list(found if value is MISSING else found[1:])


@kernel_for(Cumulate)
class CumulateKernel(Kernel):
    """A known fold over the whole stream."""

    def __init__(self, node: Cumulate) -> None:
        self.symbol = fold_symbol(node.function)

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        column = values_of(front[0])
        found = scanned(self.symbol, state[0], column)
        return (of_values(found),), ((found.at(len(found) - 1),) if len(found) else state)


@kernel_for(Count)
class CountKernel(Kernel):
    """The number of events so far."""

    def __init__(self, node: Count) -> None:
        pass

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        (seen,), length = state, front[0].length
        counts = np.arange(seen + 1, seen + length + 1)
        return (of_values(Column("i", counts, bounds=(seen, seen + length))),), (seen + length,)
