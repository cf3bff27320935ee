"""How many workers may run: the decisions of a thread manager, as a plain state machine.

A worker is lent or idle. A request is answered at once: reuse an idle worker, start a new one, or refuse.
The limit applies to lent workers and may change at any time; workers above it are stopped when they come
back.
"""

from __future__ import annotations

from millstream.processors.errors import ParameterError, shorten


def check_limit(limit: object) -> int:
    """Return a limit if it is one."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise ParameterError(f"ThreadManager: limit must be an integer of at least 0, got {shorten(limit)}")
    return limit


class Permits:
    """Counts of lent and idle workers under a limit.

    >>> permits = Permits(1)
    >>> permits.request(), permits.request(), permits.give_back(), permits.request()
    ('start', None, 'keep', 'reuse')
    """

    __slots__ = ("idle", "lent", "limit")

    def __init__(self, limit: int) -> None:
        #: the greatest number of workers lent at one time; 0 refuses all
        self.limit = check_limit(limit)
        #: lent + idle workers exist, and there are never more than the largest limit so far
        self.lent = self.idle = 0

    def request(self) -> str | None:
        """Answer a request for a worker: ``"reuse"`` an idle one, ``"start"`` another, or None."""
        if self.lent >= self.limit:
            return None
        self.lent += 1
        if self.idle:
            self.idle -= 1
            return "reuse"
        return "start"

    def give_back(self) -> str:
        """Take a lent worker back: ``"keep"`` it idle, or ``"stop"`` it if the limit has been lowered."""
        self.lent -= 1
        if self.lent + self.idle >= self.limit:
            return "stop"
        self.idle += 1
        return "keep"

    def lose(self) -> None:
        """Take note that a lent worker is gone for good."""
        self.lent -= 1

    def change(self, limit: int) -> int:
        """Set another limit and return how many idle workers are to be stopped."""
        self.limit = check_limit(limit)
        excess = min(self.idle, max(0, self.lent + self.idle - limit))
        self.idle -= excess
        return excess
