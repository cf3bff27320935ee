"""Functions of one argument in columnar form: by NumPy where it gives what Python gives, else by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow.compute as pc

from .arithmetic import mapped, negative, refuse_nulls
from .column import Column
from .comparing import plain


def _absolute(value: Any) -> Any:
    if isinstance(value, Column) and value.kind == "f":
        refuse_nulls(value)
        return Column("f", np.abs(value.data))
    if isinstance(value, Column) and value.kind == "i" and value.complete and value.bounds[0] > -(2**63):
        return Column("i", np.abs(value.data), bounds=(0, max(map(abs, value.bounds))))
    return mapped(abs, value)


def _float(value: Any) -> Any:
    if isinstance(value, Column) and value.kind in "bif" and value.complete:
        return Column("f", value.data.astype(np.float64))
    return mapped(float, value)


def _length(value: Any) -> Any:
    if isinstance(value, Column) and value.kind == "s" and value.complete:
        lengths = pc.utf8_length(plain(value.data)).to_numpy().astype(np.int64)
        return Column("i", lengths)
    return mapped(len, value)


def _root(value: Any) -> Any:
    if isinstance(value, Column) and value.kind in "if" and value.complete and (value.data >= 0).all():
        return Column("f", np.sqrt(value.data.astype(np.float64)))
    return mapped(math.sqrt, value)


def _by_python(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda value: mapped(function, value)


#: functions of one argument with a columnar form
FUNCTIONS: dict[Any, Callable[[Any], Any]] = {
    abs: _absolute,
    float: _float,
    len: _length,
    math.sqrt: _root,
    operator.neg: negative,
    **{f: _by_python(f) for f in (int, str, round, math.floor, math.ceil, math.log, math.exp)},
}
