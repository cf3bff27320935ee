"""How far a file has been read, on a terminal, once it takes longer than a moment."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

#: seconds without a bar: what is over by then needs none
PATIENCE: Final = 1.0


class Watched(io.RawIOBase):
    """A file that tells how many of its bytes were read."""

    def __init__(self, path: str | Path, bar: Bar) -> None:
        self.file = io.FileIO(path)
        self.bar = bar
        bar.total += os.fstat(self.file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count = self.file.readinto(buffer)
        self.bar.advance(count or 0)
        return count

    def close(self) -> None:
        self.file.close()
        super().close()


class Bar:
    """The bar of a run, over all its files; appears when `PATIENCE` is over."""

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        self.total = self.done = 0
        self.begun = time.monotonic()
        self.progress: Any = None
        self.task: Any = None

    def advance(self, count: int) -> None:
        """Count bytes that were read."""
        self.done += count
        if self.progress is not None:
            self.progress.update(self.task, completed=self.done, total=self.total)
        elif self.shown and time.monotonic() - self.begun > PATIENCE:
            self.start()

    def reach(self, done: int, total: int) -> None:
        """Take over from a reader that counts itself."""
        self.total = total
        self.advance(done - self.done)

    def start(self) -> None:
        """Show the bar. Rich is imported here: most runs are over before they need it."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        # Outputs on the same terminal are printed above the bar; elsewhere they must stay what they are.
        self.progress = Progress(
            *columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()
        )
        self.progress.start()
        self.task = self.progress.add_task("", total=self.total, completed=self.done)

    def stop(self) -> None:
        """Take the bar away."""
        if self.progress is not None:
            self.progress.stop()


@contextmanager
def watching(quiet: bool = False) -> Iterator[Bar]:
    """Give a bar, shown if standard error is a terminal."""
    bar = Bar(not quiet and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.stop()
