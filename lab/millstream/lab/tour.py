"""The main job: a first look at everything, for someone who has just got the project.

A first query with its output; a quick run of the monitoring problems of the Competition on Runtime
Verification and of the engine, with their verdicts checked, their tables and plots; and a short look at
Spark, where there is Java.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.util import find_spec
from operator import add
from pathlib import Path

from rich.console import Console

from millstream.processors import Cumulate, Filter, X

from .cli import laboratory, perform
from .laboratory import FOLDER
from .report import write
from .store import DONE, SKIPPED
from .terminal import show_run
from .view import view_run

#: what the main job runs, of that which is there
PARTS = ("crv*", "dejavu", "engine")


def first_query() -> str:
    """Show a query and its output.

    >>> print(first_query())
    query   Filter(X % 2 == 0) | Cumulate(add)
    input   1 2 3 4 5 6
    output  2 6 12
    """
    query, events = Filter(X % 2 == 0) | Cumulate(add), [1, 2, 3, 4, 5, 6]
    lines = (("query", repr(query)), ("input", shown(events)), ("output", shown(query(events))))
    return "\n".join(f"{name:6}  {text}" for name, text in lines)


def shown(events: object) -> str:
    """Write a stream on one line."""
    return " ".join(map(str, events))  # type: ignore[call-overload]


def tour(console: Console) -> int:
    """Run the main job; return 0 if everything went well."""
    console.print(first_query(), highlight=False, markup=False)
    report, well = measured(console)
    show_spark(console)
    console.print(f"report: {report.resolve()}", markup=False, soft_wrap=True)
    console.print("more: `millstream lab list`, `millstream lab run`, `millstream lab serve`", markup=False)
    return 0 if well else 1


def measured(console: Console, folder: Path = FOLDER, parts: Sequence[str] = PARTS) -> tuple[Path, bool]:
    """Run some experiments quickly and show them; return the report, and whether all verdicts were right."""
    with laboratory(folder) as lab:
        present = [part for part in parts if any(fnmatchcase(name, part) for name in lab.experiments)]
        run = lab.plan(present, quick=True)
        perform(console, lab, run)
        show_run(console, view_run(lab, run))
        results = lab.store.results(run.id)
        return write(lab, run), all(result.status in (DONE, SKIPPED) for result in results)


def show_spark(console: Console) -> None:
    """Show a query on Spark, if that part is there."""
    if find_spec("millstream.lab.spark_tour") is None:
        return
    import_module("millstream.lab.spark_tour").tour(console)
