"""`monitor`: the outputs for each key are those of the local run, whatever way is chosen."""

import threading
from collections import defaultdict
from operator import add
from pathlib import Path

import pytest
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

import millstream.processors
from millstream.palettes import cep, fol, fsm, lattice, ltl, slicer, timesync, windows
from millstream.palettes.ltl import (
    Monitor,
    Verdicts,
)  # fmt: skip
from millstream.palettes.spark import explain, monitor
from millstream.palettes.windows import Tumbling, Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    E,
    Filter,
    KeepLast,
    Passthrough,
    Processor,
    QueryError,
    X,
)  # fmt: skip

from . import queries
from .generated import generated
from .queries import NAMES, QUERIES, SCHEMA, events, pushed

#: what others are made of
BASES = {"Group", "Passthrough", "Processor", "Router", "Uniform", "Definitely", "Possibly"}
#: modules that `queries` names, because others have processors of the same names
QUALIFIED = {cep: "cep.", fol: "fol."}


def test_every_processor_of_every_palette_is_among_the_queries():
    text = Path(queries.__file__).read_text()
    for palette in [millstream.processors, cep, fol, fsm, lattice, ltl, slicer, timesync, windows]:
        kinds = {name for name in palette.__all__ if isinstance(getattr(palette, name), type)}
        offered = {name for name in kinds if issubclass(getattr(palette, name), Processor)}
        used = {name for name in offered if f"{QUALIFIED.get(palette, '')}{name}(" in text}
        assert offered - used - BASES == set()


def local(query, rows):
    """Return the outputs of the local run, by user."""
    traces = defaultdict(list)
    for user, t, *rest in sorted(rows, key=lambda r: r[1]):
        traces[user].append(dict(zip(NAMES, (user, t, *rest), strict=True)))
    return {user: list(map(repr, pushed(query, trace))) for user, trace in traces.items()}


def collected(df, names):
    """Return outputs by query and user, in the order of time; what came at the end last."""
    got = {name: defaultdict(list) for name in names}
    order = defaultdict(list)
    for k, row in enumerate(df.collect()):
        order[row["user"]].append((row["t"] is None, row["t"] or 0, k, row))
    for user, rows in order.items():
        for *_, row in sorted(rows, key=lambda r: r[:3]):
            for name in names:
                if row[name] is not None:
                    got[name][user].append(row[name])
    return got


@pytest.mark.parametrize("way", ["states", "runs"])
def test_every_palette_gives_the_local_verdicts_in_one_job(spark, way):
    traces = generated(st.lists(events, max_size=60), 15)
    numbered = enumerate((k, *event) for k, trace in enumerate(traces) for event in trace)
    rows = [(f"{user} {k}", t, *rest) for t, (k, user, *rest) in numbered]
    df = spark.createDataFrame(rows, SCHEMA).repartition(3, "n")
    texts = {name: query | Apply(repr) for name, query in QUERIES.items()}
    got = collected(monitor(df, texts, key="user", order_by="t", returns=str, way=way), list(QUERIES))
    for name, query in QUERIES.items():
        expected = {user: ys for user, ys in local(query, rows).items() if ys}
        assert got[name] == expected, (name, rows)


ROWS = [
    ("ann", 1, "login", 5, "x"),
    ("bob", 2, "pay", 3, "x"),
    ("ann", 3, "pay", 9, "y"),
    ("bob", 4, "use", 0, "y"),
]


@pytest.fixture(scope="module")
def small(spark):
    return spark.createDataFrame(ROWS, SCHEMA)


def rows(df, *order):
    return [tuple(r) for r in df.orderBy(*order).collect()]


def test_output_stands_beside_key_and_time(small):
    got = monitor(small, Apply(E.n) | Cumulate(add), key="user", order_by="t", output="total")
    assert got.columns == ["user", "t", "total"]
    assert rows(got, "t") == [("ann", 1, 5), ("bob", 2, 3), ("ann", 3, 14), ("bob", 4, 3)]


def test_columns_are_carried_and_null_at_the_end_of_a_trace(small):
    query = Apply(E.n) | Tumbling(Cumulate(add), 2, partial=True)
    got = monitor(small.where("t < 4"), query, key=["user"], order_by="t", carry=["item", "kind"])
    assert rows(got, "user") == [("ann", "y", "pay", 14), ("bob", None, None, 3)]
    everything = monitor(small, Count(), key="user", order_by="t", carry="*")
    assert everything.columns == [*NAMES, "output"]


def test_key_of_several_columns(small):
    got = monitor(small, Count(), key=["user", "item"], order_by="t")
    assert rows(got, "t") == [("ann", "x", 1, 1), ("bob", "x", 2, 1), ("ann", "y", 3, 1), ("bob", "y", 4, 1)]


