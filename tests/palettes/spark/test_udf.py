"""`monitor_udf`: a query in groupBy, in aggregates, and in SQL."""

import pytest
from pyspark.errors import PySparkException

from millstream.palettes.ltl import Monitor, Verdicts
from millstream.palettes.spark import monitor_udf
from millstream.processors import Apply, Count, E, Filter, QueryError

ROWS = [("ann", 2, False, 0), ("bob", 1, True, 4), ("ann", 1, True, 2), ("bob", 2, True, 1)]


@pytest.fixture(scope="module")
def log(spark):
    df = spark.createDataFrame(ROWS, "user string, t long, ok boolean, n long")
    df.createOrReplaceTempView("udf_log")
    return df


def test_rows_give_all_outputs_of_a_group(log):
    f = monitor_udf(Verdicts("ok", at_end="finite"), order_by="t", output="holds")
    got = log.groupBy("user").applyInArrow(f.rows, f.schema)
    assert (got.columns, sorted(r.holds for r in got.collect())) == (["holds"], [False, True, True, True])


def test_aggregate_gives_the_last_output_of_a_group(log):
    f = monitor_udf(Monitor("G ok"), order_by="t")
    got = log.groupBy("user").agg(f("t", "ok").alias("safe"))
    assert sorted(map(tuple, got.collect())) == [("ann", "FALSE"), ("bob", "UNKNOWN")]


def test_registered_function_works_in_sql(spark, log):
    monitor_udf(Filter(E.n > 0) | Count(), order_by="t").register(spark, "above_zero")
    got = spark.sql("select user, above_zero(struct(t, n)) as k from udf_log group by user")
    assert sorted(map(tuple, got.collect())) == [("ann", 1), ("bob", 2)]


def test_group_without_output_is_null(spark, log):
    monitor_udf(Filter(E.n > 3) | Count(), order_by="t").register(spark, "large")
    got = spark.sql("select user, large(struct(t, n)) as k from udf_log group by user")
    assert sorted(map(tuple, got.collect()), key=repr) == [("ann", None), ("bob", 1)]


def test_failing_function_is_named_with_its_event(log):
    f = monitor_udf(Apply(lambda e: 1 / e["n"]), order_by="t", returns=float)
    with pytest.raises(PySparkException, match=r"on the event \{.*'n': 0.*failed: ZeroDivisionError"):
        log.groupBy("user").agg(f("t", "n")).collect()


def test_type_must_be_declared_or_given():
    with pytest.raises(QueryError, match=r"does not declare the type of its outputs; name it with returns="):
        monitor_udf(Apply(lambda e: e["n"]))
    with pytest.raises(QueryError, match="one input and one output"):
        monitor_udf(Apply(E.n) & Count())
