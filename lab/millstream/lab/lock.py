"""One process measures in a folder at a time: two would disturb each other's figures.

The lock is the operating system's, on a file: it is gone when its process is, however that ended.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def measuring_alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; refuse when another process has it."""
    with (folder / "lab.lock").open("w") as file:
        try:
            _lock(file)
        except OSError as failure:
            raise ValueError(
                f"another process runs experiments in {folder}: wait for it or stop it, "
                "or choose another folder"
            ) from failure
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
