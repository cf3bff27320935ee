"""Expressions as Spark SQL columns, with the meaning that they have in Python or not at all.

Where Python would fail on a row (None where a number is needed, a division by zero), so does the column, with
a message that names the processor and the row. Short-circuits become CASE WHEN, which Spark evaluates lazily.
What cannot agree is `Refused` and stays in Python: see `typed` for the differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve, field, frozen
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.processors.expressions import (
    Apply,
    Attribute,
    Binary,
    Constant,
    Expression,
    IfElse,
    Input,
    Item,
    Method,
    Unary,
)

from .typed import (
    EXACT,
    LONG,
    WIDE,
    Refused,
    Typed,
    WrongType,
    aligned,
    integer,
    is_nan,
    real,
    truth,
    typed_column,
    typed_constant,
)

#: makes the column that fails, for a text that says why
Fail = Callable[[str], Column]
ORDER: dict[str, Callable[[Any, Any], Column]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
BITWISE = {"&": "bitwiseAND", "|": "bitwiseOR", "^": "bitwiseXOR"}
SCALARS = {"str", "int", "float", "bool", "date", "timestamp", "timestamp_ntz"}
LARGEST_DIVISOR = 2**31


def quoted(name: str) -> Column:
    """Return the column of this very name."""
    return F.col("`" + name.replace("`", "``") + "`")


@frozen
class Translation:
    """What the event is (a row of a table, or the value of a column), and how to fail."""

    schema: T.StructType | None
    fail: Fail
    value: Typed | None = None
    depth: int = field(default=0, kw_only=True)

    def translate(self, e: Expression) -> Typed:
        """Return the column for an expression; raise `Refused` if there is none."""
        if self.depth > 60:
            raise Refused("an expression nested more than 60 deep")
        return evolve(self, depth=self.depth + 1)._node(e)

    def _node(self, e: Expression) -> Typed:
        match e:
            case Constant(value):
                return typed_constant(value)
            case Input(0, _) if self.value is not None:
                return self.value
            case Attribute(of, name):
                return self._field(of, name)
            case Item(of, Constant(str() as name)):
                return self._field(of, name)
            case Unary(operator, of):
                return self._unary(operator, self.translate(of), of)
            case Binary(operator, left, right):
                return self._binary(operator, left, right)
            case IfElse(condition, then, otherwise):
                return self._choice(*map(self.translate, (condition, then, otherwise)))
            case Method(of, "startswith" | "endswith" as name, (Constant(str() as text),), ()):
                return self._affix(name, self.translate(of), text, of)
            case Apply(function, (argument,)) if function in (len, abs):
                return self._call(function, self.translate(argument), argument)
        raise Refused(f"{e!r} has no counterpart in SQL")

    def _field(self, of: Expression, name: str) -> Typed:
        if isinstance(of, Input) and self.value is None:
            if self.schema is None or name not in self.schema.names:
                raise Refused(f"there is no column {name!r}")
            declared = self.schema[name]
            return typed_column(quoted(name), declared.dataType, declared.nullable)
        base = self.translate(of)
        if base.inside is None or name not in base.inside.names:
            raise Refused(f"{of!r} is not a struct with a field {name!r}")
        part = base.inside[name]
        whole = self._present(base, of)
        return typed_column(whole.column.getField(name), part.dataType, part.nullable)

    def _present(self, value: Typed, e: Expression) -> Typed:
        """Return a value that fails where it is null, as Python does when it computes with None."""
        if value.kind == "none":
            raise Refused("None in a computation")
        if not value.nullable:
            return value
        column = F.when(value.column.isNull(), self.fail(f"TypeError: {e!r} is None")).otherwise(value.column)
        return evolve(value, column=column, nullable=False)

    def narrowed(self, value: Typed) -> Typed:
        """Return a wide integer as a column of 64 bits, which fails where it does not fit."""
        column, (low, high) = value.column, LONG
        fits = (column >= F.lit(str(low)).cast(WIDE)) & (column <= F.lit(str(high)).cast(WIDE))
        failed = self.fail("OverflowError: the value does not fit into 64 bits")
        return Typed(F.when(fits, column.cast("bigint")).otherwise(failed), "int", False, low, high)

    def _unary(self, operator: str, value: Typed, e: Expression) -> Typed:
        if operator == "not" and value.kind == "bool":
            return Typed(~truth(value), "bool")
        value = self._present(value, e)
        if operator == "~" and value.kind == "bool":
            return Typed(~value.column, "bool")
        if operator == "neg" and value.kind == "int":
            return integer("-", typed_constant(0), value)
        if operator == "neg" and value.kind == "float":
            return evolve(value, column=-value.column, constant=None)
        raise Refused(f"{operator} of a {value.kind}")

    def _binary(self, operator: str, left: Expression, right: Expression) -> Typed:
        if operator == "in":
            return self._membership(self.translate(left), right)
        a, b = self.translate(left), self.translate(right)
        if operator in ("and", "or"):
            return self._logic(operator, a, b)
        if operator in ("==", "!="):
            same = self._same(a, b)
            return Typed(same if operator == "==" else ~same, "bool")
        a, b = self._present(a, left), self._present(b, right)
        if operator in ORDER:
            if (a.kind == "str") != (b.kind == "str") and {a.kind, b.kind} <= SCALARS:
                raise WrongType(f"{a.kind} compared with {b.kind}")
            x, y = aligned(a, b)
            return Typed(ORDER[operator](x, y) & ~is_nan(a) & ~is_nan(b), "bool")
        return self._arithmetic(operator, a, b, right)

    def _same(self, a: Typed, b: Typed) -> Column:
        if "none" in (a.kind, b.kind):
            return a.column.isNull() & b.column.isNull()
        x, y = aligned(a, b)
        equal = x.eqNullSafe(y) if a.nullable or b.nullable else x == y
        return equal & ~is_nan(a) & ~is_nan(b)

    def _logic(self, operator: str, a: Typed, b: Typed) -> Typed:
        if a.kind != "bool" or b.kind != "bool" or a.nullable or b.nullable:
            raise Refused(f"{operator} of values that are no comparisons")
        if operator == "and":
            return Typed(F.when(a.column, b.column).otherwise(F.lit(False)), "bool")
        return Typed(F.when(a.column, F.lit(True)).otherwise(b.column), "bool")

    def _arithmetic(self, operator: str, a: Typed, b: Typed, right: Expression) -> Typed:
        kinds = {a.kind, b.kind}
        if kinds == {"bool"} and operator in BITWISE:  # as numbers, because Python computes both sides
            bits = getattr(a.column.cast("int"), BITWISE[operator])(b.column.cast("int"))
            return Typed(bits == 1, "bool")
        if not kinds <= {"int", "float"}:
            certain = "str" in kinds and len(kinds) == 2 and kinds <= SCALARS and operator in ("+", "-", "/")
            raise (WrongType if certain else Refused)(f"{a.kind} {operator} {b.kind}")
        if operator in ("+", "-", "*"):
            return integer(operator, a, b) if kinds == {"int"} else real(operator, a, b)
        if operator == "/":
            return self._quotient(a, b, right)
        if operator in ("//", "%") and kinds == {"int"}:
            return _floored(operator, a, b)
        raise Refused(f"{a.kind} {operator} {b.kind}")

    def _quotient(self, a: Typed, b: Typed, right: Expression) -> Typed:
        if any(x.kind == "int" and x.magnitude > EXACT for x in (a, b)):
            raise Refused("a quotient of 64-bit integers")
        by = b.double()
        if b.constant is None or b.constant == 0:
            by = F.when(by == 0, self.fail(f"ZeroDivisionError: {right!r} is 0")).otherwise(by)
        return Typed(a.double() / by, "float")

    def _choice(self, condition: Typed, then: Typed, otherwise: Typed) -> Typed:
        if then.kind != otherwise.kind or then.kind not in ("bool", "int", "float", "str"):
            raise Refused(f"a choice between a {then.kind} and a {otherwise.kind}")
        x, y = aligned(then, otherwise)
        return Typed(
            F.when(truth(condition), x).otherwise(y),
            then.kind,
            then.nullable or otherwise.nullable,
            min(then.low, otherwise.low),
            max(then.high, otherwise.high),
        )

    def _membership(self, value: Typed, among: Expression) -> Typed:
        values = among._value if isinstance(among, Constant) else None
        if not isinstance(values, list | tuple | set | frozenset) or value.kind not in ("int", "str"):
            raise Refused("membership in what is no list or set of integers or strings")
        kind = int if value.kind == "int" else str
        if value.wide or any(v is not None and type(v) is not kind for v in values):
            raise Refused("membership among values of several types")
        named = [v for v in values if v is not None and (kind is str or abs(v) < 2**63)]
        found = value.column.isin(named) if named else F.lit(False)
        return Typed(F.when(value.column.isNull(), F.lit(None in values)).otherwise(found), "bool")

    def _affix(self, name: str, value: Typed, text: str, e: Expression) -> Typed:
        if value.kind != "str":
            raise Refused(f"{name} of a {value.kind}")
        column = self._present(value, e).column
        return Typed(
            F.startswith(column, F.lit(text)) if name == "startswith" else F.endswith(column, F.lit(text)),
            "bool",
        )

    def _call(self, function: Any, value: Typed, e: Expression) -> Typed:
        value = self._present(value, e)
        if function is len and value.kind == "str":
            return Typed(F.length(value.column), "int", False, 0, 2**31 - 1)
        if function is abs and value.kind == "float":
            return Typed(F.abs(value.column), "float")
        if function is abs and value.kind == "int" and value.magnitude < 2**63:
            return Typed(F.abs(value.column.cast("bigint")), "int", False, 0, value.magnitude)
        raise Refused(f"{function.__name__} of a {value.kind}")


def _floored(operator: str, a: Typed, b: Typed) -> Typed:
    """Return quotient or remainder, rounded down as in Python, by a positive constant."""
    by = b.constant
    if not isinstance(by, int) or not 0 < by < LARGEST_DIVISOR or a.wide:
        raise Refused(f"{operator} by what is no positive constant")
    n, d = a.column.cast("bigint"), F.lit(by).cast("bigint")
    rest = F.pmod(n, d)
    if operator == "%":
        return Typed(rest, "int", False, 0, by - 1)
    down = F.when((n < 0) & (rest != 0), F.lit(1)).otherwise(F.lit(0)).cast("bigint")
    truncated = F.call_function("div", n, d)
    return Typed(truncated - down, "int", False, a.low // by, a.high // by)
