"""Arithmetic on columns, with the results of Python's own: ints never wrap, nothing is rounded differently.

An operand is a `Column` or a Python constant. Ints are computed in int64 as long as their bounds show that
nothing can leave it, and as Python ints otherwise. What Python refuses (a null in a sum, a division by zero)
is `Unfit`: the event by event run then says so, naming the event.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import date, datetime, timedelta
from sys import byteorder
from typing import Any

import numpy as np
import pyarrow as pa

from .column import LARGEST, SMALLEST, Array, Column, Unfit, of_arrow, of_list

#: the kinds of operands that know at once whether values are missing
PLAIN = {a + b for a in "bif" for b in "bif"}
#: ints up to here are floats exactly
EXACT = 2**53
PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda x, items: x in items,
}  # fmt: skip


def kind_of(value: Any) -> str:
    """Return the kind of a column or of a constant; ``n`` for None."""
    if isinstance(value, Column):
        return value.kind
    kind = type(value)
    if kind is bool:
        return "b"
    if kind is int:
        return "i" if SMALLEST <= value <= LARGEST else "o"
    if kind is float:
        return "f"
    if kind is str:
        return "s"
    if value is None:
        return "n"
    return "t" if isinstance(value, (datetime, date, timedelta)) else "o"


def data_of(value: Any) -> Any:
    """Return what NumPy computes with."""
    return value.data if isinstance(value, Column) else value


def refuse_nulls(*values: Any) -> None:
    """Raise `Unfit` if a value is missing."""
    for v in values:
        if v is None or (isinstance(v, Column) and not v.complete):
            raise Unfit("a value is missing where Python would refuse None")


def bounds_of(value: Any) -> tuple[int, int]:
    """Return bounds of ints or bools."""
    if not isinstance(value, Column):
        return int(value), int(value)
    return (0, 1) if value.kind == "b" else value.bounds


def arithmetic(symbol: str, left: Any, right: Any) -> Any:
    """Return ``left symbol right`` for each event."""
    kinds = kind_of(left) + kind_of(right)
    if kinds not in PLAIN or _lacking(left) or _lacking(right):
        refuse_nulls(left, right)
    if kinds in ("ii", "ib", "bi", "bb"):
        if kinds == "bb" and symbol in "&|^":
            return Column("b", _ufunc(symbol, left, right))
        return _of_ints(symbol, _as_ints(left), _as_ints(right))
    if kinds in ("ff", "fi", "if", "fb", "bf"):
        return _of_floats(symbol, left, right)
    if kinds == "tt" and symbol in "+-":
        return _of_times(symbol, left, right)
    return by_element(symbol, left, right)


def _lacking(value: Any) -> bool:
    return value.__class__ is Column and value.valid is not None


def _as_ints(value: Any) -> Any:
    if isinstance(value, Column) and value.kind == "b":
        return Column("i", value.data.astype(np.int64), bounds=(0, 1))
    return int(value) if isinstance(value, bool) else value


UFUNCS: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide,
    "%": np.remainder, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip


def _ufunc(symbol: str, left: Any, right: Any) -> Array:
    found: Array = UFUNCS[symbol](data_of(left), data_of(right))
    return found


def _of_ints(symbol: str, left: Any, right: Any) -> Column:
    if symbol in ("+", "-", "*"):
        (a, b), (c, d) = bounds_of(left), bounds_of(right)
        if symbol == "*":
            corners = a * c, a * d, b * c, b * d
            bounds = min(corners), max(corners)
        else:
            bounds = (a + c, b + d) if symbol == "+" else (a - d, b - c)
        if bounds[0] >= SMALLEST and bounds[1] <= LARGEST:
            return Column("i", _ufunc(symbol, left, right), bounds=bounds)
    elif symbol in ("//", "%"):
        return _divided(symbol, left, right)
    elif symbol == "/":
        _refuse_zero(right)
        if max(map(abs, bounds_of(left) + bounds_of(right))) <= EXACT:
            return Column("f", _ufunc("/", left, right))
    elif symbol in ("&", "|", "^"):
        return Column("i", _ufunc(symbol, left, right))
    elif symbol == "**" and isinstance(right, int) and 0 <= right <= 62:
        largest = max(map(abs, bounds_of(left))) ** right
        if largest <= LARGEST:
            return Column("i", data_of(left) ** right, bounds=(-largest, largest))
    return by_element(symbol, left, right)


def _divided(symbol: str, left: Any, right: Any) -> Column:
    """Return quotient or remainder of ints; by a constant, in ways that NumPy computes much faster."""
    _refuse_zero(right)
    low, high = bounds_of(right)
    if low <= -1 <= high and bounds_of(left)[0] == SMALLEST:
        return by_element(symbol, left, right)
    if symbol == "%" and isinstance(right, int) and right > 0:
        return remainder(data_of(left), right)
    return Column("i", _ufunc(symbol, left, right))


def low_bits(data: Array, divisor: int) -> Array | None:
    """Return the remainders of a division by a power of two, in a byte each; None where they do not fit."""
    if divisor & (divisor - 1) or divisor > 256 or byteorder != "little" or not data.flags.c_contiguous:
        return None
    found: Array = data.view(np.uint8)[::8] & np.uint8(divisor - 1)
    return found


def remainder(data: Array, divisor: int) -> Column:
    """Return the remainders of a division by a positive constant."""
    if divisor & (divisor - 1) == 0:
        found = np.bitwise_and(data, divisor - 1)
    else:
        found = np.floor_divide(data, divisor)
        np.multiply(found, divisor, out=found)  # in place: more arrays would cost more than the division
        np.subtract(data, found, out=found)
    return Column("i", found, bounds=(0, divisor - 1))


def _refuse_zero(value: Any) -> None:
    if (isinstance(value, Column) and not value.data.all()) or (not isinstance(value, Column) and value == 0):
        raise Unfit("a division by zero")


@np.errstate(all="ignore")
def _of_floats(symbol: str, left: Any, right: Any) -> Column:
    if symbol in ("/", "//", "%"):
        _refuse_zero(right)
    elif symbol not in ("+", "-", "*"):
        return by_element(symbol, left, right)
    return Column("f", _ufunc(symbol, *(_as_floats(v) for v in (left, right))))


def _as_floats(value: Any) -> Any:
    data = data_of(value)
    return data.astype(np.float64) if isinstance(data, np.ndarray) and data.dtype != np.float64 else data


def negative(value: Any) -> Any:
    """Return ``-value`` for each event."""
    if not isinstance(value, Column):
        return -value
    refuse_nulls(value)
    if value.kind == "f":
        return Column("f", -value.data)
    if value.kind in "ib":
        return _of_ints("-", 0, _as_ints(value))
    return mapped(operator.neg, value)


def inverted(value: Any) -> Any:
    """Return ``~value`` for each event; of a bool, whether it is false."""
    if not isinstance(value, Column):
        return not value if isinstance(value, bool) else ~value
    refuse_nulls(value)
    if value.kind in "ib":
        return Column(value.kind, ~value.data)
    return mapped(lambda x: not x if x.__class__ is bool else ~x, value)


# Times


def _of_times(symbol: str, left: Any, right: Any) -> Column:
    """Return differences of times, and sums and differences with spans of time, of equal units."""
    left, right = same_unit(left, right)
    types = [v.type for v in (left, right)]
    spans = [pa.types.is_duration(t) for t in types]
    if any(pa.types.is_date(t) for t in types) or types[0].unit != types[1].unit:
        return by_element(symbol, left, right)
    low, high = (v.bounds for v in (left, right))
    if max(map(abs, low + high)) >= 2**62:
        return by_element(symbol, left, right)
    if spans == [False, False]:
        if symbol == "+" or types[0].tz != types[1].tz:
            raise Unfit("times of different zones, or a sum of times")
        return Column("t", left.data - right.data, type=pa.duration(types[0].unit))
    if spans == [True, False] and symbol == "-":
        raise Unfit("a span of time minus a time")
    kind = types[1] if spans == [True, False] else types[0]
    return Column("t", UFUNCS[symbol](left.data, right.data), type=kind)


def same_unit(left: Any, right: Any) -> tuple[Column, Column]:
    """Return both as columns; a constant becomes one of the other's unit."""
    if isinstance(left, Column) and isinstance(right, Column):
        return left, right
    column, constant = (left, right) if isinstance(left, Column) else (right, left)
    unit = "us" if pa.types.is_date(column.type) else column.type.unit
    array = pa.array([constant])
    if isinstance(constant, (datetime, timedelta)) and not pa.types.is_date(array.type):
        tz = array.type.tz if isinstance(constant, datetime) else None
        array = array.cast(pa.timestamp(unit, tz) if isinstance(constant, datetime) else pa.duration(unit))
    made = of_arrow(array)
    return (column, made) if column is left else (made, column)


# Element by element


def elements(value: Any, length: int) -> list[Any]:
    """Return the values of a column or of a constant as Python objects."""
    return value.pylist() if isinstance(value, Column) else [value] * length


def by_element(symbol: str, left: Any, right: Any) -> Column:
    """Return ``left symbol right`` for each event by Python itself; at least one is a column."""
    found = mapped(PYTHON[symbol], left, right)
    assert isinstance(found, Column)
    return found


def mapped(function: Callable[..., Any], *values: Any) -> Any:
    """Return a function of Python objects for each event; a failure of it makes the batch unfit."""
    length = next((len(v) for v in values if isinstance(v, Column)), None)
    try:
        if length is None:
            return function(*values)
        lists = (elements(v, length) for v in values)
        return of_list([function(*front) for front in zip(*lists, strict=True)])
    except Exception as error:
        raise Unfit(f"{type(error).__name__}: {error}") from error
