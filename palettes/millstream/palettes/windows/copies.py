"""Copies: a sliding window that steps all windows under way together, for queries that workers can step.

Replaying a window is one long computation; the steps of its copies on one event are many short ones, which
workers can do at the same time (`Run.each`). So this way is taken if the inner query has a processor whose
steps can be started now and waited for later, and only then: elsewhere replaying is faster.
"""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

from millstream.processors import MISSING, Processor, Query, Run, processor, state, transient
from millstream.processors.lists import host


@processor
class Copies(Processor):
    """Run a query on the last `width` events: every window under way has a copy, stepped with each event.

    An event that fails does so when it comes, not when the first window that has it is full.

    >>> from millstream.processors import Filter, X
    >>> list(Copies(Filter(X % 2 == 0), 2)([1, 3, 4, 5, 7]))
    [4, 4]
    """

    icon: ClassVar[str] = "▭"
    inner: Query
    width: int
    every: int = 1
    partial: bool = False
    run: Run = transient()
    last: deque[Any] = transient()
    #: windows under way, oldest first: the state of the copy, and its last output
    windows: deque[tuple[Any, Any]] = state(of=lambda self: deque())
    #: events until the next window begins, and events that the oldest window has
    due: int = state(0)
    age: int = state(0)

    def prepare(self) -> None:
        """Wire the inner query."""
        self.last = deque(maxlen=1)
        self.run = host(self, self.inner, self.last)

    def step(self, x: Any) -> None:
        """Give the event to all windows under way (one may begin with it), and close the oldest if full."""
        if not self.due:
            self.windows.append((self.run.fresh(), MISSING))
        self.due = (self.due or self.every) - 1
        self._advance(x)
        self.age += 1
        if self.age == self.width:
            self.age -= self.every
            self._close()

    def _advance(self, x: Any) -> None:
        windows, last = self.windows, self.last
        last.clear()
        stepped = self.run.each([(values, x) for values, _ in windows])
        for k, values in enumerate(stepped):
            windows[k] = values, last.pop() if last else windows[k][1]

    def _close(self) -> None:
        """Emit the value of the oldest window."""
        values, output = self.windows.popleft()
        self.last.clear()
        self.run.give(values)
        self.run.finish()
        value = self.last.pop() if self.last else output
        if value is not MISSING:
            self.emit(value)

    def end(self) -> None:
        """Close the windows that have begun, if that is wanted."""
        while self.partial and self.windows:
            self._close()
