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
from attrs import define

from millstream.processors import Query

#: events on which the planner measures a query before it hands parts of it to workers
SAMPLE: Final = 1000


@define
class Way:
    """The query as it is run, on the events as they are read."""

    query: Query
    sources: list[Any]


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose a way."""
    for option in (
        click.option("--explain", is_flag=True, help="Say on standard error what runs how, and why."),
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
def chosen(query: Query, sources: list[Any], threads: int | None, explain: bool) -> Iterator[Way]:
    """Give the query and its sources for the way that was chosen."""
    if threads is None:
        yield Way(query, sources)
        return
    with threaded(query, sources, threads, explain) as way:
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
def threaded(query: Query, sources: list[Any], workers: int, explain: bool) -> Iterator[Way]:
    """Hand to workers what can be handed over and pays, as measured on the first events."""
    concurrency = portion("millstream.concurrency", "millstream")
    if query.arity != (1, 1):
        raise click.UsageError("--threads is for queries with one input and one output")
    events: Iterator[Any] = iter(sources[0])
    sample: Iterable[Any] = () if sources[0].live else list(islice(events, SAMPLE))
    with concurrency.ThreadManager(workers, "auto") as manager:
        fast = concurrency.parallelize(query, manager, sample=sample)
        if explain:
            click.echo(str(fast.plan()), err=True)
        yield Way(fast, [chain(sample, events)])
