"""`monitor_trace`: one trace, whatever its partitions, gives what the local run gives."""

from itertools import pairwise
from operator import add, mul

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.palettes.fsm import OTHERWISE, MooreMachine, On
from millstream.palettes.ltl import Monitor, Verdict, Verdicts
from millstream.palettes.spark import monitor_trace
from millstream.palettes.spark.cores import NoCore, as_chain
from millstream.palettes.spark.stretches import Entry, Reading, Summing, Telling
from millstream.palettes.spark.walking import Walker
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, Cumulate, E, Filter, KeepLast, Passthrough, QueryError, X

from .generated import generated

SCHEMA = "t long, kind string, n long"
NAMES = ["t", "kind", "n"]
ATOMS = {"a": E.kind == "req", "b": E.kind == "ok"}


def is_request(event):
    return event["kind"] == "req"


MOVES = {"shut": {"req": "open", OTHERWISE: "shut"}, "open": {"ok": "shut", OTHERWISE: "open"}}
#: queries that are computed in parallel
PARALLEL = {
    "pushed": Monitor("G (a -> F b)", atoms=ATOMS, semantics="rv-ltl"),
    "text": Monitor("(n < 8) U (kind == 'ok')"),
    "python": Monitor("G (a -> X b)", atoms={"a": is_request, "b": E.n > 2}),
    "bounded": Filter(E.n != 3) | Monitor("a -> F[0,4] b", atoms=ATOMS, semantics="ltlf") | Apply(repr),
    "filtered": Filter(lambda e: e["n"] % 2) | Apply(E.n) | Monitor("F big", atoms={"big": X > 6})
                | Filter(X == Verdict.TRUE),
    "machine": Apply(E.kind) | MooreMachine.from_table("shut", MOVES),
    "sum": Apply(E.n) | Cumulate(add),
    "product": Apply(lambda e: e["n"] - 4) | Cumulate(mul, start=1),
    "maximum": Apply(E.n) | Cumulate(max) | Apply(X * 2),
    "count": Filter(E.kind == "ok") | Count(),
}  # fmt: skip
events = st.tuples(st.sampled_from(["req", "ok", "x"]), st.integers(0, 9))


@given(st.integers(1, 5), st.integers(1, 4), st.lists(st.integers(0, 3), max_size=40), st.randoms())
def test_walker_goes_where_a_loop_goes(states, width, letters, random):
    table = [[random.randrange(states) for _ in range(width)] for _ in range(states)]
    letters = [v % width for v in letters]
    walker = Walker(table)
    ends = []
    for before in range(states):
        path, now = [], before
        for v in letters:
            now = table[now][v]
            path.append(now)
        ends.append(now)
        assert walker.states(np.array(letters, dtype=int), before).tolist() == path
    assert walker.summary(np.array(letters, dtype=int)) == tuple(ends)


def as_batches(rows, size):
    columns = pa.schema({"t": pa.int64(), "kind": pa.string(), "n": pa.int64()})
    parts = [rows[k : k + size] for k in range(0, len(rows), size)]
    return [pa.RecordBatch.from_pylist([dict(zip(NAMES, r, strict=True)) for r in p], columns) for p in parts]


@pytest.mark.parametrize("name", PARALLEL)
@given(st.lists(events, min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(1, 9))
def test_stretches_give_what_the_whole_trace_gives_wherever_it_is_cut(name, trace, cuts, size):
    """What the tasks do, here one after the other."""
    rows = [(t, *rest) for t, rest in enumerate(trace)]
    places = [0, *sorted(cuts), len(rows)]
    parts = [as_batches(rows[a:b], size) for a, b in pairwise(places) if a < min(b, len(rows))]
    found, reading = as_chain(PARALLEL[name]), Reading(("t",), tuple(NAMES), None)
    query, schema = found.query() | Apply(repr), T.StructType().add("t", "long")
    now, told = found.core.start, []
    for part in parts:
        stretch = Summing(reading, found).stretch(part)
        entries = {0: Entry(now, stretch.first)}
        telling = Telling(reading, query, found, entries, ("t",), "y", T.StringType(), schema)
        told += [row["y"] for batch in telling.every(part) for row in batch.to_pylist()]
        now = found.core.after(now, stretch.summary)
    assert told == list(map(repr, PARALLEL[name]([dict(zip(NAMES, r, strict=True)) for r in rows])))


@pytest.fixture(scope="module")
def generated_traces(spark):
    """A trace in no order, and one in ranges of time."""
    made = []
    for trace in generated(st.lists(events, min_size=20, max_size=60), 3)[1:]:
        rows = [(t, *rest) for t, rest in enumerate(trace)]
        df = spark.createDataFrame(rows, SCHEMA)
        ranged = df.repartitionByRange(3, "t").sortWithinPartitions("t")
        made.append((rows, (ranged if made else df.repartition(4, "n")).cache()))
    return made


@pytest.mark.parametrize("name", PARALLEL)
def test_trace_gives_what_the_local_run_gives_on_any_partitioning(generated_traces, name):
    for rows, df in generated_traces:
        expected = list(PARALLEL[name]([dict(zip(NAMES, r, strict=True)) for r in rows]))
        got = monitor_trace(df, PARALLEL[name], order_by="t", every=True, returns=None if expected else int)
        texts = [y.name if isinstance(y, Verdict) else y for y in expected]
        assert [r.output for r in sorted(got.collect(), key=lambda r: r.t)] == texts
    assert monitor_trace(df, PARALLEL[name], order_by="t") == (expected[-1] if expected else None)


@pytest.fixture(scope="module")
def trace(spark):
    rows = [(t, "req" if t % 3 else "ok", t % 7) for t in range(60)]
    return spark.createDataFrame(rows, SCHEMA).repartition(4)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Verdicts("a -> F b", atoms=ATOMS, at_end="finite"), "keeps a state that cannot be summed up"),
        (Apply(E.n) | Window(Cumulate(add), 3), "keeps a state that cannot be summed up"),
        (Apply(E.n) | Count() | Cumulate(add), "it has several processors with a state"),
        (Apply(lambda e: e["n"] / 2) | Cumulate(add), "sums and products of floats"),
        (Apply(E.kind) | KeepLast(), "keeps a state that cannot be summed up"),
    ],
    ids=["future", "window", "two", "floats", "end"],
)
def test_other_queries_run_in_one_task_and_say_why(trace, query, why):
    expected = list(query([r.asDict() for r in trace.orderBy("t").collect()]))
    with pytest.warns(RuntimeWarning, match=f"runs in one task, in order: .*{why}"):
        assert monitor_trace(trace, query, order_by="t") == expected[-1]
    with pytest.warns(RuntimeWarning, match=why):
        got = monitor_trace(trace, query, order_by="t", every=True)
    assert sorted(map(repr, expected)) == sorted(repr(r.output) for r in got.collect())


