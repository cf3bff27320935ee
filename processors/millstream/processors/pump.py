"""Pump: pull from one side, push to the other, and stop when asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import define, field

from .push import Run


@define(eq=False)
class Pump:
    """Moves events from an iterable into a run.

    It can be stopped from anywhere, also from a sink or a signal handler; the event under way is finished
    first, and calling it again goes on with the next one. Only when the events are exhausted is the run
    ended.

    Parameters
    ----------
    events
        Where events are pulled from.
    run
        Where they are pushed to.
    port
        Into which input of the run.

    Examples
    --------
    >>> from millstream.processors import Apply, X
    >>> out = []
    >>> pump = Pump(range(5), Apply(X * 2).into(out))
    >>> pump(limit=2)
    2
    >>> pump()
    3
    >>> out
    [0, 2, 4, 6, 8]
    """

    events: Iterable[Any]
    run: Run
    port: int = 0
    #: set by `stop`, cleared when the pump starts again
    stopped: bool = field(default=False, init=False)
    _iterator: Iterator[Any] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._iterator = iter(self.events)

    def __call__(self, limit: int | None = None) -> int:
        """Move events until there are no more, `stop` is called, or `limit` is reached; return how many."""
        self.stopped = False
        moved = 0
        while not self.stopped and moved != limit:
            for event in self._iterator:
                self.run.push_all((event,), self.port)
                moved += 1
                break
            else:
                self.run.end()
                break
        return moved

    def stop(self) -> None:
        """Stop after the event under way."""
        self.stopped = True
