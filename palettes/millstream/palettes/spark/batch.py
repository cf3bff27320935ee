"""`monitor`: queries over a DataFrame, for each key in the order of time.

The plan is made before anything runs and can be read (`explain`). Expressions at the head of a query become
columns and conditions in front of the shuffle; a query that is nothing else needs neither shuffle nor Python.
The rest runs in `mapInArrow` over hash partitions, which measured best of all ways to host a Python monitor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any

from attrs import evolve, frozen
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.processors import Graph, Mutable, ParameterError, Query, QueryError
from millstream.processors.errors import shorten

from .checks import Columns, as_names, as_queries, check_reads
from .cores import Walk
from .hosting import Hosting
from .pushdown import quoted
from .schema import infer_type, spark_type
from .splitting import Split, columns_read, fields_read, push_letters, split

#: rows that are looked at when nothing else tells the type of the outputs
SAMPLE = 200
#: the column that holds the events of a query whose head was pushed down
VALUE = "__event"
WAYS = ("auto", "columns", "states", "runs")
GROWING = (list, dict, set, deque, Mutable)


@frozen
class BatchPlan:
    """How queries will run over a DataFrame: print it, or make the result with `dataframe`."""

    prepared: DataFrame
    hosting: Hosting
    splits: tuple[Split, ...]
    way: str
    reason: str
    partitions: int
    presorted: bool

    @property
    def schema(self) -> T.StructType:
        """The schema of the result."""
        h = self.hosting
        kept = [T.StructField(n, h.schema[n].dataType) for n in h.kept]
        return T.StructType([*kept, *(T.StructField(n, k) for n, k in zip(h.names, h.kinds, strict=True))])

    def dataframe(self) -> DataFrame:
        """Return the result, which Spark computes when it is asked for."""
        h = self.hosting
        if self.way == "native":
            outputs = [F.col(VALUE).alias(n) for n in h.names]
            return self.prepared.select(*map(quoted, h.kept), *outputs)
        df = self.prepared
        run = {"runs": h.by_runs, "columns": h.by_columns}.get(self.way, h.by_states)
        if self.presorted:
            run = partial(h.presorted, self.way == "runs")
        else:
            by = (*h.key, *h.order) if self.way == "runs" else h.order
            df = df.repartition(self.partitions, *map(quoted, h.key)).sortWithinPartitions(*map(quoted, by))
        return df.mapInArrow(run, self.schema)

    def __str__(self) -> str:
        lines = [f"way: {self.way} ({self.reason})"]
        for name, s in zip(self.hosting.names, self.splits, strict=True):
            pushed = " | ".join(map(repr, s.pushed)) or "nothing"
            lines.append(f"{name}: {pushed} in Spark SQL" + (f"; not {s.stopped}" if s.stopped else ""))
            if s.rest is not None:
                lines.append(f"{name}: {shorten(s.rest, 200)} in Python")
        if self.way != "native":
            events = "values" if self.hosting.value else "dicts of " + ", ".join(self.hosting.columns)
            lines.append(f"events: {events}")
            shuffle = (
                "none (presorted)"
                if self.presorted
                else f"by {', '.join(self.hosting.key)} into {self.partitions}"
            )
            lines.append(f"shuffle: {shuffle}")
        lines.append(f"result: {self.schema.simpleString()}")
        return "\n".join(lines)


def plan_batch(
    df: DataFrame,
    query: Any,
    *,
    key: Any,
    order_by: Any = (),
    output: str = "output",
    returns: Any = None,
    carry: Any = None,
    partitions: int | None = None,
    presorted: bool = False,
    way: str = "auto",
) -> BatchPlan:
    """Return how queries will run over a DataFrame; parameters as for `monitor`."""
    if way not in WAYS:
        raise ParameterError(f"monitor: way must be one of {', '.join(WAYS)}, got {way!r}")
    queries = as_queries(query, output)
    order = as_names(order_by, "order_by")
    carried = order if carry is None else df.columns if carry == "*" else as_names(carry, "carry")
    columns = Columns(df.schema, as_names(key, "key"), order, tuple(carried), tuple(queries))
    if not columns.key:
        raise QueryError(
            "monitor: key names at least one column; for one trace without keys, use monitor_trace"
        )
    for q in queries.values():
        check_reads(q, fields_read(q)[0], df.schema)
    splits = tuple(split(q, df.schema, columns.key) for q in queries.values())
    if len(splits) == 1:
        splits = (push_letters(splits[0], df.schema, columns.key, named=True) or splits[0],)
    prepared, hosting = _prepare(df, columns, tuple(queries.values()), splits)
    if hosting.value is not None and splits[0].rest is None:
        way, reason = "native", "all of it is expressions"
        hosting = evolve(hosting, kinds=(prepared.schema[VALUE].dataType,))
    else:
        if way == "auto":
            way, reason = _choose(hosting, presorted)
        else:
            reason = "as asked for"
        hosting = evolve(hosting, kinds=_kinds(prepared, hosting, returns))
    count = partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    return BatchPlan(prepared, hosting, splits, way, reason, count, presorted)


def _prepare(
    df: DataFrame, columns: Columns, queries: Sequence[Query], splits: Sequence[Split]
) -> tuple[DataFrame, Hosting]:
    """Return the rows and columns that are needed, and what tasks do with them."""
    only = splits[0] if len(splits) == 1 else None
    conditions = [s.condition for s in splits]
    if all(c is not None for c in conditions):
        df = df.where(reduce(or_, [c for c in conditions if c is not None]))
    value: Column | None = None
    if only is not None:
        queries = [only.rest if only.rest is not None else queries[0]]
        value = None if only.value is None else only.value.column
    read = _read(queries, df.columns) if value is None else []
    if only is not None and only.rest is None and value is None:  # filters only: the events are the rows
        value = F.struct(*map(quoted, df.columns))
        read = []
    needed = dict.fromkeys((*columns.kept, *columns.order, *read))
    prepared = df.select(*map(quoted, needed), *([] if value is None else [value.alias(VALUE)]))
    hosting = Hosting(
        tuple(queries), columns.outputs, (), columns.key, columns.order, columns.kept, tuple(read),
        None if value is None else VALUE, prepared.schema,
    )  # fmt: skip
    return prepared, hosting


def _read(queries: Sequence[Query], all_columns: list[str]) -> list[str]:
    """Return the columns that events are made of."""
    fields = [columns_read(q) for q in queries]
    if None in fields:
        return all_columns
    return [name for name in all_columns if any(name in f for f in fields if f is not None)]


def _choose(hosting: Hosting, presorted: bool) -> tuple[str, str]:
    """Choose between columns, a state for each key, and one key after the other."""
    if len(hosting.queries) == 1 and not presorted:
        try:
            hosting.columnar()
        except QueryError:
            pass
        else:
            return "columns", "it has a form over Arrow batches, which needs no Python objects"
    for q in hosting.queries:
        for values in q.into().fresh():
            if isinstance(values, GROWING):
                return "runs", "a state may grow, so that keys come one after the other"
    return "states", "a state has a fixed size, so that each key keeps one and nothing is sorted by key"


def _kinds(prepared: DataFrame, hosting: Hosting, returns: Any) -> tuple[T.DataType, ...]:
    """Return the types of the outputs: given, declared, or those of a sample."""
    given = returns if isinstance(returns, Mapping) else dict.fromkeys(hosting.names, returns)
    kinds: list[T.DataType | None] = []
    for name, query in zip(hosting.names, hosting.queries, strict=True):
        wanted = given.get(name)
        kinds.append(declared_type(query) if wanted is None else spark_type(wanted))
    if None in kinds:
        rows = prepared.limit(SAMPLE).toArrow().combine_chunks().to_batches()
        kinds = [k or _sampled(hosting, rows, n) for n, k in enumerate(kinds)]
    return tuple(k for k in kinds if k is not None)


def declared_type(query: Query) -> T.DataType | None:
    """Return the type that the last processor declares, if it is one that a column can have."""
    if isinstance(query, Graph) and type(query.nodes[-1]) is Walk:
        return T.StringType()
    node, port = query.graph.exits[0]
    declared = query.graph.nodes[node].types()[1][port]
    try:
        return None if declared is None else spark_type(declared)
    except QueryError:
        return None


def _sampled(hosting: Hosting, batches: list[Any], number: int) -> T.DataType:
    """Return the type of what a query gives on a sample of rows."""
    query, name = hosting.queries[number], hosting.names[number]
    traces: dict[Any, list[Any]] = {}
    for batch in batches:
        hosting.check(batch)
        ordered = batch.sort_by([(n, "ascending") for n in hosting.order]) if hosting.order else batch
        for key, event in zip(hosting.keys(ordered), hosting.events(ordered), strict=True):
            traces.setdefault(key, []).append(event)
    hint = f"name the type of {name} with returns=, such as returns=int or returns='array<string>'"
    try:
        kind = infer_type(y for events in traces.values() for y in query(events))
    except QueryError:
        raise
    except Exception as error:
        raise QueryError(f"{shorten(query)} failed on a sample of {SAMPLE} rows: {error}; {hint}") from error
    if isinstance(kind, T.NullType):
        raise QueryError(f"{shorten(query)} gave no output on a sample of {SAMPLE} rows; {hint}")
    return kind


def monitor(df: DataFrame, query: Any, **options: Any) -> DataFrame:
    """Run a query over a DataFrame, on the events of each key in the order of time.

    Parameters
    ----------
    df : DataFrame
        The events; each row is a dict.
    query : Query or dict
        The query, as it runs locally; or several by name, which share one shuffle.
    key : str or list of str
        The columns that a trace is told by.
    order_by : str or list of str
        The columns that order it. Events that are equal in them come in any order.
    output : str
        The name of the column for the outputs.
    returns : type, optional
        The type of the outputs: a Python type, a Spark type or a DDL text; a dict for several queries. If
        left out, what the query declares, or what it gives on a sample of 200 rows.
    carry : list of str or "*", optional
        Columns of the event at which an output came, to stand beside it; `order_by` if left out. At the end
        of a trace they are null.
    partitions : int, optional
        How many tasks; Spark's ``spark.sql.shuffle.partitions`` if left out.
    presorted : bool
        The DataFrame is already partitioned by key and ordered within each partition: nothing is shuffled.
    way : str
        ``"columns"``, ``"states"``, ``"runs"``, or ``"auto"``: see `explain`.

    Returns
    -------
    A DataFrame with the key, the carried columns and the outputs: one row for each output, or for several
    queries one row for the n-th output of each at the same event.

    Examples
    --------
    >>> from millstream.palettes.ltl import Monitor
    >>> from millstream.palettes.spark import local_session, monitor
    >>> spark = local_session()
    >>> df = spark.createDataFrame(
    ...     [("ann", 1, True), ("ann", 2, False), ("bob", 1, True)], ["user", "t", "ok"]
    ... )
    >>> monitor(df, Monitor("G ok"), key="user", order_by="t").orderBy("user", "t").show()
    +----+---+-------+
    |user|  t| output|
    +----+---+-------+
    | ann|  1|UNKNOWN|
    | ann|  2|  FALSE|
    | bob|  1|UNKNOWN|
    +----+---+-------+
    <BLANKLINE>
    """
    return plan_batch(df, query, **options).dataframe()


def explain(df: DataFrame, query: Any, **options: Any) -> str:
    """Say how `monitor` would run a query: what Spark SQL computes, what Python does, and the schema.

    Parameters are those of `monitor`.

    Examples
    --------
    >>> from millstream.palettes.spark import explain, local_session
    >>> from millstream.processors import Apply, Count, E, Filter
    >>> df = local_session().createDataFrame([("ann", 1, "buy")], ["user", "t", "kind"])
    >>> print(explain(df, Filter(E.kind == "buy") | Count(), key="user", order_by="t", returns=int))
    way: columns (it has a form over Arrow batches, which needs no Python objects)
    output: Filter(E.kind == 'buy') in Spark SQL; not Count(): is no expression
    output: Count() in Python
    events: dicts of user, t, kind
    shuffle: by user into 2
    result: struct<user:string,t:bigint,output:bigint>
    """
    return str(plan_batch(df, query, **options))
