"""`millstream run`: a query on a trace, its outputs on the standard output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from itertools import chain, zip_longest
from typing import Any

import click

from millstream.processors import DeadLetter, Query, Run

from . import ways
from .ending import debug_option
from .loading import QueryType
from .printing import Printer
from .progress import watching
from .traces import TraceType, trace_of, trace_options
from .watch import shown

ABSENT: Any = object()


@click.command()
@click.argument("query", type=QueryType())
@click.argument("traces", nargs=-1, type=TraceType())
@trace_options
@click.option("--to", type=click.Choice(["text", "json"]), default="text", help="How outputs are written.")
@click.option("--limit", "-n", type=click.IntRange(0), help="Stop after so many outputs.")
@click.option("--skip-errors", is_flag=True, help="Report events on which the query fails, and go on.")
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
@click.option("--watch", is_flag=True, help="Show events per second and queues of each processor.")
@ways.options
@debug_option
def run(
    query: Query,
    traces: tuple[str, ...],
    form: str | None,
    tag: str | None,
    text: bool,
    follow: bool,
    to: str,
    limit: int | None,
    skip_errors: bool,
    quiet: bool,
    watch: bool,
    **choice: Any,
) -> None:
    """Run a QUERY on TRACES and print what comes out.

    QUERY is a Python file (its variable `query`, or its only query), file.py:name or module:name. TRACES are
    files, one for each input of the query; `-`, or none, is the standard input.

    \b
    millstream run query.py readings.csv
    tail -f log.jsonl | millstream run shop.queries:late -t jsonl
    """
    if watch and (choice["columns"] or choice["spark"]):
        raise click.UsageError("--watch shows a run event by event, which --columns and --spark do not have")
    with watching(quiet or watch) as bar:
        sources = [trace_of(path, form, tag, text, follow, bar) for path in traces or ["-"]]
        if len(sources) != query.arity[0]:
            raise click.UsageError(
                f"the query has {query.arity[0]} inputs, but {len(sources)} traces are given"
            )
        printer = Printer(to, any(s.live for s in sources), limit)
        with ways.chosen(query, sources, ways.Choice(**choice)) as way:
            drive(way, printer, report if skip_errors else "raise", watch)


def drive(way: ways.Way, printer: Printer, on_error: Any, watch: bool) -> None:
    """Move events until they are exhausted or enough has come out."""
    query, sources = way.query, way.sources
    if printer.is_full:
        return
    if query.arity[1] == 1 and not watch:
        outputs = query(*sources, on_error=on_error)
        for output in chain.from_iterable(map(way.unpack, outputs)) if way.unpack else outputs:
            printer(output)
            if printer.is_full:
                return
        return
    labels = [f"{k}: " for k in range(query.arity[1])] if query.arity[1] > 1 else [""]
    sinks = [partial(printer, label=label) for label in labels]
    flow = query.into(*sinks, on_error=on_error, counting=watch)
    with shown(flow) if watch else nullcontext():
        push(flow, sources, printer)


def push(flow: Run, sources: list[Any], printer: Printer) -> None:
    """Push the events of all sources in turn."""
    for port, event in in_turn(sources):
        flow.push_all((event,), port)
        if printer.is_full:
            return
    flow.end()


def in_turn(sources: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the events of all sources, one of each in turn, with the number of the source."""
    rows = zip_longest(*sources, fillvalue=ABSENT)
    pairs = chain.from_iterable(enumerate(row) for row in rows)
    return ((port, event) for port, event in pairs if event is not ABSENT)


def report(letter: DeadLetter) -> None:
    """Say on standard error what failed."""
    click.echo(f"skipped: {letter.error}", err=True)
