"""`millstream check`: does a property hold on a trace?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from millstream.processors import StreamError
from millstream.processors.errors import shorten

from .ending import debug_option
from .progress import watching
from .traces import TraceType, format_of, trace_of, trace_options

if TYPE_CHECKING:
    from .judging import Outcome


def declaration(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, list[str]] | None:
    """Read declarations `login(user)`."""
    found: dict[str, list[str]] = {}
    for text in texts:
        match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*", text)
        if match is None:
            raise click.BadParameter(f"expected name(column, ...), got {text!r}")
        found[match[1]] = [column.strip() for column in match[2].split(",") if column.strip()]
    return found or None


@click.command()
@click.argument("formula")
@click.argument("trace", default="-", type=TraceType())
@trace_options
@click.option(
    "--kind", metavar="COLUMN", help="The column that says what an event is, its name in the formula."
)
@click.option(
    "--predicate",
    "predicates",
    multiple=True,
    callback=declaration,
    metavar="NAME(COLUMN,...)",
    help="With --kind, the columns of a predicate's arguments; repeat for each. By default all others.",
)
@click.option(
    "--time", metavar="COLUMN", help="The column with the time, which bounds like F[0,5] then count."
)
@click.option("--open", "more", is_flag=True, help="The trace may go on: what is open at its end is unknown.")
@click.option("--quiet", "-q", is_flag=True, help="Only the exit status says the result.")
@debug_option
@click.pass_context
def check(
    ctx: click.Context,
    formula: str,
    trace: str,
    form: str | None,
    tag: str | None,
    text: bool,
    follow: bool,
    kind: str | None,
    predicates: dict[str, list[str]] | None,
    time: str | None,
    more: bool,
    quiet: bool,
) -> None:
    """Check a temporal FORMULA on a TRACE (a file, or the standard input).

    The exit status is 0 if it holds, 1 if it is violated, 2 if that is unknown or something went wrong. The
    first violation is printed with its position, counted from 0, and what forces it.

    A formula with future operators (X F G U W R) is judged at the first event, any other at every event.
    Names are columns (fields) of an event; with --kind, or in logs `name,arg,...`, they are the names of
    events. FORMULA may be @FILE.

    \b
    millstream check 'G (req -> F ok)' trace.csv
    millstream check --kind do 'G (request -> F[0,5] granted)' trace.jsonl
    millstream check 'access(u, f) -> [login(u), logout(u))' accesses.csv
    """
    from millstream.palettes.ltl import parse

    from .judging import UNKNOWN, Counted, Judge, Reading, is_first_order

    parsed = parse(Path(formula[1:]).read_text(encoding="utf-8") if formula.startswith("@") else formula)
    form = form or format_of(trace)
    if predicates is not None and kind is None:
        raise click.UsageError("--predicate needs --kind, the column that names the predicate")
    if form == "csv" and kind is None and is_first_order(parsed):
        form = "log"
    judge = Judge(parsed, Reading(form == "log", kind, predicates, time), more or follow)
    with watching(quiet) as bar:
        source = trace_of(trace, form, tag, text, follow, bar)
        events = Counted(source, again=not source.live)
        try:
            outcome = judge(events)
        except KeyboardInterrupt:
            if not quiet:
                click.echo(f"stopped: no verdict after {events.count} events", err=True)
            raise
        except StreamError as error:
            explain_missing(error, events.last, kind)
            raise
    if not quiet:
        show(repr(parsed), outcome)
    ctx.exit({"holds": 0, "violated": 1, UNKNOWN: 2}[outcome.verdict])


def show(formula: str, outcome: Outcome) -> None:
    """Print what was found."""
    count = f"{outcome.count} event{'' if outcome.count == 1 else 's'}"
    open_end = "; later events may decide it" if outcome.verdict == "unknown" else ""
    click.echo(f"{outcome.verdict}: {formula} ({count}{open_end})")
    if outcome.position is None:
        return
    click.echo(f"at event {outcome.position} (counted from 0): {shorten(outcome.event)}")
    joint = "\n        "
    ending = " (the trace ends)" if outcome.ended else ""
    click.echo(
        f"because {joint.join(outcome.reasons) or 'the trace ends here'}{ending if outcome.reasons else ''}"
    )


def explain_missing(error: StreamError, event: Any, kind: str | None) -> None:
    """Say what to do if an event has no field of a name in the formula."""
    cause: Any = error.__cause__
    if not isinstance(cause, KeyError | AttributeError):
        return
    name = cause.args[0] if isinstance(cause, KeyError) else cause.name
    hint = (
        "" if kind else "; if a column names the events, say --kind COLUMN; if lines are name,arg,...: -t log"
    )
    raise click.ClickException(
        f"event {error.position} (counted from 0) has no field {name!r}: {shorten(event)}{hint}"
    ) from error
