"""The lab on a terminal: progress while points are measured, then tables and claims."""

from __future__ import annotations

from types import TracebackType

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table as RichTable
from rich.text import Text

from .cells import cell
from .claims import CONFIRMED, REFUTED
from .report import point, right_columns
from .store import DONE, RUNNING, SKIPPED, WAITING, Result
from .view import RunView, Table

STYLES = {CONFIRMED: "green", REFUTED: "bold red", DONE: "green", SKIPPED: "yellow"}


class Watching:
    """A bar for all points and one for the present point; lines only, if nobody watches."""

    def __init__(self, console: Console, points: int) -> None:
        self.console = console
        self.bars = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self.all = self.bars.add_task("points", total=points)
        self.present = self.bars.add_task("", total=100)

    def __enter__(self) -> Watching:
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bars.stop()

    def __call__(self, result: Result) -> None:
        """Show what is known of a point now."""
        words = f"{result.experiment} ({point(result.point)})" if result.point else result.experiment
        if result.status in (WAITING, RUNNING):
            self.bars.update(self.present, description=words, completed=100 * result.share)
            return
        self.bars.advance(self.all)
        line = Text.assemble((f"{result.status:>9}", STYLES.get(result.status, "bold red")), f"  {words}")
        line.append(f"  {result.seconds or 0:.1f} s", style="dim")
        if result.status != DONE and result.error.strip():
            line.append("\n           " + result.error.strip().splitlines()[-1])
        self.console.print(line)


def show_table(console: Console, table: Table) -> None:
    """Print a table."""
    right, made = (
        right_columns(table),
        RichTable(title=table.title, box=box.SIMPLE_HEAD, title_justify="left"),
    )
    for k, head in enumerate(table.heads):
        made.add_column(head, justify="right" if k in right else "left", no_wrap=k in right)
    for row in table.cells:
        made.add_row(*(Text(text) for text in row))
    console.print(made)


def show_run(console: Console, view: RunView) -> None:
    """Print all tables of a run, then what became of the claims."""
    for part in view.experiments:
        for table in part.tables:
            show_table(console, table)
    if view.claims:
        made = RichTable(title="Claims", box=box.SIMPLE_HEAD, title_justify="left")
        for head in ("outcome", "claim", "ours", "paper"):
            made.add_column(head)
        for _, said in view.claims:
            outcome = Text(said.outcome, style=STYLES.get(said.outcome, "yellow"))
            made.add_row(outcome, Text(said.what), Text(cell("", said.ours)), Text(cell("", said.paper)))
        console.print(made)
