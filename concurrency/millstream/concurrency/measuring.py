"""Stages of a query that are run one after the other, with a clock beside each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from time import thread_time
from typing import Any

from attrs import define, field

from millstream.processors import Query, Run

State = tuple[Any, ...]
Clock = Callable[[], float]


@define
class Sample:
    """What a stage was given while it was measured, what it gave, and the seconds of each time."""

    events: list[Any] = field(factory=list)
    outputs: list[Any] = field(factory=list)
    seconds: list[float] = field(factory=list)

    @property
    def cost(self) -> float:
        """Return the seconds that an event takes, without the longest of twenty times: those were disturbed.

        >>> Sample(list(range(40)), [], [0.25] * 38 + [9.0] * 2).cost
        0.25
        """
        usual = sorted(self.seconds)[: len(self.seconds) - len(self.seconds) // 20]
        share = len(self.events) / max(1, len(self.seconds))
        return sum(usual) / max(1, len(usual)) / max(1.0, share)


@cache
def glance(clock: Clock) -> float:
    """Return the seconds that looking at a clock takes."""
    return min(-(clock() - clock()) for _ in range(100))


class Stages:
    """A run of stages, each measured by itself; has what a run has for those who host it."""

    def __init__(
        self, stages: Sequence[Query], sink: Callable[[Any], Any], clock: Clock = thread_time
    ) -> None:
        self._clock, self._glance = clock, glance(clock)
        self.samples = [Sample() for _ in stages]
        self._outs: list[list[Any]] = [[] for _ in stages]
        self._runs: list[Run] = [q.into(out) for q, out in zip(stages, self._outs, strict=True)]
        self._sink = sink

    def entry(self, x: Any) -> None:
        """Take an event through all stages."""
        self._through([x], 0)

    def _through(self, events: list[Any], k: int) -> None:
        """Give events to a stage, and what it gives to the next; what comes before a failure goes on too."""
        if k == len(self._runs):
            for y in events:
                self._sink(y)
            return
        sample, entry, out = self.samples[k], self._runs[k].entry, self._outs[k]
        sample.events += events
        begun = self._clock()
        try:
            for event in events:
                entry(event)
        finally:
            sample.seconds.append(max(0.0, self._clock() - begun - self._glance))
            given, out[:] = out.copy(), []
            sample.outputs += given
            self._through(given, k + 1)

    def finish(self) -> None:
        """End the stages, one after the other."""
        for k, (run, out) in enumerate(zip(self._runs, self._outs, strict=True)):
            run.finish()
            given, out[:] = out.copy(), []
            self._through(given, k + 1)

    def parts(self) -> list[State]:
        """Return the state of each stage."""
        return [run.take() for run in self._runs]

    def take(self) -> State:
        """Return the states of all stages."""
        return tuple(self.parts())

    def give(self, values: State) -> None:
        """Put the states of all stages in."""
        for run, part in zip(self._runs, values, strict=True):
            run.give(part)

    def fresh(self) -> State:
        """Return initial states of all stages."""
        return tuple(run.fresh() for run in self._runs)
