"""PullGroup: a part of a query that computes ahead while what follows it uses its earlier outputs.

Hallé, Khoury and Gaboury, *Event Stream Processing with Multiple Threads*, Section 4.3.
"""

from __future__ import annotations

from typing import Any

from attrs import field

from millstream.processors import processor
from millstream.processors.errors import at_least

from .offloaded import Offloaded
from .stages import Keeping


@processor
class PullGroup(Offloaded):
    """Run a query in a worker of its own, ahead of what follows.

    Events go over in chunks whose length follows their measured cost. The speed-up is greatest if the query
    takes as long as all the rest. Without a worker, every event is computed when it comes.

    Parameters
    ----------
    inner
        A query with one input and one output.
    manager
        Lends the worker.
    size
        How many events may be under way: read from the input, but not given to what follows.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from operator import add
    >>> from millstream.processors import Cumulate
    >>> with ThreadManager(1) as manager:
    ...     list((PullGroup(Cumulate(add), manager) | str)([1, 2, 3]))
    ['1', '3', '6']
    """

    size: int = field(default=4096, validator=at_least(1))

    def make_stage(self) -> Keeping:
        """Return a stage that keeps its state."""
        return Keeping(self.inner)

    def acquire(self) -> bool:
        """Return whether there is a worker."""
        return self.line.acquire(self.manager, self.stage, 1, keeps=True)

    def request(self, events: list[Any]) -> Any:
        """Return a chunk as the worker takes it."""
        return "events", events

    @property
    def longest(self) -> int:
        """Return the greatest length of a chunk: three of them may be under way."""
        return max(1, self.size // 3)
