"""PullGroup: a part of a query that computes ahead while what follows it uses its earlier outputs.

Hallé, Khoury and Gaboury, *Event Stream Processing with Multiple Threads*, Section 4.3.
"""

from __future__ import annotations

from typing import Any

from attrs import field

from millstream.processors import processor
from millstream.processors.errors import at_least

from .chunks import AHEAD
from .offloaded import Offloaded
from .stages import Keeping


class Switch:
    """Whether a group computes ahead; its runs look at it with every chunk."""

    def __init__(self) -> None:
        self.on = True

    def __repr__(self) -> str:
        return "Switch()"


#: stands for a switch of one's own
NEW = Switch()


@processor
class PullGroup(Offloaded):
    """Run a query in a worker of its own, ahead of what follows.

    Events go over in chunks whose length follows their measured cost. The speed-up is greatest if the query
    takes as long as all the rest. Without a worker, and while the group is stopped, every event is computed
    when it comes.

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
    >>> with ThreadManager(1) as manager:
    ...     group = PullGroup(Cumulate(add), manager)
    ...     group.stop()
    ...     print(list(group([1, 2, 3])), manager.statistics().granted)
    ...     group.start()
    ...     print(list(group([1, 2, 3])), manager.statistics().granted)
    [1, 3, 6] 0
    [1, 3, 6] 1
    """

    size: int = field(default=16384, validator=at_least(1))
    #: shared by all runs of the group
    switch: Switch = field(default=NEW, converter=lambda s: Switch() if s is NEW else s, kw_only=True)

    def start(self) -> None:
        """Compute ahead, as a group does from the beginning; all runs of this group do so."""
        self.switch.on = True

    def stop(self) -> None:
        """Compute only what is asked for from now on: the next event gives the worker back."""
        self.switch.on = False

    @property
    def is_started(self) -> bool:
        """Return whether runs of this group compute ahead."""
        return self.switch.on

    @property
    def is_halted(self) -> bool:
        """Return whether nothing is to be handed over."""
        return not self.switch.on

    def make_stage(self) -> Keeping:
        """Return a stage that keeps its state."""
        return Keeping(self.inner)

    def acquire(self) -> bool:
        """Return whether there is a worker."""
        if self.is_halted:
            self.line.settle()
            return False
        return self.line.acquire(self.manager, self.stage, 1, keeps=True)

    def request(self, events: list[Any]) -> Any:
        """Return a chunk as the worker takes it."""
        return "events", events

    @property
    def longest(self) -> int:
        """Return the greatest length of a chunk: one is filled while others are under way."""
        return max(1, self.size // (AHEAD + 1))
