"""`FollowLines`: the lines of a file that is still being written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

from attrs import field, frozen

from .clock import Clock, SystemClock
from .sources import Path, Source


@frozen(eq=False)
class FollowLines(Source):
    """The lines of a growing file, as they are completed; waits for more and never ends by itself.

    A file that is cut off is read from its beginning again, and so is one that takes the place of the old
    one, as when logs are rotated. A file that does not exist yet is waited for.

    Parameters
    ----------
    path
        The file.
    encoding
        How its bytes are to be read.
    every
        Seconds between looks at a file that has not grown.
    clock
        What waits.

    Examples
    --------
    Each look that finds nothing lets the clock sleep, which a test can use to write more:

    >>> import tempfile
    >>> class Writer:
    ...     def now(self):
    ...         return 0.0
    ...
    ...     def sleep(self, seconds):
    ...         file.write("b\\n")
    ...         file.flush()
    >>> with tempfile.NamedTemporaryFile("w+") as file:
    ...     lines = iter(FollowLines(file.name, clock=Writer()))
    ...     [next(lines), next(lines)]
    ['b', 'b']
    """

    path: Path
    encoding: str = "utf-8"
    every: float = 0.2
    clock: Clock = field(factory=SystemClock)

    def __iter__(self) -> Iterator[str]:
        while True:
            try:
                file = open(self.path, "rb")  # noqa: SIM115
            except FileNotFoundError:
                self.clock.sleep(self.every)
                continue
            with file:
                yield from self.until_replaced(file)

    def until_replaced(self, file: IO[bytes]) -> Iterator[str]:
        """Yield lines until another file has taken the place of this one."""
        begun = b""
        while True:
            for line in file:
                begun += line
                if begun.endswith(b"\n"):
                    yield begun.decode(self.encoding).rstrip("\r\n")
                    begun = b""
            if self.is_replaced(file):
                return
            self.clock.sleep(self.every)

    def is_replaced(self, file: IO[bytes]) -> bool:
        """Return whether the path now names another file, or this one was cut off."""
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            return False
        here = os.fstat(file.fileno())
        return (there.st_ino, there.st_dev) != (here.st_ino, here.st_dev) or here.st_size < file.tell()
