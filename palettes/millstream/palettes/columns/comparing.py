"""Comparisons, membership and truth of columns, with the results of Python's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .arithmetic import (
    EXACT,
    PYTHON,
    bounds_of,
    by_element,
    data_of,
    kind_of,
    mapped,
    refuse_nulls,
    same_unit,
)
from .column import Array, Column, Unfit, bools, by_object
from .words import same

UFUNCS: dict[str, Any] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}  # fmt: skip
ARROW = {
    "==": pc.equal, "!=": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater,
    ">=": pc.greater_equal,
}  # fmt: skip
NUMBERS = "bif"


def compared(symbol: str, left: Any, right: Any) -> Any:
    """Return ``left symbol right`` for each event, a column of bools."""
    if not isinstance(left, Column) and not isinstance(right, Column):
        return mapped(PYTHON[symbol], left, right)
    if kind_of(left) == "e" and not isinstance(right, Column):
        return by_object(lambda x: PYTHON[symbol](x, right), left)
    if symbol in ("==", "!="):
        return _equal(symbol, left, right)
    refuse_nulls(left, right)
    kinds = kind_of(left) + kind_of(right)
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        return _numbers(symbol, left, right)
    if kinds == "ss":
        return Column("b", _texts(symbol, left, right))
    if kinds == "tt":
        return _times(symbol, left, right)
    return by_element(symbol, left, right)


def _equal(symbol: str, left: Any, right: Any) -> Any:
    kinds = kind_of(left) + kind_of(right)
    if "n" in kinds:
        column = left if isinstance(left, Column) else right
        missing = ~column.presence
        return Column("b", missing if symbol == "==" else ~missing)
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        found = _numbers(symbol, left, right).data
    elif kinds == "ss":
        found = _texts(symbol, left, right)
    elif kinds == "tt":
        found = _times(symbol, left, right).data
    elif set(kinds) & set("oae"):
        return by_element(symbol, left, right)
    else:
        length = len(left if isinstance(left, Column) else right)
        found = np.full(length, symbol == "!=")
    return Column("b", _where_both(symbol, found, left, right))


def _where_both(symbol: str, found: Array, left: Any, right: Any) -> Array:
    """Return what was found, corrected where a value is missing: None equals None only."""
    if all(not isinstance(v, Column) or v.complete for v in (left, right)):
        return found
    length = len(found)
    there, here = (
        v.presence if isinstance(v, Column) else np.full(length, v is not None) for v in (left, right)
    )
    equal = np.where(there & here, found == (symbol == "=="), there == here)
    result: Array = equal if symbol == "==" else ~equal
    return result


def _numbers(symbol: str, left: Any, right: Any) -> Column:
    left, right = _whole(left), _whole(right)
    kinds = kind_of(left) + kind_of(right)
    if "f" in kinds and kinds != "ff":
        ints = left if kinds[1] == "f" else right
        if max(map(abs, bounds_of(ints))) > EXACT:
            return by_element(symbol, left, right)  # as floats, such ints would be rounded
    return Column("b", UFUNCS[symbol](data_of(left), data_of(right)))


def _whole(value: Any) -> Any:
    """Return a constant that is a whole float as an int, which compares exactly with ints and with floats."""
    return int(value) if type(value) is float and abs(value) <= EXACT and value == int(value) else value


def _texts(symbol: str, left: Any, right: Any) -> Array:
    """Return comparisons of texts, False where one is missing; those of encoded ones once for each text."""
    swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    if not isinstance(left, Column):
        left, right, symbol = right, left, swapped.get(symbol, symbol)
    if not isinstance(right, Column):
        plainly = symbol in ("==", "!=") and not pa.types.is_dictionary(left.type) and left.complete
        found = same(left.data, right) if plainly else None
        if found is not None:
            return found if symbol == "==" else ~found
        return encoded_or_plain(left.data, lambda texts: ARROW[symbol](texts, right))
    found = ARROW[symbol](plain(left.data), plain(right.data))
    return bools(found.fill_null(False) if found.null_count else found)


def plain(array: pa.Array) -> pa.Array:
    """Return an array of strings that is not encoded."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def encoded_or_plain(texts: pa.Array, test: Any) -> Array:
    """Return a test of texts, False where there is none; of encoded ones it is made once for each text."""
    if not pa.types.is_dictionary(texts.type):
        found = test(texts)
        return bools(found.fill_null(False) if found.null_count else found)
    known = bools(test(texts.dictionary).fill_null(False))
    if texts.null_count == 0:
        result: Array = known.take(texts.indices.to_numpy())
        return result
    places = texts.indices.fill_null(len(known)).to_numpy()
    result = np.append(known, False).take(places)
    return result


def _times(symbol: str, left: Any, right: Any) -> Column:
    one, other = same_unit(left, right)
    types = one.type, other.type
    if any(pa.types.is_duration(t) for t in types) != all(pa.types.is_duration(t) for t in types):
        return _unlike(symbol, left, right)
    if all(map(pa.types.is_date, types)):
        return Column("b", UFUNCS[symbol](one.data, other.data))
    if any(map(pa.types.is_date, types)) or types[0].unit != types[1].unit:
        return by_element(symbol, left, right)
    if not pa.types.is_duration(types[0]) and (types[0].tz is None) != (types[1].tz is None):
        return _unlike(symbol, left, right)
    return Column("b", UFUNCS[symbol](one.data, other.data))


def _unlike(symbol: str, left: Any, right: Any) -> Column:
    if symbol not in ("==", "!="):
        raise Unfit("times of different kinds cannot be ordered")
    return Column("b", np.full(len(left if isinstance(left, Column) else right), symbol == "!="))


def member(value: Any, items: Any) -> Any:
    """Return ``value in items`` for each event, of a constant collection."""
    if not isinstance(value, Column) or isinstance(items, Column):
        return by_element("in", value, items)
    if isinstance(items, (set, frozenset, list, tuple)):
        kinds = set(map(kind_of, items))
        if value.kind == "s" and kinds == {"s"}:
            known = pa.array(list(items))
            return Column("b", encoded_or_plain(value.data, lambda texts: pc.is_in(texts, known)))
        if value.kind == "i" and kinds == {"i"} and value.complete:
            return Column("b", np.isin(value.data, list(items)))
    return by_element("in", value, items)


def truth(value: Any, length: int) -> Array:
    """Return which values are true, as ``if`` sees them."""
    if not isinstance(value, Column):
        return np.full(length, bool(value))
    if value.kind == "b":
        return value.data if value.valid is None else value.data & value.valid  # type: ignore[no-any-return]
    if value.kind in "if":
        found = value.data != 0
        return found if value.valid is None else found & value.valid  # type: ignore[no-any-return]
    if value.kind == "s":
        return encoded_or_plain(value.data, lambda texts: pc.greater(pc.binary_length(texts), 0))
    if value.kind == "e":
        return by_object(bool, value).data  # type: ignore[no-any-return]
    if value.kind == "t" and not pa.types.is_duration(value.type):
        return value.presence
    return np.fromiter(map(bool, value.pylist()), bool, length)