def test_several_queries_share_one_shuffle(small):
    got = monitor(
        small,
        {"events": Count(), "paid": Filter(E.kind == "pay") | Apply(E.n), "last": Apply(E.kind) | KeepLast()},
        key="user", order_by="t",
    )  # fmt: skip
    assert rows(got, "user", F.col("t").asc_nulls_last()) == [
        ("ann", 1, 1, None, None), ("ann", 3, 2, 9, None), ("ann", None, None, None, "pay"),
        ("bob", 2, 1, 3, None), ("bob", 4, 2, None, None), ("bob", None, None, None, "use"),
    ]  # fmt: skip
    plan = got._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange") == 1


def test_query_of_expressions_needs_neither_shuffle_nor_python(small):
    got = monitor(small, Filter(E.n > 2) | Apply(E.n * 2 + 1), key="user", order_by="t")
    assert rows(got, "t") == [("ann", 1, 11), ("bob", 2, 7), ("ann", 3, 19)]
    plan = got._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan
    assert "MapInArrow" not in plan


def test_filter_alone_gives_the_rows(small):
    got = monitor(small, Filter(E.kind == "use"), key="user", order_by="t")
    assert [r.output.asDict() for r in got.collect()] == [dict(zip(NAMES, ROWS[3], strict=True))]


def test_filters_of_all_queries_drop_rows_before_the_shuffle(small):
    query = {"a": Filter(E.kind == "pay") | Count(), "b": Filter(E.n == 0) | Count()}
    got = monitor(small, query, key="user", order_by="t")
    assert rows(got, "t") == [("bob", 2, 1, None), ("ann", 3, 1, None), ("bob", 4, None, 1)]
    plan = got._jdf.queryExecution().executedPlan().toString()
    assert plan.index("Exchange") < plan.index("Filter")


def test_only_columns_that_are_read_are_shuffled(small):
    query = Verdicts("G (a -> F b)", atoms={"a": E.kind == "login", "b": E.n == 9})
    text = explain(small, query, key="user", order_by="t")
    assert "events: dicts of kind, n" in text
    query = Filter(lambda e: e["n"] > 2) | Verdicts("F a", atoms={"a": lambda e: e["kind"] == "pay"})
    assert "events: dicts of kind, n" in explain(small, query, key="user", order_by="t")
    assert "events: dicts of user, t, kind" in explain(small, Apply(len), key="user", order_by="t")


def test_explain_says_what_runs_where(small):
    query = Filter(E.n > 2) | Apply(E.kind.upper()) | Window(list, 2)
    text = explain(small, query, key="user", order_by="t", returns="array<string>")
    assert text.splitlines() == [
        "way: runs (a state may grow, so that keys come one after the other)",
        "output: Filter(E.n > 2) in Spark SQL; not Apply(E.kind.upper()): "
        "E.kind.upper() has no counterpart in SQL",
        "output: Apply(E.kind.upper()) | Sliding(list, 2) in Python",
        "events: dicts of kind",
        "shuffle: by user into 2",
        "result: struct<user:string,t:bigint,output:array<string>>",
    ]


def test_presorted_data_is_not_shuffled(small):
    sorted_once = small.repartition(3, "user").sortWithinPartitions("t")
    got = monitor(sorted_once, Count(), key="user", order_by="t", presorted=True)
    assert rows(got, "t") == [("ann", 1, 1), ("bob", 2, 1), ("ann", 3, 2), ("bob", 4, 2)]


@pytest.mark.parametrize("way", ["states", "runs"])
def test_presorted_data_out_of_order_is_refused(small, way):
    order = "t" if way == "states" else "user"
    mixed = small.coalesce(1).sortWithinPartitions(F.col(order).desc(), F.col("t").desc())
    with pytest.raises(PySparkException, match=r"presorted: .*after"):
        monitor(mixed, Count(), key="user", order_by="t", presorted=True, way=way).collect()


