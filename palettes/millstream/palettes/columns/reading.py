"""What all readers share: streams of record batches from a file, their rows, progress, errors.

A reader opens its file when it is iterated, and again when it is iterated again. It holds a few blocks of the
file at a time, whatever the file's size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any

import pyarrow as pa
from attrs import field, frozen

from millstream.processors import MillstreamError, Source

from .frame import of_batch

Path = str | PathLike[str]
#: called with the bytes read so far and the size of the file
Progress = bool | Callable[[int, int], Any]
BLOCK = 1 << 20


class ReadError(MillstreamError, ValueError):
    """A file that cannot be read; names the file and, where it is known, the line."""


@frozen(eq=False, kw_only=True)
class Batches(Source):
    """A file as a stream of record batches; iterate it, or pipe it into a columnar query."""

    path: Path = field(kw_only=False)
    progress: Progress = False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with _following(self.progress, fspath(self.path)) as follow:
            yield from self._read(follow)

    def _read(self, follow: Callable[[int, int], Any]) -> Iterator[pa.RecordBatch]:
        """Yield the batches; tell `follow` how far the file has been read."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """Return the file as an ordinary source of events, one dict for each row."""
        return Rows(self)


@frozen(eq=False)
class Rows(Source):
    """The rows of a reader, or of any iterable of record batches, as Python events.

    >>> list(Rows([pa.record_batch({"a": [1, 2]})]))
    [{'a': 1}, {'a': 2}]
    """

    batches: Any

    def __iter__(self) -> Iterator[Any]:
        for number, batch in enumerate(self.batches):
            try:
                events = of_batch(batch).events()
            except (UnicodeDecodeError, pa.ArrowException) as error:
                name = fspath(getattr(self.batches, "path", "the batches"))
                raise ReadError(f"{name}: batch {number} holds what is no value: {error}") from error
            yield from events


@contextmanager
def _following(progress: Progress, name: str) -> Iterator[Callable[[int, int], Any]]:
    """Give the function that is told how far a file has been read."""
    if progress is not True:
        yield progress or (lambda done, size: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(PurePath(name).name, total=None)
        yield lambda done, size: bar.update(task, completed=done, total=size)


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Callable[[], tuple[int, int]]]]:
    """Give a file for reading, unpacked if its name says so, and a function that tells how far it is read."""
    name = fspath(path)
    try:
        raw = pa.OSFile(name)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {error}") from error
    packing = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
    packed = next((p for end, p in packing.items() if name.endswith(end)), None)
    size = raw.size()
    with raw:
        stream = raw if packed is None else pa.CompressedInputStream(raw, packed)
        yield stream, lambda: (min(raw.tell(), size), size)


def schema_of(types: Any) -> dict[str, pa.DataType]:
    """Return Arrow types for a dict of names to Arrow types, their names, or Python types."""
    python = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}
    found = {}
    for name, kind in (types or {}).items():
        try:
            found[name] = python.get(kind) or pa.field("", kind).type
        except (TypeError, ValueError):
            known = "an Arrow type, the name of one, or int, float, str, bool"
            raise ReadError(f"types: {name!r} must be {known}, got {kind!r}") from None
    return found
