"""Expressions as SQL columns: what is pushed down means the same as in Python, the rest is refused."""

import math
import re

import pytest
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.palettes.spark.pushdown import Translation
from millstream.palettes.spark.typed import Refused, truth
from millstream.processors import E, Filter, X, as_function, call, if_else, is_in

from .generated import generated

FIELDS = {
    "a": T.LongType(), "b": T.IntegerType(), "c": T.ByteType(), "f": T.DoubleType(), "g": T.DoubleType(),
    "s": T.StringType(), "r": T.StringType(), "p": T.BooleanType(),
}  # fmt: skip
SCHEMA = T.StructType([T.StructField(n, t) for n, t in FIELDS.items()])
SCHEMA.add("inside", T.StructType().add("n", T.LongType()).add("s", T.StringType()))
LONGS = [0, 1, -1, 7, -7, 2**53 + 1, 2**63 - 1, -(2**63), None]
REALS = [0.0, -0.0, 1.5, -2.5, 1e308, math.inf, -math.inf, math.nan, 7.0, None]
TEXTS = ["", "a", "ab", "b", "é", "\U0001f40e", "ß", "Z", None]


def row(k):
    """Return a row that mixes special values; k-th of a fixed sequence."""
    return (
        LONGS[k % 9], [0, 1, -1, 2**31 - 1, -(2**31), 7, -7, None][k % 8], [-128, 127, 0, 3, None][k % 5],
        REALS[k % 10], REALS[(k * 3 + 1) % 10], TEXTS[k % 9], TEXTS[(k * 2 + 1) % 9],
        [True, False, None][k % 3],
        None if k % 11 == 0 else {"n": LONGS[(k + 4) % 9], "s": TEXTS[(k + 2) % 9]},
    )  # fmt: skip


ROWS = [row(k) for k in range(180)]
EVENTS = [dict(zip(SCHEMA.names, r, strict=True)) for r in ROWS]
integers = st.sampled_from([0, 1, 2, -3, 7, 10**10, 2**63 - 1, -(2**63), 2**70])
constants = st.one_of(
    integers, st.sampled_from([0.0, 1.5, -2.0, math.inf, math.nan, "", "a", "é", None, True])
)
leaves = st.one_of(
    st.sampled_from([E.a, E.b, E.c, E.f, E.g, E.s, E["r"], E.p, E.inside.n, E.inside["s"]]), constants
)
SYMBOLS = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&",
    "|",
    "in",
    "neg",
    "not",
    "len",
]


def combine(symbol, x, y, z):
    """Return an expression; whether Spark can compute it is not asked."""
    both = {
        "+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y, "//": lambda: x // y,
        "%": lambda: x % y, "<": lambda: x < y, "<=": lambda: x <= y, ">": lambda: x > y,
        ">=": lambda: x >= y, "^": lambda: x ^ y, "~": lambda: ~x,
        "==": lambda: x == y, "!=": lambda: x != y, "&": lambda: (x == z) & (y > z),
        "|": lambda: (x != z) | (y <= z), "neg": lambda: -x, "not": lambda: ~(x == y),
        "len": lambda: call(len, x), "abs": lambda: call(abs, x), "if": lambda: if_else(x == z, x, y),
        "starts": lambda: x.startswith("a"), "ends": lambda: x.endswith("b"),
        "in": lambda: is_in(x, {1, 7, None}), "among": lambda: is_in(x, ("a", "é")),
    }  # fmt: skip
    return both[symbol]()


def lifted(value):
    return if_else(True, value, value) if not hasattr(value, "_arity") else value


symbols = st.sampled_from([*SYMBOLS, "abs", "if", "^", "~", "starts", "ends", "among"])
expressions = st.recursive(
    leaves.map(lifted), lambda of: st.builds(combine, symbols, of, of, of), max_leaves=6
)


def outcome(function, event):
    """Return what Python gives for an event, ZeroDivisionError and the like if it fails."""
    try:
        return function(event)
    except (TypeError, ZeroDivisionError, AttributeError, KeyError, OverflowError) as error:
        return type(error)


