"""`monitor_trace`: a query over one trace without keys, its stretches computed at the same time.

Each partition becomes the summary of a stretch (see `cores`), the summaries are folded in the order of time,
and a second pass computes the outputs of each stretch from the state before it. If the partitions of the
DataFrame are already stretches of the trace, nothing is shuffled: each task says whether its rows were in
order, where they began and where they ended. Otherwise the rows are sorted into ranges of time first.
"""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from typing import Any

from attrs import evolve, frozen
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T

from millstream.processors import Apply, Query, QueryError, chain
from millstream.processors.errors import shorten

from .batch import SAMPLE, VALUE, declared_type
from .checks import Columns, as_names, as_queries, check_reads
from .cores import Chain, NoCore, as_chain
from .pushdown import quoted
from .schema import infer_type, spark_type
from .splitting import columns_read, fields_read, push_letters, split
from .stretches import REPORT, Entry, Reading, Stretch, Summing, Telling


@frozen
class TracePlan:
    """A query over one trace, prepared."""

    df: DataFrame
    columns: Columns
    reading: Reading
    query: Query
    #: None if one task must run all of it
    chain: Chain | None
    #: whether the events are letters of the chain's automaton
    letters: bool
    #: why one task must run all of it
    why: str = ""
    #: whether the rows were sorted, and are cached for this call alone
    cached: bool = False

    def one_task(self, why: str) -> TracePlan:
        """Return the plan in which one task runs the whole trace, and warn."""
        text = f"monitor_trace: {shorten(self.query)} runs in one task, in order: {why}"
        warnings.warn(text, RuntimeWarning, stacklevel=4)
        df = self.df.repartition(1).sortWithinPartitions(*map(quoted, self.columns.order))
        return evolve(self, df=df, chain=None, why=why)


def plan_trace(df: DataFrame, query: Any, order_by: Any, output: str, carry: Any) -> TracePlan:
    """Return how a query will run over one trace."""
    (made,) = as_queries(query, output).values()
    order = as_names(order_by, "order_by")
    if not order:
        raise QueryError("monitor_trace: order_by names at least one column")
    carried = order if carry is None else df.columns if carry == "*" else as_names(carry, "carry")
    columns = Columns(df.schema, (), order, tuple(carried), (output,))
    check_reads(made, fields_read(made)[0], df.schema)
    cut = split(made, df.schema, ())
    lettered = push_letters(cut, df.schema, ())
    letters, cut = lettered is not None, lettered or cut
    rest = cut.rest if cut.rest is not None else Apply(_same)
    df = df if cut.condition is None else df.where(cut.condition)
    value = None if cut.value is None else cut.value.column
    found, why = None, ""
    try:
        found = as_chain(rest)
    except NoCore as reason:
        why = str(reason)
    return _prepared(df, columns, found, value, rest, letters, why)


def _same(event: Any) -> Any:
    return event


def _prepared(
    df: DataFrame,
    columns: Columns,
    found: Chain | None,
    value: Column | None,
    rest: Query,
    letters: bool,
    why: str,
) -> TracePlan:
    """Return the plan with the columns that are needed."""
    read = columns_read(rest)  # and the time, so that an error tells it
    chosen = tuple(n for n in df.columns if read is None or n in read or n in columns.order)
    names = () if value is not None else chosen
    needed = dict.fromkeys((*columns.order, *columns.kept, *names))
    df = df.select(*map(quoted, needed), *([] if value is None else [value.alias(VALUE)]))
    reading = Reading(columns.order, names, None if value is None else VALUE)
    query = rest if found is None else found.query()
    return TracePlan(df, evolve(columns, schema=df.schema), reading, query, found, letters, why)


