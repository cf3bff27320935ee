"""Types both ways: from what a query declares or gives to columns, and which columns a DataFrame has.

Numbers, strings, dates and lists are themselves, a verdict or an enumeration is its name; a named tuple, a
dataclass or an attrs object is a struct, a plain tuple a struct with the fields ``_1``, ``_2``; a set is an
array, a mapping a map.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
from pyspark.sql import types as T

from millstream.palettes.ltl import Verdict
from millstream.processors import QueryError
from millstream.processors.errors import shorten

#: Python types that are column types
ATOMS: dict[type, T.DataType] = {
    bool: T.BooleanType(),
    int: T.LongType(),
    float: T.DoubleType(),
    str: T.StringType(),
    bytes: T.BinaryType(),
    datetime.date: T.DateType(),
    datetime.datetime: T.TimestampType(),
    datetime.timedelta: T.DayTimeIntervalType(),
    decimal.Decimal: T.DecimalType(38, 18),
    Verdict: T.StringType(),
    types.NoneType: T.NullType(),
}
LISTS = (list, set, frozenset, Sequence)
MAPS = (dict, Mapping)


def spark_type(declared: Any) -> T.DataType:
    """Return the column type for a Spark type, a DDL text, or a Python type.

    A text is read by Spark, so it needs a session.

    >>> spark_type(int), spark_type(list[str]).simpleString()
    (LongType(), 'array<string>')
    >>> spark_type(dict[str, float | None]).simpleString()
    'map<string,double>'
    """
    if isinstance(declared, T.DataType):
        return declared
    if isinstance(declared, str):
        return T.DataType.fromDDL(declared)
    found = _python_type(declared)
    if found is None:
        raise QueryError(
            f"no column type for {shorten(declared)}: expected a Spark type, a text such as 'array<int>', "
            "or a Python type made of bool, int, float, str, bytes, dates, list, dict, tuple, dataclasses"
        )
    return found


def _python_type(declared: Any) -> T.DataType | None:
    if declared in ATOMS:
        return ATOMS[declared]
    origin, inside = typing.get_origin(declared), typing.get_args(declared)
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in inside if a is not types.NoneType]
        return spark_type(rest[0]) if len(rest) == 1 else None
    if origin in LISTS or (origin is tuple and inside[1:] == (...,)):
        return T.ArrayType(spark_type(inside[0]))
    if origin in MAPS:
        return T.MapType(spark_type(inside[0]), spark_type(inside[1]))
    if origin is tuple:
        return T.StructType([T.StructField(f"_{k}", spark_type(a)) for k, a in enumerate(inside, 1)])
    if isinstance(declared, type) and issubclass(declared, enum.Enum):
        return T.StringType()
    return _record_type(declared)


def _record_type(declared: Any) -> T.DataType | None:
    """Return a struct for a class that names and annotates its fields."""
    if not (dataclasses.is_dataclass(declared) or attrs.has(declared) or hasattr(declared, "_fields")):
        return None
    hints = typing.get_type_hints(declared)
    return T.StructType([T.StructField(n, spark_type(hints.get(n))) for n in field_names(declared) or ()])


def field_names(record: Any) -> list[str] | None:
    """Return the field names of a record (a class or an object), None if it is not one."""
    if hasattr(record, "_fields"):
        return list(record._fields)
    if dataclasses.is_dataclass(record):
        return [f.name for f in dataclasses.fields(record)]
    cls = record if isinstance(record, type) else type(record)
    return [a.name for a in attrs.fields(cls)] if attrs.has(cls) else None


def infer_type(values: Iterable[Any]) -> T.DataType:
    """Return the column type that fits all of some outputs.

    >>> infer_type([1, None, 2.5]), infer_type([("a", 1)]).simpleString()
    (DoubleType(), 'struct<_1:string,_2:bigint>')
    """
    found: T.DataType = T.NullType()
    for value in values:
        found = _wider(found, _type_of(value))
    return found


def _type_of(value: Any) -> T.DataType:
    if type(value) in ATOMS:
        return ATOMS[type(value)]
    if isinstance(value, enum.Enum):
        return T.StringType()
    names = field_names(value)
    if names is not None:
        return T.StructType([T.StructField(n, _type_of(getattr(value, n))) for n in names])
    if isinstance(value, tuple):
        return T.StructType([T.StructField(f"_{k}", _type_of(v)) for k, v in enumerate(value, 1)])
    if isinstance(value, Mapping):
        return T.MapType(infer_type(value), infer_type(value.values()))
    if isinstance(value, list | set | frozenset):
        return T.ArrayType(infer_type(value))
    for kind in (bool, int, float, str, bytes):
        if isinstance(value, kind):
            return ATOMS[kind]
    raise QueryError(
        f"an output of type {type(value).__name__} has no column type: {shorten(value)}; let the query end "
        "in a function that gives numbers, strings, tuples or dicts, or name the type with returns="
    )


def _wider(one: T.DataType, other: T.DataType) -> T.DataType:
    """Return the type that holds both."""
    if isinstance(one, T.NullType) or one == other:
        return other
    if isinstance(other, T.NullType):
        return one
    if {type(one), type(other)} == {T.LongType, T.DoubleType}:
        return T.DoubleType()
    if isinstance(one, T.ArrayType) and isinstance(other, T.ArrayType):
        return T.ArrayType(_wider(one.elementType, other.elementType))
    if isinstance(one, T.MapType) and isinstance(other, T.MapType):
        return T.MapType(_wider(one.keyType, other.keyType), _wider(one.valueType, other.valueType))
    if isinstance(one, T.StructType) and isinstance(other, T.StructType) and one.names == other.names:
        pairs = zip(one.fields, other.fields, strict=True)
        return T.StructType([T.StructField(a.name, _wider(a.dataType, b.dataType)) for a, b in pairs])
    raise QueryError(
        f"outputs of different types, {one.simpleString()} and {other.simpleString()}: no column holds both; "
        "let the query give one type, or name it with returns="
    )


def check_columns(schema: T.StructType, names: Iterable[str], what: str) -> None:
    """Raise a `QueryError` for the first name that is not a column."""
    for name in names:
        if name not in schema.names:
            raise QueryError(f"{what}: there is no column {name!r}, only {', '.join(schema.names)}")