def test_types_come_from_declarations_a_sample_or_the_caller(small):
    def half(n: int) -> float:
        return n / 2

    def kinds(query, **options):
        return (
            monitor(small, query, key="user", order_by="t", **options)
            .schema["output"]
            .dataType.simpleString()
        )

    assert kinds(Apply(E.n) | half) == "double"
    assert kinds(Monitor("G (n < 5)")) == "string"
    assert kinds(Window(list, 2) | Apply(lambda es: [e["n"] for e in es])) == "array<bigint>"
    assert kinds(Apply(lambda e: (e["n"], e["kind"]))) == "struct<_1:bigint,_2:string>"
    assert kinds(Count(), returns="int") == "int"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "usr"}, r"key=\['usr'\]: there is no column 'usr', only user, t, kind, n, item"),
        ({"order_by": "time"}, r"order_by=\['time'\]: there is no column 'time'"),
        ({"carry": ["x"]}, r"carry=\['x'\]: there is no column 'x'"),
        ({"key": 3}, "key must be the name of a column or a list of names, got 3"),
        ({"key": []}, "key names at least one column; for one trace without keys, use monitor_trace"),
        ({"output": "t"}, "the output column 't' is also a column of the input; name it with output="),
        ({"way": "fast"}, "way must be one of auto, columns, states, runs, got 'fast'"),
        ({"query": Filter(E.price > 3)}, "reads 'price', and there is no such column, only user, t"),
        ({"query": Monitor("G (a -> F b)")}, "reads 'a', and there is no such column"),
        ({"query": Apply(E.n) & Count()}, "one input and one output, .* has 2 and 2"),
        ({"query": Filter(E.kind == "-") | Window(list, 2)}, "gave no output on a sample of 200 rows; name"),
        ({"query": Apply(lambda e: e["n"] / 0)}, "failed on a sample of 200 rows: .*ZeroDivisionError"),
        ({"query": Apply(lambda e: object())}, "an output of type object has no column type"),
        ({"query": Apply(E.kind < 3) | Count()}, r"Apply\(E.kind < 3\): str compared with int"),
        ({"query": {}}, "expected at least one query, got none"),
    ],
)  # fmt: skip
def test_wrong_call_is_refused_before_the_job(small, options, message):
    options = {"key": "user", "order_by": "t", "query": Count(), **options}
    with pytest.raises(QueryError, match=message):
        monitor(small, options.pop("query"), **options)


def test_query_that_cannot_travel_is_named(small):
    lock = threading.Lock()

    def guarded(e):
        with lock:
            return e["n"]

    with pytest.raises(QueryError, match=r"Apply\(.*guarded\) cannot be sent to Spark's workers .*lock"):
        monitor(small, Count() | Apply(guarded), key="user", order_by="t")


@pytest.mark.parametrize("column", ["user", "t"])
def test_null_key_or_time_is_named_with_its_event(small, column):
    broken = small.withColumn(column, F.when(F.col("n") != 3, F.col(column)))
    what = "key" if column == "user" else "time"
    with pytest.raises(PySparkException, match=rf"the {what} column {column} is null in the event .*'n': 3"):
        monitor(broken, Apply(E.n) | Count(), key="user", order_by="t", carry=["t", "n"]).collect()


@pytest.mark.parametrize("way", ["states", "runs"])
def test_failing_function_is_named_with_key_and_event(small, way):
    def invert(n):
        return 1 / n

    query = Passthrough() | Apply(lambda e: e["n"]) | Apply(invert)
    with pytest.raises(PySparkException) as caught:
        monitor(small, query, key="user", order_by="t", returns=float, way=way).collect()
    event = "{'user': 'bob', 't': 4, 'n': 0}"  # key, time, and what is read
    failed = "Apply(invert) failed: ZeroDivisionError: division by zero"
    assert f"key 'bob', on the event {event}: {failed}" in str(caught.value)


def test_failing_expression_names_processor_key_and_event(small):
    got = monitor(small.withColumn("i", F.col("n").cast("int")), Apply(6 / E.i), key="user", order_by="t")
    message = r'key bob, on the event .*"n":0.*: Apply\(6 / E.i\) failed: ZeroDivisionError: E.i is 0'
    with pytest.raises(PySparkException, match=message):
        got.collect()


def test_output_of_another_type_than_the_sample_is_named(small):
    query = Apply(lambda e: e["n"] if e["t"] < 4 else "many")
    with pytest.raises(
        PySparkException, match="the output 'many' does not fit the column output of type bigint"
    ):
        monitor(small, query, key="user", order_by="t", returns=int).collect()


COLUMNAR = {
    "count": Count(),
    "sum": Apply(E.n * 2) | Cumulate(add),
    "most": Apply(E.n) | Cumulate(max) | Apply(X + 1),
}


@pytest.mark.parametrize("name", COLUMNAR)
def test_columnar_query_gives_the_local_outputs(small, name):
    query = COLUMNAR[name]
    assert explain(small, query, key="user", order_by="t").startswith("way: columns")
    got = collected(monitor(small, query, key="user", order_by="t"), ["output"])["output"]
    assert {user: list(map(repr, ys)) for user, ys in got.items()} == local(query, ROWS)


def test_letters_of_a_monitor_are_computed_by_spark(small):
    query = Monitor("G (a -> F b)", atoms={"a": E.kind == "login", "b": E.kind == "pay"}, semantics="rv-ltl")
    text = explain(small, query, key="user", order_by="t")
    assert "events: values" in text
    got = [r.output for r in monitor(small, query, key="user", order_by="t").where("user = 'ann'").collect()]
    assert sorted(got) == ["PRESUMABLY_FALSE", "PRESUMABLY_TRUE"]
