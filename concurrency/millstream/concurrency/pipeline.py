"""Pipeline: one query, many copies, each on events of its own.

It is sound only where an output depends on a bounded number of events, which is checked; where nothing is
known, the pipeline refuses.

Hallé, Khoury and Gaboury, *Event Stream Processing with Multiple Threads*, Section 4.4.
"""

from __future__ import annotations

from typing import Any

from attrs import field

from millstream.processors import processor
from millstream.processors.errors import ParameterError, at_least, shorten

from .chunks import AHEAD
from .classify import History, bounded_history
from .offloaded import Offloaded
from .stages import Repeating


def _history(owner: Any, attribute: Any, value: Any) -> None:
    if value is not None:
        at_least(1)(owner, attribute, value)


@processor
class Pipeline(Offloaded):
    """Run copies of a query on many events at the same time; outputs keep their order.

    Parameters
    ----------
    inner
        A query with one input and one output that has no state, or depends on a known number of events, or
        may lose its state: a processor of one's own declares ``history``, the number of last events (this
        one included) that an output depends on, or ``is_stateless()``, which tells whether the state will
        never change again; until it does, events are computed one after the other.
    manager
        Lends the workers.
    depth
        How many events may be under way.
    history
        The number of events that an output depends on, if the query does not say so itself. It is taken at
        its word.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> with ThreadManager(2) as manager:
    ...     print(list(Pipeline(abs, manager)([1, -2, 3])))
    [1, 2, 3]
    >>> from operator import add
    >>> from millstream.processors import Cumulate
    >>> Pipeline(Cumulate(add), manager)
    Traceback (most recent call last):
    ...
    millstream.processors.errors.ParameterError: Pipeline: Cumulate(add) keeps a state (value) that all...
    """

    depth: int = field(default=16384, validator=at_least(1))
    history: int | None = field(default=None, validator=_history)
    known: History = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        Offloaded.__attrs_post_init__(self)
        self.known = bounded_history(self.inner) if self.history is None else History(self.history)
        if self.known.length is None and not self.known.adaptive:
            raise ParameterError(
                f"Pipeline: {shorten(self.inner, 60)} {self.known.reason}; copies would give other outputs. "
                "Try PullGroup, which takes any query, or history=n if only the last n events count"
            )

    def make_stage(self) -> Repeating:
        """Return a stage that runs each chunk on a copy of its own."""
        return Repeating(self.inner)

    def acquire(self) -> bool:
        """Return whether there are workers, and copies may be used."""
        if self.known.adaptive and not self.known.is_stateless(self.run, self.line.values):
            return False
        if self.line.values is not None and len(self.line.before) < (self.known.length or 1) - 1:
            return False  # a state came without the events that copies have to see
        return self.line.acquire(self.manager, self.stage, self.manager.limit, keeps=False)

    def request(self, events: list[Any]) -> Any:
        """Return a chunk with what its copy has to see before."""
        line, seen = self.line, (self.known.length or 1) - 1
        if not self.known.adaptive:
            line.values = None
        request = line.values, line.before, events
        if seen:
            line.before = (*line.before, *events)[-seen:]
        return request

    def compute(self, events: list[Any]) -> Any:
        """Do a chunk here; the state goes on, and so does what the next copy has to see."""
        self._catch_up()
        seen = (self.known.length or 1) - 1
        if seen:
            self.line.before = (*self.line.before, *events)[-seen:]
        return Offloaded.compute(self, events)

    def finish(self) -> None:
        """End the inner query in the state that the last events have left it in."""
        self._catch_up()
        Offloaded.finish(self)

    def bring_back(self) -> Any:
        """Return the state that the last events have left."""
        self.complete()
        self._catch_up()
        return Offloaded.bring_back(self)

    def _catch_up(self) -> None:
        """Bring the state here up to what the copies have seen."""
        if self.line.values is None:
            self.run.give(self.run.fresh())
            for event in self.line.before:
                self.run.entry(event)
            self.outputs_.clear()
            self.line.values = self.run.take()

    @property
    def longest(self) -> int:
        """Return the greatest length of a chunk."""
        return max(1, self.depth // (AHEAD * max(1, self.line.size) + 1))