def monitor_trace(
    df: DataFrame,
    query: Any,
    *,
    order_by: Any,
    every: bool = False,
    output: str = "output",
    returns: Any = None,
    carry: Any = None,
    partitions: int | None = None,
) -> Any:
    """Run a query over all rows as one trace, in the order of time, on several tasks at once where possible.

    Monitors with a finite automaton, machines whose guards are values, and associative folds, with functions
    and filters before and behind them, are computed in parallel; other queries run through one task, with a
    warning that says why. The result is that of the local run, however the rows are partitioned.

    Parameters
    ----------
    df : DataFrame
        The events; each row is a dict.
    query : Query
        The query, as it runs locally.
    order_by : str or list of str
        The columns that order the trace; rows that are equal in them come in any order.
    every : bool
        Give all outputs, as a DataFrame, instead of the last one.
    output, returns, carry
        As for `monitor`, with `every`.
    partitions : int, optional
        How many tasks, if the rows must be sorted first.

    Returns
    -------
    The last output (None if there was none), or a DataFrame with all of them. If the rows had to be sorted
    for the latter, they stay cached: ``spark.catalog.clearCache()`` when it is no longer needed.

    Examples
    --------
    >>> from millstream.palettes.ltl import Monitor
    >>> from millstream.palettes.spark import local_session, monitor_trace
    >>> df = local_session().createDataFrame([(3, "ok"), (1, "ok"), (2, "bad")], ["t", "word"])
    >>> monitor_trace(df, Monitor("G (word == 'ok')"), order_by="t")
    FALSE
    """
    plan = plan_trace(df, query, order_by, output, carry)
    if plan.chain is None:
        plan = plan.one_task(plan.why)
        return _every(plan, {}, returns) if every else _last(plan, {}, [0])
    try:
        plan, stretches = _summed(plan, partitions)
    except NoCore as reason:
        plan = plan.one_task(str(reason))
        return _every(plan, {}, returns) if every else _last(plan, {}, [0])
    assert plan.chain is not None
    core = plan.chain.core
    entries, now = {}, core.start
    for s in stretches:
        entries[s.part] = Entry(now, s.first)
        now = core.after(now, s.summary)
    if every:
        return _every(plan, entries, returns)
    functions = all(type(node) is Apply for node in (*plan.chain.before, *plan.chain.after))
    try:
        if functions and (core.stuck is None or now != core.stuck):
            return _said(plan.chain, now) if stretches else None
        return _last(plan, entries, [s.part for s in stretches])
    finally:
        if plan.cached:
            plan.df.unpersist()


def _said(found: Chain, now: Any) -> Any:
    """Return the output in a state, after the functions behind the core."""
    said = found.core.said(now)
    return next(iter(chain(found.after)([said]))) if found.after else said


def _summed(plan: TracePlan, partitions: int | None) -> tuple[TracePlan, list[Stretch]]:
    """Return the stretches in the order of time, from the partitions as they are or after sorting."""
    assert plan.chain is not None
    summing = Summing(plan.reading, plan.chain, plan.letters)
    stretches = _stretches(plan.df, summing)
    if not _in_order(stretches):
        order = [quoted(n) for n in plan.columns.order]
        count = partitions or int(plan.df.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
        ranged = plan.df.repartitionByRange(count, *order).sortWithinPartitions(*order)
        # the ranges are drawn from a sample: both passes must see the same. They are cached already if an
        # earlier call has given all outputs, which still need them
        cached = not ranged.storageLevel.useMemory
        plan = evolve(plan, df=ranged.persist(), cached=cached)
        stretches = _stretches(plan.df, summing)
    return plan, stretches


def _stretches(df: DataFrame, summing: Summing) -> list[Stretch]:
    found = [pickle.loads(row.data) for row in df.mapInArrow(summing, REPORT).collect()]
    for s in found:
        if isinstance(s, NoCore):
            raise s
    return sorted((s for s in found if s.rows), key=lambda s: (s.first, s.last))


def _in_order(stretches: list[Stretch]) -> bool:
    """Return whether the partitions are stretches of the trace, one after the other."""
    apart = all(a.last <= b.first for a, b in pairwise(stretches))
    return apart and all(s.ordered for s in stretches)


def _last(plan: TracePlan, entries: dict[int, Entry], parts: list[int]) -> Any:
    """Return the last output of the last partition that gives one."""
    telling = Telling(plan.reading, plan.query, plan.chain, entries)
    told = {row.part: row.data for row in plan.df.mapInArrow(telling.last, REPORT).collect()}
    return next((pickle.loads(told[part]) for part in reversed(parts) if part in told), None)


def _every(plan: TracePlan, entries: dict[int, Entry], returns: Any) -> DataFrame:
    """Return all outputs."""
    kept, name = plan.columns.kept, plan.columns.outputs[0]
    kind = spark_type(returns) if returns is not None else declared_type(plan.query) or _sampled(plan)
    telling = Telling(plan.reading, plan.query, plan.chain, entries, kept, name, kind, plan.df.schema)
    schema = [T.StructField(n, plan.df.schema[n].dataType) for n in kept]
    return plan.df.mapInArrow(telling.every, T.StructType([*schema, T.StructField(name, kind)]))


def _sampled(plan: TracePlan) -> T.DataType:
    """Return the type of what the query gives on a sample of rows."""
    batches = plan.df.limit(SAMPLE).toArrow().combine_chunks().to_batches()
    kind = infer_type(y for b in batches for y in plan.query(plan.reading.events(b)))
    if isinstance(kind, T.NullType):
        raise QueryError(
            f"{shorten(plan.query)} gave no output on a sample of {SAMPLE} rows; name the type with returns="
        )
    return kind
