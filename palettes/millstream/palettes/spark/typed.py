"""Columns with what is known about their values: enough to say where Spark SQL computes what Python would.

SQL differs from Python in nulls (unknown instead of an error or False), in integers (64 bits instead of any
size), in NaN (equal to itself and greater than all), and in divisions. `Typed` knows the kind, whether a
value may be null, and for integers the range: every operation is either made to agree or refused.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve, frozen
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

#: integer types and the number of their bits
BITS: dict[type[T.DataType], int] = {T.ByteType: 8, T.ShortType: 16, T.IntegerType: 32, T.LongType: 64}
#: types that are compared as Python compares their values
ORDERED: dict[type[T.DataType], str] = {
    T.DateType: "date",
    T.TimestampType: "timestamp",
    T.TimestampNTZType: "timestamp_ntz",
}
LONG = -(2**63), 2**63 - 1
#: integers up to here are exact as doubles
EXACT = 2**53
WIDE = "decimal(38,0)"


class Refused(Exception):
    """An expression that Spark SQL would not compute exactly as Python does; says why."""


class WrongType(Refused):
    """An expression that fails in Python on every event with these columns."""


@frozen(eq=False)
class Typed:
    """A column: its kind (bool, int, float, str, date...), whether it may be null, and an integer's range."""

    column: Column
    kind: str
    nullable: bool = False
    low: int = 0
    high: int = 0
    #: the fields of a struct
    inside: T.StructType | None = None
    #: the value, if it is a constant
    constant: Any = None

    @property
    def wide(self) -> bool:
        """Whether an integer may exceed 64 bits."""
        return self.kind == "int" and not (LONG[0] <= self.low and self.high <= LONG[1])

    @property
    def magnitude(self) -> int:
        """Return the greatest absolute value of an integer."""
        return max(abs(self.low), abs(self.high))

    def double(self) -> Column:
        """Return the value as a double."""
        return self.column.cast("double")


def typed_column(column: Column, kind: T.DataType, nullable: bool) -> Typed:
    """Return what is known about a column of a table."""
    if type(kind) in BITS:
        half = 2 ** (BITS[type(kind)] - 1)
        return Typed(column, "int", nullable, -half, half - 1)
    if isinstance(kind, T.DoubleType | T.FloatType):
        return Typed(column.cast("double"), "float", nullable)
    if isinstance(kind, T.BooleanType):
        return Typed(column, "bool", nullable)
    if type(kind) is T.StringType and kind == T.StringType():
        return Typed(column, "str", nullable)
    if isinstance(kind, T.StructType):
        return Typed(column, "struct", nullable, inside=kind)
    return Typed(column, ORDERED.get(type(kind), kind.simpleString()), nullable)


def typed_constant(value: Any) -> Typed:
    """Return a Python value as a column."""
    if value is None:
        return Typed(F.lit(None), "none", nullable=True)
    if type(value) is bool:
        return Typed(F.lit(value), "bool", constant=value)
    if type(value) is int:
        if abs(value) >= 10**38:
            raise Refused(f"{value} is too large")
        small = LONG[0] <= value <= LONG[1]
        column = F.lit(value).cast("bigint") if small else F.lit(str(value)).cast(WIDE)
        return Typed(column, "int", False, value, value, constant=value)
    if type(value) is float:
        return Typed(F.lit(value), "float", constant=value)
    if type(value) is str:
        return Typed(F.lit(value), "str", constant=value)
    raise Refused(f"constants of type {type(value).__name__} are left to Python")


def integer(op: str, a: Typed, b: Typed) -> Typed:
    """Return a sum, difference or product of integers, wide enough never to overflow."""
    ends = [_OPERATIONS[op](x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(ends), max(ends)
    if max(abs(low), abs(high)) >= 10**38:
        raise Refused("integers that may exceed 38 digits")
    result = Typed(F.lit(0), "int", False, low, high)
    kind = WIDE if result.wide or a.wide or b.wide else "bigint"
    column = _OPERATIONS[op](a.column.cast(kind), b.column.cast(kind))
    return evolve(result, column=column if result.wide else column.cast("bigint"))


_OPERATIONS: dict[str, Any] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
}


def real(op: str, a: Typed, b: Typed) -> Typed:
    """Return a sum, difference or product in floating point; integers are rounded as Python rounds them."""
    if a.wide or b.wide:
        raise Refused("integers beyond 64 bits with floats")
    return Typed(_OPERATIONS[op](a.double(), b.double()), "float")


def is_nan(value: Typed) -> Column:
    """Return whether a float is not a number."""
    return F.isnan(value.column) if value.kind == "float" else F.lit(False)


def aligned(a: Typed, b: Typed) -> tuple[Column, Column]:
    """Return two values in a type in which Spark compares them as Python does."""
    kinds = {a.kind, b.kind}
    if kinds == {"int"}:
        return (a.column.cast(WIDE), b.column.cast(WIDE)) if a.wide or b.wide else (a.column, b.column)
    if kinds <= {"int", "float"}:
        if any(x.kind == "int" and x.magnitude > EXACT for x in (a, b)):
            raise Refused("64-bit integers compared with floats")
        return a.double(), b.double()
    if len(kinds) == 1 and a.kind in ("str", "bool", *ORDERED.values()):
        return a.column, b.column
    raise Refused(f"{a.kind} compared with {b.kind}")


def truth(value: Typed) -> Column:
    """Return Python's truth of a value, never null."""
    match value.kind:
        case "bool":
            column = value.column
        case "int" | "float":
            column = value.column != 0
        case "str":
            column = F.length(value.column) > 0
        case _:
            raise Refused(f"the truth of a {value.kind}")
    return F.coalesce(column, F.lit(False)) if value.nullable else column
