"""Carries work between a network and the workers that a manager lends.

A station belongs to a worker, which keeps its memory. Which ones are shared among workers instead, and how,
is what makes the strategies.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from attrs import define, field, frozen

from millstream.processors.states import copied

from .forest import Analysis
from .hybrid import Strategy, table_6
from .network import Network
from .operators import Memory
from .stations import is_light, is_stateless
from .workshop import Work

#: seconds of work that a batch should take, its length when nothing is known yet, and its greatest length
GOAL, FIRST, MOST = 1e-2, 4, 512
#: batches that a worker may have: one to work on, and the next ones
AHEAD = 3


@frozen
class Sharing:
    """The stations whose entries are tasks of their own, and those whose combinations are shared."""

    spread: frozenset[int] = frozenset()
    split: frozenset[int] = frozenset()

    @staticmethod
    def of(network: Network, strategy: str) -> Sharing:
        """Return what a strategy shares: nothing in PPS, everything in UPS that does not depend on order."""
        if strategy not in ("ups", "hybrid"):
            return Sharing()
        chosen = table_6(network.analysis)
        free = {k for k in network.stations if strategy == "ups" or chosen[k] is Strategy.UPS}
        stateless = {k for k in free if is_stateless(network.stations[k].node)}
        return Sharing(frozenset(stateless), frozenset(k for k in free if network.stations[k].splits))

    def path(self, index: int, analysis: Analysis, takers: list[list[tuple[int, int]]]) -> tuple[int, ...]:
        """Return the stations that an entry can walk through on its own after this one."""
        if index in analysis.roots or len(takers[index]) != 1:
            return ()
        taker = takers[index][0][0]
        return (taker, *self.path(taker, analysis, takers)) if taker in self.spread else ()


@define
class Carrier:
    """Brings the work of a network to a crew of workers, and the results back."""

    network: Network
    crew: Any
    sharing: Sharing
    #: station -> the workers that have its memory
    places: dict[int, range] = field(factory=dict)
    #: what each worker has been asked: work, or None for what is not
    asked: list[deque[Work | None]] = field(factory=list)
    #: station -> seconds that an entry takes
    costs: dict[int, float] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.asked = [deque() for _ in range(self.crew.size)]

    def run(self) -> None:
        """Carry until nothing is left to do."""
        self._hand_out()
        while any(self.asked):
            self._receive()
            self._hand_out()

    def _hand_out(self) -> None:
        self.network.advance()
        for index, station in self.network.stations.items():
            if not is_light(station.node):
                while self._claim(index):
                    pass

    def _claim(self, index: int) -> bool:
        """Send a batch of a station to the workers that it is for; return whether there was one."""
        network, spread = self.network, index in self.sharing.spread
        members = self._members(index)
        if any(len(self.asked[m]) >= AHEAD for m in members):
            return False
        path = self.sharing.path(index, network.analysis, network.takers) if spread else ()
        works = network.claim(index, self._length(index), len(members), path)
        for member, work in zip(members, works, strict=False):
            self._send(member, "do", work, work)
        return bool(works)

    def _members(self, index: int) -> range:
        """Return who works for a station; its memory is lent to them first."""
        if index in self.sharing.spread:
            free = min(range(self.crew.size), key=lambda m: len(self.asked[m]))
            return range(free, free + 1)
        if index not in self.places:
            one = len(self.places) % self.crew.size
            shared = index in self.sharing.split
            self.places[index] = range(self.crew.size) if shared else range(one, one + 1)
            for member in self.places[index]:
                memory = self.network.stations[index].memory
                self._send(member, "lend", {index: copied(memory) if shared else memory}, None)
        return self.places[index]

    def _length(self, index: int) -> int:
        """Return how long a batch shall be: so that it pays to hand it over, and all are done together."""
        cost = self.costs.get(index)
        length = FIRST if cost is None else min(max(1, round(GOAL / cost)), MOST)
        if index not in self.sharing.spread:
            return length
        return min(length, -(-len(self.network.merges[index]) // (2 * self.crew.size)) or 1)

    def _send(self, member: int, word: str, about: Any, work: Work | None) -> None:
        self.crew.send(member, (word, about))
        self.asked[member].append(work)

    def _receive(self) -> Any:
        """Take one reply; return what is not a result."""
        member, reply = self.crew.receive()
        work = self.asked[member].popleft()
        if work is None:
            return reply
        result, seconds = reply
        self.costs[work.station] = max(seconds / len(work.batch), 1e-7)
        self.network.deliver(work, result)
        return None

    def memories(self) -> dict[int, Memory]:
        """Return the memories of all stations, wherever they are; nothing may be under way."""
        found = {k: s.memory for k, s in self.network.stations.items()}
        for member in range(self.crew.size):
            here = [k for k, place in self.places.items() if place[0] == member]
            self._send(member, "show", here, None)
        while any(self.asked):
            found |= self._receive() or {}
        return found

    def recall(self) -> None:
        """Bring all memories back, and let the workers go."""
        for index, memory in self.memories().items():
            self.network.stations[index].memory = memory
        self.crew.close()
