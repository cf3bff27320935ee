"""Rows become events, outputs become columns, and types are found both ways."""

import datetime
import enum
from dataclasses import dataclass
from typing import NamedTuple

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql import types as T

from millstream.palettes.ltl import Verdict
from millstream.palettes.spark import as_column, batch_events, infer_type, row_event, spark_type
from millstream.palettes.spark.schema import check_columns
from millstream.processors import MillstreamError, QueryError

NOON = datetime.datetime(2024, 3, 1, 12, tzinfo=datetime.UTC)


class Colour(enum.Enum):
    RED = 1


class Pair(NamedTuple):
    left: int
    right: str


@dataclass
class Point:
    x: float
    tags: list[str]


@attrs.frozen
class Spot:
    point: Point
    colour: Colour


def test_rows_and_batches_give_the_same_events(spark):
    df = spark.sql(
        """select 1 as n, 'a' as s, 2.5d as f, true as b, null as nothing,
        timestamp '2024-03-01 12:00:00' as t, timestamp_ntz '2024-03-01 12:00:00' as local,
        array(1, 2) as l, map('k', timestamp '2024-03-01 12:00:00') as m,
        struct(1 as x, struct(timestamp '2024-03-01 12:00:00' as t) as y) as inside"""
    )
    expected = {
        "n": 1, "s": "a", "f": 2.5, "b": True, "nothing": None, "t": NOON, "local": NOON.replace(tzinfo=None),
        "l": [1, 2], "m": {"k": NOON}, "inside": {"x": 1, "y": {"t": NOON}},
    }  # fmt: skip
    assert batch_events(df.toArrow().to_batches()[0], df.columns) == [expected]


def test_row_is_an_event_with_the_same_values(spark):
    df = spark.sql(
        "select 'a' as s, struct(array(struct(1 as x)) as l, map('k', 2) as m) as inside, 1.5d as f"
    )
    assert row_event(df.collect()[0]) == batch_events(df.toArrow().to_batches()[0], df.columns)[0]
    assert row_event(Row(t=datetime.datetime.fromtimestamp(NOON.timestamp()))) == {"t": NOON}


def test_batch_without_columns_gives_empty_events():
    assert batch_events(pa.RecordBatch.from_pydict({"a": [1, 2]}), []) == [{}, {}]


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (int, "bigint"), (Verdict, "string"), (Colour, "string"), (int | None, "bigint"),
        (tuple[int, str], "struct<_1:bigint,_2:string>"), (tuple[int, ...], "array<bigint>"),
        (frozenset[str], "array<string>"), (Pair, "struct<left:bigint,right:string>"),
        (Spot, "struct<point:struct<x:double,tags:array<string>>,colour:string>"),
        (T.ShortType(), "smallint"),
    ],
)  # fmt: skip
def test_spark_type_of_declared_types(declared, text):
    assert spark_type(declared).simpleString() == text


def test_spark_type_of_text(spark):
    assert spark_type("struct<a: int>").simpleString() == "struct<a:int>"


@pytest.mark.parametrize("declared", [object, None, int | str, complex])
def test_spark_type_names_what_it_does_not_know(declared):
    with pytest.raises(QueryError, match=r"no column type for .*expected a Spark type"):
        spark_type(declared)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, 2.5], "double"), ([None, "a"], "string"), ([Verdict.TRUE], "string"), ([], "void"),
        ([{"a": 1}, {"b": None}], "map<string,bigint>"), ([[], [1]], "array<bigint>"),
        ([(1, None), (2, "a")], "struct<_1:bigint,_2:string>"),
        ([Pair(1, "a")], "struct<left:bigint,right:string>"),
        ([NOON], "timestamp"), ([Spot(Point(1, ["a"]), Colour.RED)],
        "struct<point:struct<x:bigint,tags:array<string>>,colour:string>"),
    ],
)  # fmt: skip
def test_infer_type_of_outputs(values, text):
    assert infer_type(values).simpleString() == text


def test_infer_type_refuses_what_has_no_column():
    with pytest.raises(QueryError, match=r"output of type object has no column type: .*returns="):
        infer_type([object()])
    with pytest.raises(QueryError, match="different types, bigint and string: no column holds both"):
        infer_type([1, "a"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([Pair(1, "a"), None], [{"left": 1, "right": "a"}, None]),
        ([Spot(Point(1.0, ["a"]), Colour.RED)], [{"point": {"x": 1.0, "tags": ["a"]}, "colour": "RED"}]),
        ([{"a": Verdict.FALSE}], [[("a", "FALSE")]]),
        ([(1, [2])], [{"_1": 1, "_2": [2]}]),
        ([NOON], [NOON]),
        ([1, 2.5], [1.0, 2.5]),
    ],
)
def test_outputs_become_a_column_of_their_inferred_type(values, expected):
    assert as_column(values, infer_type(values)).to_pylist() == expected


def test_output_that_does_not_fit_is_named():
    with pytest.raises(
        MillstreamError, match=r"the output 'x' does not fit the column verdict of type bigint .*returns="
    ):
        as_column([1, "x"], T.LongType(), "verdict")
    with pytest.raises(MillstreamError, match=r"the output \(1, 2, 3\) does not fit"):
        as_column([(1, 2), (1, 2, 3)], spark_type(tuple[int, int]))


def test_missing_column_is_named():
    with pytest.raises(QueryError, match="monitor: there is no column 'usr', only user, t"):
        check_columns(T.StructType().add("user", "string").add("t", T.LongType()), ["usr"], "monitor")
