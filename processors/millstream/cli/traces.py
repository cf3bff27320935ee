"""From the name of a trace to its events: which format it has, and what reads it."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any, Final

import click
from attrs import field, frozen
from click.shell_completion import CompletionItem

from millstream.processors import CsvRows, FollowLines, JsonLines, Source, XmlElements

from .progress import Bar, Watched

#: suffix -> format
SUFFIXES: Final = {
    ".csv": "csv",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xml": "xml",
    ".parquet": "parquet",
    ".log": "log",
    ".txt": "lines",
}
FORMATS: Final = ("csv", "jsonl", "xml", "parquet", "log", "lines")


class TraceType(click.ParamType):  # type: ignore[type-arg]
    """The name of a file with a trace; `-` is the standard input."""

    name = "trace"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete file names."""
        return [CompletionItem(incomplete, type="file")]


def trace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how traces are read."""
    for option in (
        click.option("--follow", "-f", is_flag=True, help="Wait for more when the file ends, until Ctrl-C."),
        click.option("--text", "text", is_flag=True, help="Leave numbers and truth values in files as text."),
        click.option("--tag", metavar="NAME", help="In XML, the elements that are events."),
        click.option(
            "--format",
            "-t",
            "form",
            type=click.Choice(FORMATS),
            help="csv (with a header), jsonl, xml, parquet, log (name,arg,... on a line) or lines; "
            "the default follows from the file's name.",
        ),
    ):
        command = option(command)
    return command


def format_of(path: str) -> str:
    """Return the format that a file's name says, csv if it says nothing.

    >>> format_of("a.jsonl"), format_of("b.csv.gz"), format_of("-")
    ('jsonl', 'csv', 'csv')
    """
    return SUFFIXES.get(PurePath(path.removesuffix(".gz")).suffix.lower(), "csv")


@frozen(eq=False)
class FileLines(Source):
    """The lines of a file or of the standard input, with progress."""

    path: str
    bar: Bar

    def __iter__(self) -> Iterator[str]:
        if self.path == "-":
            yield from (line.rstrip("\r\n") for line in sys.stdin)
            return
        raw = io.BufferedReader(Watched(self.path, self.bar), 1 << 16)
        binary = gzip.GzipFile(fileobj=raw) if self.path.endswith(".gz") else raw
        try:
            with raw, io.TextIOWrapper(binary, encoding="utf-8-sig") as file:
                yield from (line.rstrip("\n") for line in file)
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path} is not UTF-8 text: {error}") from error


@frozen(eq=False)
class Trace(Source):
    """The events of a file, as the command's options say."""

    path: str
    form: str
    tag: str | None = None
    text: bool = False
    follow: bool = False
    bar: Bar = field(factory=lambda: Bar(False))

    @property
    def live(self) -> bool:
        """Whether events come as they happen, so that outputs must not wait."""
        return self.follow or self.path == "-"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.reader())

    def reader(self) -> Iterable[Any]:
        """Return what reads the file."""
        if self.form == "parquet":
            return parquet_rows(self.path)
        lines: Source = FollowLines(self.path) if self.follow else FileLines(self.path, self.bar)
        match self.form:
            case "csv" | "log":
                return CsvRows(lines, header=self.form == "csv", convert=not self.text)
            case "jsonl":
                return JsonLines(lines)
            case "xml":
                return XmlElements(lines, self.tag, convert=not self.text)
        return lines


def trace_of(path: str, form: str | None, tag: str | None, text: bool, follow: bool, bar: Bar) -> Trace:
    """Return the trace of a file; complain about options that contradict each other."""
    form = form or format_of(path)
    if follow and path == "-":
        raise click.UsageError("--follow is for files; the standard input is read until it is closed anyway")
    if form == "parquet" and (follow or path == "-"):
        raise click.UsageError("a Parquet file is read as a whole: neither --follow nor the standard input")
    if follow and path.endswith(".gz"):
        raise click.UsageError("--follow is for files that grow, which a .gz file does not")
    if path != "-" and not follow:
        with open(path, "rb"):
            pass  # fails here, before anything is computed, if it cannot be read
    return Trace(path, form, tag, text, follow, bar)


def parquet_rows(path: str) -> Iterator[Any]:
    """Yield the rows of a Parquet file as dicts."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'millstream[columns]'") from None
    with ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield from batch.to_pylist()
