"""Reports of a run: Markdown with pictures beside it, and HTML in one file."""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import asdict
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from .cells import cell, numeric
from .figures import drawings, pictures
from .laboratory import Laboratory
from .rows import Row, columns
from .store import Run
from .view import ExperimentView, RunView, Table, view_run

PAGE = Path(__file__).parent / "page"


def environment() -> Environment:
    """Return the templates of the page and the report; what they show is escaped."""
    made = Environment(loader=FileSystemLoader(PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.globals |= {"cell": cell, "point": point, "when": when, "right_columns": right_columns}
    made.filters["prose"] = prose
    return made


def prose(text: str) -> Markup:
    """Turn a paragraph of a docstring into HTML: names in backquotes become code.

    >>> prose("Uses `a < b`, twice.")
    Markup('Uses <code>a &lt; b</code>, twice.')
    """
    return Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", str(escape(text))))


def point(chosen: dict[str, Any]) -> str:
    """Write the parameters of a point on one line.

    >>> point({"form": "push", "n": 1000})
    'form push, n 1,000'
    """
    return ", ".join(f"{name} {cell(name, value)}" for name, value in chosen.items())


def when(moment: float) -> str:
    """Write a moment, in local time."""
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M:%S")


def right_columns(table: Table) -> set[int]:
    """Return the columns of a table that are set to the right."""
    return {k for k, column in enumerate(zip(*table.cells, strict=True)) if numeric(column)}


def embedded(svg: bytes) -> str:
    """Return a picture as an address that contains it."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


def html(lab: Laboratory, run: Run) -> str:
    """Return the report of a run as one HTML file, which needs nothing else."""
    view = view_run(lab, run)
    shown: dict[str, list[tuple[str, str, str]]] = {}
    for part in view.experiments:
        light, dark = (dict(pictures(lab, run, part.experiment, "svg", theme)) for theme in ("light", "dark"))
        shown[part.experiment.name] = [(t, embedded(light[t]), embedded(dark[t])) for t in light]
    return (
        environment()
        .get_template("report.html")
        .render(
            view=view,
            css=(PAGE / "lab.css").read_text(),
            pictures=shown,
            drawings={part.experiment.name: drawings(part.experiment) for part in view.experiments},
        )
    )


# Markdown


def markdown(view: RunView, plots: dict[str, list[tuple[str, str]]]) -> str:
    """Return the report of a run as Markdown; `plots` gives the title and file of each picture."""
    lines = [f"# millstream lab: run {view.run.id}", ""]
    lines += [f"{when(view.run.begun)}{', quick' if view.run.quick else ''}, seed {view.run.seed}.", ""]
    lines += [f"- {name}: {value}" for name, value in view.run.machine.items()] + [""]
    for part in view.experiments:
        lines += _section(part, plots[part.experiment.name])
    return "\n".join(lines).rstrip() + "\n"


def _section(part: ExperimentView, plots: list[tuple[str, str]]) -> Iterator[str]:
    yield from (f"## {part.experiment.title}", "", part.experiment.about, "")
    for made in part.tables:
        yield from (f"**{made.title}**", "", markdown_table(made), "")
    if part.claims:
        rows = [[c.outcome, c.what, cell("", c.ours), cell("", c.paper)] for c in part.claims]
        yield from (markdown_table(Table("", ["outcome", "claim", "ours", "paper"], rows)), "")
    yield from (f"- {r.status}: {point(r.point)} {r.error.strip().splitlines()[-1:]}" for r in part.troubles)
    for title, file in plots:
        yield from (f"![{title}]({file})", "")


def markdown_table(table: Table) -> str:
    """Write a table in Markdown.

    >>> print(markdown_table(Table("", ["n", "form"], [["10", "a|b"]])))
    | n | form |
    |---:|---|
    | 10 | a\\|b |
    """
    right = right_columns(table)
    rule = ["---:" if k in right else "---" for k in range(len(table.heads))]
    rows = [
        [text.replace("|", "\\|").replace("\n", " ") for text in row] for row in (table.heads, *table.cells)
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])


# Files


def slug(text: str) -> str:
    """Turn a title into the name of a file.

    >>> slug("Figure 4: S & Perc_det")
    'figure-4-s-perc_det'
    """
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-")


def write(lab: Laboratory, run: Run, folder: Path | None = None) -> Path:
    """Write both reports, all pictures (SVG and PNG) and the data; return the path of the HTML file."""
    folder = folder or lab.folder / f"run-{run.id}"
    (folder / "plots").mkdir(parents=True, exist_ok=True)
    view = view_run(lab, run)
    plots: dict[str, list[tuple[str, str]]] = {}
    for form in ("png", "svg"):
        for part in view.experiments:
            plots[part.experiment.name] = saved = []
            for title, picture in pictures(lab, run, part.experiment, form, "light"):
                file = f"plots/{part.experiment.name}-{slug(title)}.{form}"
                (folder / file).write_bytes(picture)
                saved.append((title, file))
    for part in view.experiments:
        for title, svg in drawings(part.experiment).items():
            (folder / "plots" / f"{part.experiment.name}-query-{slug(title)}.svg").write_text(svg)
    (folder / "report.md").write_text(markdown(view, plots))
    (folder / "report.html").write_text(html(lab, run))
    (folder / "machine.json").write_text(json.dumps(run.machine, indent=2) + "\n")
    (folder / "data.json").write_text(json.dumps(data(view), indent=1) + "\n")
    write_csv(folder / "loads.csv", loads(lab, view))
    for part in view.experiments:
        write_csv(folder / "data" / f"{part.experiment.name}.csv", part.rows)
    return folder / "report.html"


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV, with all their columns."""
    rows = list(rows)
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns(rows))
        writer.writeheader()
        writer.writerows(rows)


def loads(lab: Laboratory, view: RunView) -> Iterator[Row]:
    """Yield the samples of the load: of each core, of the experiment itself, and its memory."""
    for part in view.experiments:
        for result in part.results:
            for sample in lab.store.samples(result.id):
                row: Row = {
                    "experiment": part.experiment.name,
                    "point": point(result.point),
                    "s": sample.time,
                }
                row |= {f"core {k}": load for k, load in enumerate(sample.loads, 1)}
                yield row | {"own": sample.own, "memory MB": sample.memory}


def data(view: RunView) -> dict[str, Any]:
    """Return all figures of a run, as plain values."""
    run = view.run
    return {
        "run": run.id, "begun": run.begun, "quick": run.quick, "seed": run.seed, "machine": run.machine,
        "experiments": {
            part.experiment.name: {
                "rows": list(part.rows),
                "claims": [asdict(said) | {"outcome": said.outcome} for said in part.claims],
                "troubles": [{"point": r.point, "status": r.status, "error": r.error} for r in part.troubles],
            }
            for part in view.experiments
        },
    }  # fmt: skip
