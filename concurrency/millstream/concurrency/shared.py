"""Shared: a processor that hosts copies of a query, with its copies spread over workers.

The host is divided into shares, each with a part of the copies. All of them read the same events, in chunks,
and keep their copies from chunk to chunk, wherever they are: a share is with a worker of its own, or here if
there is none. What the shares give for an event is merged as the host says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

from attrs import define, field

from millstream.processors import Query, Run, processor, state, transient
from millstream.processors.errors import at_least

from .chunks import MOST, Chunk, Failed, Reply
from .line import Line
from .offloaded import Offloaded
from .stages import Keeping, run_apart


@define(eq=False)
class Team(Line):
    """The lines of all shares, fed with the same events; what is ready has been merged."""

    lines: list[Line] = field(factory=list)

    @property
    def size(self) -> int:
        """Return the number of workers."""
        return sum(line.size for line in self.lines)

    @property
    def queued(self) -> int:
        """Return the number of events that some share has not computed."""
        return len(self.waiting) + max((line.queued for line in self.lines), default=0)

    def merge(self, host: Any) -> None:
        """Put the outputs together of events for which all shares have told theirs."""
        while all(line.ready for line in self.lines):
            parts = [line.ready.popleft() for line in self.lines]
            failed = [part for part in parts if part and isinstance(part[-1], Failed)]
            self.failed = self.failed or bool(failed)
            self.ready.extend(failed[:1] or host.merged(parts))

    def collect(self, under_way: int | None = None) -> None:
        """Take replies of all workers."""
        for line in self.lines:
            line.collect(under_way)

    def settle(self) -> None:
        """Wait for everything that is under way; the states come back here."""
        for line in self.lines:
            line.settle()

    def close(self) -> None:
        """Give the workers back, whatever they are doing."""
        for line in self.lines:
            line.close()

    def __copy__(self) -> Team:
        return _team(self.plain(), [copy(line) for line in self.lines])

    def __reduce__(self) -> Any:
        return _team, (self.plain(), [copy(line) for line in self.lines])


def _team(plain: tuple[Any, ...], lines: list[Line]) -> Team:
    team = Team(*plain)
    team.lines = lines
    return team


@processor
class Shared(Offloaded):
    """Do what a host of copies does, with its copies spread over workers; outputs keep their order.

    `spread` makes it, where a `NonBlockingProcessor` stands inside a window or a quantifier.

    Parameters
    ----------
    inner
        The host, a processor with ``shares(count)`` and ``merged(parts)``.
    manager
        Lends a worker for each share.
    count
        Into how many shares the copies are divided.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from millstream.palettes.ltl import ForAll
    >>> with ThreadManager(2) as manager:
    ...     list(Shared(ForAll(lambda e: (1, 2, 3), lambda p: p[1] < p[0]), manager)([0, 10]))
    [TRUE, FALSE]
    """

    count: int = field(default=2, validator=at_least(1))
    host: Any = transient()
    #: for each share what runs it here, with its sink, and what makes it in a worker
    runs: list[tuple[Run, list[Any]]] = transient()
    stages: list[Keeping] = transient()
    line: Team = state(of=lambda self: Team(lines=[Line() for _ in self.divided()]))

    def divided(self) -> Sequence[Query]:
        """Return the shares."""
        host: Any = self.inner
        shares: Sequence[Query] = host.shares(self.count)
        return shares

    def prepare(self) -> None:
        """Wire the shares, for what is done here."""
        self.host, self.outputs_ = self.inner, []
        self.stages = [Keeping(share, apart=True) for share in self.divided()]
        sinks: list[list[Any]] = [[] for _ in self.stages]
        self.runs = [(stage.query.into(sink), sink) for stage, sink in zip(self.stages, sinks, strict=True)]

    def elsewhere(self) -> None:
        """Return nothing: copies are divided, and so is their state."""

    def acquire(self) -> bool:
        """Return whether there are workers."""
        return self.line.size > 0

    def hand_over(self) -> None:
        """Send the events that wait to the workers of all shares; those without one are run here."""
        team = self.line
        events, team.waiting = team.waiting, []
        if not events:
            return
        last, here = self.wiring.position(), []
        for k, line in enumerate(team.lines):
            line.first = team.first
            line.begin(len(events))
            if line.acquire(self.manager, self.stages[k], 1, keeps=True):
                line.send(("events", events), last, len(events))
            else:
                here.append(k)
        for k in here:
            team.lines[k].add(Chunk(team.first, last, len(events)), self._run_here(k, events))
        team.collect()
        team.length = min(line.pace.length(MOST) for line in team.lines)

    def _run_here(self, k: int, events: list[Any]) -> Reply:
        """Do a chunk of a share here."""
        (run, sink), line = self.runs[k], self.line.lines[k]
        run.give(run.fresh() if line.values is None else line.values)
        reply = run_apart(run, sink, events)
        line.values = run.take()
        return reply

    def deliver(self) -> None:
        """Emit what is ready; raise a failure when it is its turn."""
        self.line.merge(self.host)
        Offloaded.deliver(self)

    def delivered(self, out: list[Any]) -> Iterator[Iterable[Any]]:
        """Yield what is ready; raise a failure when it is its turn."""
        self.line.merge(self.host)
        return Offloaded.delivered(self, out)

    def finish(self) -> None:
        """End the shares, here; their outputs are merged."""
        parts = []
        for (run, sink), line in zip(self.runs, self.line.lines, strict=True):
            run.give(run.fresh() if line.values is None else line.values)
            run.finish()
            parts.append(sink.copy())
            sink.clear()
        self.outputs_ += self.host.merged(parts)
