"""The commands `millstream lab list`, `run`, `report` and `serve`; `millstream lab` alone is the main job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from .catalogue import choose
from .export import write_zip
from .laboratory import FOLDER, SEED, Laboratory
from .report import write
from .store import DONE, OPEN, SKIPPED, Run
from .terminal import Watching, show_run, show_table
from .view import Table, view_run

F = TypeVar("F", bound=Callable[..., Any])


def common(command: F) -> F:
    """Add the options that all commands have."""
    folder = click.option(
        "--folder", type=click.Path(file_okay=False, path_type=Path), default=FOLDER, show_default=True,
        help="Where the database and the reports are.",
    )  # fmt: skip
    more = click.option(
        "--file", "more", multiple=True, help="A module or Python file with further experiments; repeatable."
    )
    return folder(more(command))


@contextmanager
def laboratory(folder: Path, more: Sequence[str] = ()) -> Iterator[Laboratory]:
    """Open a laboratory; what it has to complain about is said without a traceback."""
    try:
        lab = Laboratory(folder, more)
        try:
            yield lab
        finally:
            lab.close()
    except (LookupError, ValueError, FileNotFoundError) as failure:
        raise click.ClickException(str(failure.args[0] if failure.args else failure)) from failure


def screen() -> Console:
    """Return the terminal; what goes elsewhere gets lines that are long enough for tables."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


@click.group(invoke_without_command=True)
@click.pass_context
def lab(context: click.Context) -> None:
    """Run experiments and look at what became of them.

    Without a command: the main job, a first look at everything in under three minutes.
    """
    if context.invoked_subcommand is None:
        from .tour import tour

        context.exit(tour(screen()))


@lab.command("list")
@common
@click.argument("patterns", nargs=-1)
def list_command(folder: Path, more: Sequence[str], patterns: Sequence[str]) -> None:
    """List experiments; PATTERNS such as 'crv*' choose among them."""
    console = screen()
    with laboratory(folder, more) as lab:
        chosen = choose(lab.experiments, patterns)
        cells = [
            [e.name, e.title, str(len(e.points())), str(len(e.points(quick=True))), e.group] for e in chosen
        ]
        show_table(console, Table("Experiments", ["name", "title", "points", "quick", "group"], cells))
        for module, why in lab.absent.items():
            console.print(f"not available here: {module}: {why}", style="yellow", markup=False)


@lab.command()
@common
@click.option("--quick", is_flag=True, help="Fewer points and smaller inputs: about a minute for everything.")
@click.option("--seed", default=SEED, show_default=True, help="Decides all random inputs.")
@click.option("--resume", is_flag=True, help="Continue a run that was stopped or killed.")
@click.option("--run", "number", type=int, help="With --resume: which run, if not the newest.")
@click.argument("patterns", nargs=-1)
def run(
    folder: Path, more: Sequence[str], quick: bool, seed: int, resume: bool, number: int | None,
    patterns: Sequence[str],
) -> None:  # fmt: skip
    """Run experiments (all of them, or those that match PATTERNS), then show and write the report.

    Ends with status 1 if a point failed or came to a wrong result.
    """
    if resume and (patterns or quick):
        raise click.UsageError(
            "--resume continues a run as it was begun: name neither experiments nor --quick"
        )
    console = screen()
    with laboratory(folder, more) as lab:
        begun = lab.continued(number) if resume else lab.plan(patterns, quick, seed)
        perform(console, lab, begun)
        show_run(console, view_run(lab, begun))
        console.print(f"report: {write(lab, begun)}", markup=False, soft_wrap=True)
        if any(r.status not in (DONE, SKIPPED) for r in lab.store.results(begun.id)):
            raise click.exceptions.Exit(1)


def perform(console: Console, lab: Laboratory, run: Run) -> None:
    """Measure what is left of a run, with progress; say how to continue when it is interrupted."""
    left = len(lab.store.results(run.id, *OPEN))
    console.print(f"run {run.id}: {left} point{'s' * (left != 1)} to measure", highlight=False)
    try:
        with Watching(console, left) as watching:
            lab.perform(run, watching)
    except KeyboardInterrupt:
        console.print(f"stopped; `millstream lab run --resume --run {run.id}` continues", markup=False)
        raise click.exceptions.Exit(130) from None


@lab.command()
@common
@click.option("--run", "number", type=int, help="Which run, if not the newest.")
@click.option("--zip", "zipped", is_flag=True, help="One zip file with data, plots, reports and machine.")
@click.option("--quiet", is_flag=True, help="Only write the files.")
def report(folder: Path, more: Sequence[str], number: int | None, zipped: bool, quiet: bool) -> None:
    """Show the tables and claims of a run; write its report (HTML, Markdown, plots, data)."""
    console = screen()
    with laboratory(folder, more) as lab:
        run = lab.store.run(number)
        if not quiet:
            show_run(console, view_run(lab, run))
        path = write_zip(lab, run) if zipped else write(lab, run)
        console.print(f"report: {path}", markup=False, soft_wrap=True)


@lab.command()
@common
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", default=8000, show_default=True, help="0 takes any free port.")
@click.option(
    "--allow-host", "allowed", multiple=True,
    help="A name under which other machines may reach the page; repeatable. Others are refused.",
)  # fmt: skip
def serve(folder: Path, more: Sequence[str], host: str, port: int, allowed: Sequence[str]) -> None:
    """Serve a page on which experiments are started, stopped and watched."""
    from .server import serve as serve_lab

    with laboratory(folder, more) as lab:
        serve_lab(lab, host, port, allowed)
