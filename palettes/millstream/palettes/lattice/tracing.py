"""Where the outputs of windows over processes come from: the newest local states of each process."""

from __future__ import annotations

from itertools import chain

from attrs import define, field

from millstream.processors import processor
from millstream.processors.explaining import Followed
from millstream.processors.lineage import Lineage, Traced, Tracker, causes_of, merged


@define
class Newest(Tracker):
    """Of each process the last states that came, as many as its window holds."""

    widths: tuple[int | None, ...]
    #: the process whose state is being taken
    process: int = field(default=0, init=False)
    states: dict[int, tuple[Lineage, ...]] = field(factory=dict, init=False)

    def take(self, front: tuple[Traced, ...]) -> None:
        """Put the state with those of its process."""
        width = self.widths[self.process] or self.limit
        here = (*self.states.get(self.process, ()), causes_of(front, self.limit))
        self.states[self.process] = here[-width:]

    def give(self, output: object) -> Lineage:
        """Return where the states in all windows come from."""
        return merged(chain.from_iterable(self.states.values()), self.limit)

    def settle(self, initial: bool) -> None:
        """Keep the windows."""


@processor
class FollowedStates(Followed):
    """A processor of local states with a tracker, which is told the process of each."""

    def step(self, *front: Traced) -> None:
        """Give the state to the processor."""
        name = self.live.read[0](front[0].value)  # type: ignore[attr-defined]
        if name in self.node.processes:  # type: ignore[attr-defined]
            self.following.process = self.node.processes.index(name)  # type: ignore[attr-defined]
        Followed.step(self, *front)
