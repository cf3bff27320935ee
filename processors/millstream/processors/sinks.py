"""Sinks: where outputs go. Anything that takes events can be one; `as_sink` finds out how."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from io import BufferedRandom
from pathlib import Path
from typing import Any, Self

from attrs import define, field

from .errors import QueryError, shorten


def as_sink(target: Any) -> Callable[[Any], Any]:
    """Return the function that gives one event to a target.

    A callable is called, a list or deque appended to, a set added to, a queue put into (``put``), a text file
    written to (``write``), one event a line.

    >>> out = []
    >>> as_sink(out)("event")
    >>> out
    ['event']
    """
    if isinstance(target, list | deque):
        return target.append
    if isinstance(target, set):
        return target.add
    if callable(target):
        return target  # type: ignore[no-any-return]
    if hasattr(target, "put"):
        return target.put  # type: ignore[no-any-return]
    if hasattr(target, "write"):
        return _LineWriter(target)
    raise QueryError(f"expected a sink (a callable, list, set, queue or text file), got {shorten(target)}")


class _LineWriter:
    __slots__ = ("_write",)

    def __init__(self, file: Any) -> None:
        self._write = file.write

    def __call__(self, event: Any) -> None:
        self._write(f"{event}\n")


@define(eq=False)
class FileSink:
    """A text file that gets one line for each output; begun anew unless a `Checkpoint` tells where to go on.

    Parameters
    ----------
    path
        The file.
    encode
        Makes a line of an output: ``json.dumps`` for a file of JSON lines.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from millstream.processors import Count
    >>> with TemporaryDirectory() as folder:
    ...     with FileSink(f"{folder}/out.txt") as sink:
    ...         Count().into(sink).push_all("ab")
    ...     Path(f"{folder}/out.txt").read_text()
    '1\\n2\\n'
    """

    path: Path = field(converter=Path)
    encode: Callable[[Any], str] = str
    _file: BufferedRandom | None = field(default=None, init=False)

    def __call__(self, event: Any) -> None:
        if self._file is None:
            self._open(0)
        line = self.encode(event) + "\n"
        self._file.write(line.encode())  # type: ignore[union-attr]

    def begin(self) -> None:
        """Begin a new file; one that is there already might be wanted, and is refused."""
        if self.path.exists() and self.path.stat().st_size:
            raise QueryError(
                f"FileSink: {self.path} is there already, but no checkpoint for it; remove it, or put the "
                "checkpoint back"
            )
        self._open(0)

    def go_on(self, size: int) -> None:
        """Go on at a size that the file has had; what stands behind it is cut off."""
        found = self.path.stat().st_size if self.path.exists() else 0
        if found < size:
            raise QueryError(
                f"FileSink: {self.path} has {found} bytes, but {size} were committed; put the file back, "
                "or remove it and the checkpoint to begin anew"
            )
        self._open(size)

    def _open(self, size: int) -> None:
        self.path.touch()
        self._file = open(self.path, "r+b")  # noqa: SIM115 (open for as long as the run goes on)
        self._file.truncate(size)
        self._file.seek(size)

    def sync(self) -> int:
        """Bring everything to disk, and return the size of the file."""
        if self._file is None:
            return 0
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Write what is waiting, and close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def discard(*_events: Any) -> None:
    """Take outputs and forget them."""
