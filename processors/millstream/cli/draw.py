"""`millstream draw`: a picture of a query."""

from __future__ import annotations

from pathlib import Path

import click

from millstream.processors import Query

from .ending import debug_option
from .loading import QueryType


@click.command()
@click.argument("query", type=QueryType())
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file, .svg, .dot or .mmd; without it, Mermaid text goes to the standard output.",
)
@debug_option
def draw(query: Query, output: Path | None) -> None:
    """Draw a QUERY: a Python file, file.py:name or module:name.

    \b
    millstream draw query.py -o query.svg
    """
    picture = query.draw()
    if output is None:
        click.echo(picture.mermaid)
    else:
        click.echo(f"wrote {picture.save(output)}", err=True)