def same(value, expected):
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(value, float) and math.isnan(value)
    if isinstance(expected, float) and expected == 0:
        return value == 0 and math.copysign(1, value) == math.copysign(1, expected)
    return type(value) is type(expected) and value == expected


@pytest.fixture(scope="module")
def table(spark):
    numbered = T.StructType([T.StructField("k", T.LongType()), *SCHEMA.fields])
    return spark.createDataFrame([(k, *r) for k, r in enumerate(ROWS)], numbered).cache()


def test_pushed_expressions_give_what_python_gives(table):
    pushed = []
    translation = Translation(SCHEMA, lambda why: F.lit(None))
    for e in generated(expressions, 240):
        try:
            typed = translation.translate(e)
        except Refused:
            continue
        pushed.append((e, typed.column.cast("string") if typed.wide else typed.column, typed.wide))
    rows = table.select("k", *(c.alias(f"c{i}") for i, (_, c, _) in enumerate(pushed))).collect()
    for i, (e, _, wide) in enumerate(pushed):
        function = as_function(e)
        for got in rows:
            expected = outcome(function, EVENTS[got["k"]])
            if isinstance(expected, type):  # Python fails: the column would have failed as well
                continue
            value = int(got[f"c{i}"]) if wide and got[f"c{i}"] is not None else got[f"c{i}"]
            assert same(value, expected), f"{e!r} on {EVENTS[got['k']]}: {value!r} instead of {expected!r}"


@pytest.mark.parametrize(
    "e",
    [
        E.a > 3, E.s == "a", (E.b * E.b + E.c) % 7, E.f / 2, -E.b, is_in(E.s, {"a", "b"}), E.a + E.a > 0,
        E.s.startswith("a") & (E.f < E.g), if_else(E.b > 0, E.s, E.r), E.inside.n == 1, call(len, E.s),
        E.b / E.c, E.p & E.s.endswith("b"), ~E.p,
    ],
    ids=repr,
)  # fmt: skip
def test_usual_expressions_are_pushed(spark, e):
    Translation(SCHEMA, lambda why: F.lit(None)).translate(e)


@pytest.mark.parametrize(
    ("e", "why"),
    [
        (E.a / 2, "a quotient of 64-bit integers"),
        (E.a > 2.5, "64-bit integers compared with floats"),
        (E.b // E.c, "// by what is no positive constant"),
        (E.b % -3, "% by what is no positive constant"),
        (E.f % 2, "float % int"),
        (E.s + "x", "str + str"),
        (E.s == 1, "str compared with int"),
        (E.p == 1, "bool compared with int"),
        (E.s.lower() == "a", "has no counterpart in SQL"),
        (E.missing == 1, "there is no column 'missing'"),
        (call(round, E.f), "has no counterpart in SQL"),
        (if_else(E.p, 1, 1.5), "a choice between a int and a float"),
        (is_in(E.s, "abc"), "membership in what is no list"),
        (is_in(E.a, {1, "a"}), "membership among values of several types"),
        (E.inside.x, "is not a struct with a field 'x'"),
        (E.a * E.a * E.a, "may exceed 38 digits"),
        (X, "has no counterpart"),
    ],
    ids=lambda v: repr(v) if hasattr(v, "_arity") else "",
)
def test_what_differs_from_python_is_refused(spark, e, why):
    with pytest.raises(Refused, match=re.escape(why)):
        Translation(SCHEMA, lambda why: F.lit(None)).translate(e)


@pytest.mark.parametrize(
    ("e", "why"),
    [(E.a > 0, "E.a is None"), (1 / E.b > 0, "E.b is"), (E.inside.n == 0, "E.inside is None"),
     (E.s.startswith("a"), "E.s is None")],
    ids=repr,
)  # fmt: skip
def test_column_fails_where_python_fails(table, e, why):
    def fail(text):
        return F.raise_error(F.lit(f"{Filter(e)!r}: {text}"))

    typed = Translation(SCHEMA, fail).translate(e)
    with pytest.raises(PySparkException, match=why):
        table.where(truth(typed)).collect()
