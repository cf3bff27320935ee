"""Snapshots read by several workers: a message by itself says all that the monitor needs of it.

Reading XML is most of the work and has no state, so messages go through a `Pipeline`, and only what the
property is about comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from attrs import frozen

from millstream.processors import Apply, Query

from .parts import lent
from .pingus import messages
from .problem import Path, Verdict

if TYPE_CHECKING:
    from millstream.concurrency import ThreadManager


@frozen
class Messages:
    """A property of messages: a function of each, a query over what it gives, and how that is judged."""

    read: Callable[[str], Any]
    query: Callable[[], Query]
    judge: Callable[[Iterable[Any]], Verdict]

    def one(self, path: Path) -> Verdict:
        """Return the verdict on a file, found in this process."""
        return self.judge((Apply(self.read) | self.query())(messages(path)))

    def several(self, path: Path, manager: ThreadManager | None = None) -> Verdict:
        """Return the verdict on a file whose messages are read by a manager's workers."""
        from millstream.concurrency import Pipeline

        with lent(manager) as manager:
            return self.judge((Pipeline(Apply(self.read), manager) | self.query())(messages(path)))
