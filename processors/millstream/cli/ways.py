"""Other ways of running the same query: with workers, on columns, on Spark.

Each needs a portion or an extra of millstream that may not be there; then the error says what to install.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, islice
from typing import Any, Final

import click
from attrs import define, frozen

from millstream.processors import Passthrough, Query

from .loading import LOADED
from .traces import Trace

#: events on which the planner measures a query before it hands parts of it to workers
SAMPLE: Final = 1000


@frozen
class Choice:
    """The options that choose a way."""

    threads: int | None
    columns: bool
    spark: bool
    key: tuple[str, ...]
    order_by: tuple[str, ...]
    explain: bool


@define
class Way:
    """The query as it is run, on the events as they are read, and the outputs in what comes out."""

    query: Query
    sources: list[Any]
    unpack: Callable[[Any], Iterable[Any]] | None = None


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose a way."""
    for option in (
        click.option("--explain", is_flag=True, help="Say on standard error what runs how, and why."),
        click.option("--order-by", multiple=True, metavar="COLUMN", help="With --spark, what orders events."),
        click.option(
            "--key", multiple=True, metavar="COLUMN", help="With --spark, one trace for each of these."
        ),
        click.option(
            "--spark", is_flag=True, help="On Spark: for each --key, or as one trace, by --order-by."
        ),
        click.option("--columns", is_flag=True, help="On columns, where the query can."),
        click.option(
            "--threads",
            type=click.IntRange(1),
            metavar="N",
            help="Use up to N workers (processes, or threads on free-threaded Python) where it pays.",
        ),
    ):
        command = option(command)
    return command


@contextmanager
def chosen(query: Query, sources: list[Trace], choice: Choice) -> Iterator[Way]:
    """Give the query and its sources for the way that was chosen."""
    names = [n for n in ("threads", "columns", "spark") if getattr(choice, n)]
    if choice.spark and choice.threads:
        names.remove("threads")  # so many tasks at once
    if len(names) > 1:
        raise click.UsageError(f"choose one of --{' and --'.join(names)}")
    if (choice.key or choice.order_by) and not choice.spark:
        raise click.UsageError("--key and --order-by are for --spark; a query has Slice and Reorder")
    if names and query.arity != (1, 1):
        raise click.UsageError(f"--{names[0]} is for queries with one input and one output")
    ways = {"threads": threaded, "columns": columnar, "spark": on_spark}
    if not names:
        yield Way(query, sources)
        return
    with ways[names[0]](query, sources[0], choice) as way:
        yield way


def portion(name: str, extra: str) -> Any:
    """Import a portion of millstream; say what to install if it is not there."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            raise ImportError(f"{name} is not part of this installation: pip install '{extra}'") from None
        raise


@contextmanager
def threaded(query: Query, source: Trace, choice: Choice) -> Iterator[Way]:
    """Hand to workers what can be handed over and pays, as measured on the first events."""
    concurrency = portion("millstream.concurrency", "millstream")
    events: Iterator[Any] = iter(source)
    sample: Iterable[Any] = () if source.live else list(islice(events, SAMPLE))
    with concurrency.ThreadManager(choice.threads, "auto") as manager:
        fast = concurrency.parallelize(query, manager, sample=sample)
        if choice.explain:
            click.echo(str(fast.plan()), err=True)
        yield Way(fast, [chain(sample, events)])


@contextmanager
def columnar(query: Query, source: Trace, choice: Choice) -> Iterator[Way]:
    """Run on record batches what has kernels, and event by event what has none."""
    columns = portion("millstream.palettes.columns", "millstream[columns]")
    readers = {"csv": "read_csv", "parquet": "read_parquet", "jsonl": "read_json"}
    if source.live or source.form not in readers:
        raise click.UsageError("--columns reads CSV, JSON lines and Parquet files that are complete")
    fast = columns.columnar(query, mixed=True)
    if choice.explain:
        click.echo(str(fast.explain()), err=True)
    batches = getattr(columns, readers[source.form])(source.path, progress=source.bar.reach)
    yield Way(fast, [batches], lambda batch: columns.Rows([batch]))


@contextmanager
def on_spark(query: Query, source: Trace, choice: Choice) -> Iterator[Way]:
    """Run on a local Spark, for each key or as one trace; outputs come in order."""
    spark = portion("millstream.palettes.spark", "millstream[spark]")
    if source.live or source.form not in ("csv", "jsonl", "parquet"):
        raise click.UsageError("--spark reads CSV, JSON lines and Parquet files that are complete")
    if not choice.order_by:
        raise click.UsageError("--spark needs --order-by COLUMN: rows of a table have no order of their own")
    for module in LOADED:
        import_module("pyspark.cloudpickle").register_pickle_by_value(module)
    session = spark.local_session(choice.threads or 2)
    try:
        read = session.read.option("inferSchema", True).option("header", True)
        frame = read.format("json" if source.form == "jsonl" else source.form).load(source.path)
        order = list(choice.order_by)
        if choice.key:
            asked = {"key": list(choice.key), "order_by": order}
            found = spark.monitor(frame, query, **asked).orderBy(*order)
            if choice.explain:
                click.echo(spark.explain(frame, query, **asked), err=True)
        else:
            found = spark.monitor_trace(frame, query, order_by=order, every=True).orderBy(*order)
        yield Way(Passthrough(), [map(spark.row_event, found.toLocalIterator())])
    finally:
        session.stop()