def test_partitions_in_order_are_not_shuffled(spark):
    df = spark.range(0, 1000, 1, 4).withColumnRenamed("id", "t")
    got = monitor_trace(df, Monitor("G (t < 999)"), order_by="t", every=True)
    assert "Exchange" not in got._jdf.queryExecution().executedPlan().toString()
    assert got.where("output = 'FALSE'").count() == 1


def test_ties_and_several_columns_order_a_trace(spark):
    df = spark.range(0, 200).selectExpr("id div 10 as t", "id as seq").repartition(5)
    got = monitor_trace(df, Apply(E.seq) | Cumulate(max), order_by=["t", "seq"], every=True)
    assert [r.output for r in got.orderBy("t", "seq").collect()] == list(range(200))


def test_sorted_rows_do_not_stay_in_memory_when_only_the_last_output_is_asked_for(spark, trace):
    def kept():
        return len(spark.sparkContext._jsc.getPersistentRDDs())

    before = kept()
    assert monitor_trace(trace, Filter(E.n > 2) | Count(), order_by="t") > 0
    assert monitor_trace(trace, Filter(lambda e: e["n"] > 2) | Count(), order_by="t") > 0
    assert kept() == before


def test_outputs_asked_for_later_do_not_lose_their_ranges(trace):
    query = Filter(lambda e: e["n"] != 3) | Count()
    every = monitor_trace(trace, query, order_by="t", every=True)
    last = monitor_trace(trace, query, order_by="t")
    assert sorted(r.output for r in every.collect()) == list(range(1, last + 1))


def test_empty_trace_has_no_output(trace):
    assert monitor_trace(trace.where("t < 0"), Monitor("G (n < 9)"), order_by="t") is None


def test_machine_that_gets_stuck_fails_with_the_event(trace):
    query = Apply(E.kind) | MooreMachine("start", [On("start", "ok", "start")])
    with pytest.raises(
        PySparkException, match=r"on the event 'req': MooreMachine.* failed: ValueError: state 'start' has no"
    ):
        monitor_trace(trace, query, order_by="t")


def test_failing_function_names_processor_and_event(trace):
    def invert(e):
        return 1 / e["n"]

    with pytest.raises(PySparkException, match=r"on the event \{'t': 0, .*: Apply\(invert\) failed: ZeroDiv"):
        monitor_trace(trace.where("t in (0, 1)"), Apply(invert) | Cumulate(max), order_by="t")


def test_null_time_is_refused(trace):
    broken = trace.withColumn("t", F.when(F.col("n") > 0, F.col("t")))
    with pytest.raises(PySparkException, match="the time column t is null in some rows; leave them out"):
        monitor_trace(broken, Count(), order_by="t")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order_by": "time"}, "there is no column 'time'"),
        ({"order_by": []}, "order_by names at least one column"),
        ({"query": Monitor("G x")}, "reads 'x', and there is no such column"),
        ({"output": "t"}, "the output column 't' is also a column of the input"),
    ],
)
def test_wrong_call_is_refused_before_the_job(trace, options, message):
    options = {"order_by": "t", "query": Count(), **options}
    with pytest.raises(QueryError, match=message):
        monitor_trace(trace, options.pop("query"), **options)


def test_core_is_found_between_processors_without_state():
    found = as_chain(Apply(E.n) | Passthrough() | Count() | Apply(str))
    assert (len(found.before), len(found.after)) == (2, 1)
    with pytest.raises(NoCore, match="it has no state at all"):
        as_chain(Apply(str))
