"""Outputs on the standard output, one a line, as they come."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import attrs

#: seconds that an output may wait in a buffer if nobody is known to be waiting for it
PATIENCE: Final = 0.1


class Printer:
    """Writes outputs as text (as Python shows them) or as JSON.

    Parameters
    ----------
    form
        ``"text"`` or ``"json"``.
    live
        Whether each output is to be seen at once; if not, it may wait for others for a tenth of a second.
    limit
        How many outputs are wanted; None for all.
    """

    def __init__(self, form: str = "text", live: bool = True, limit: int | None = None) -> None:
        self.show: Callable[[Any], str] = as_json if form == "json" else str
        self.live, self.limit, self.count = live, limit, 0
        self.flushed = time.monotonic()

    def __call__(self, output: Any, label: str = "") -> None:
        # sys.stdout is looked up each time: a progress bar replaces it
        sys.stdout.write(f"{label}{self.show(output)}\n")
        self.count += 1
        if self.live or time.monotonic() - self.flushed > PATIENCE:
            sys.stdout.flush()
            self.flushed = time.monotonic()

    @property
    def is_full(self) -> bool:
        """Whether no more outputs are wanted."""
        return self.limit is not None and self.count >= self.limit


def as_json(value: Any) -> str:
    """Return a value as a line of JSON; what JSON does not know is written as its parts, or as text.

    >>> as_json({"t": 1, "seen": {2, 1}})
    '{"t": 1, "seen": [1, 2]}'
    """
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if attrs.has(type(value)):
        return attrs.asdict(value, recurse=False)
    return value.tolist() if hasattr(value, "tolist") else str(value)
