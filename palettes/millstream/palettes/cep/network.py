"""PPS with heartbeats as a state machine: stations, streams between them, and somebody who carries.

Each station is worked on by one carrier at a time, in any order whatever: the streams are merged by their
keys, so that the outcome is that of the sequential execution, also in modes that consume. Leaves get
heartbeats, so that a silent operand holds nobody up for long; leaves below the same OR have a pacer of their
own, which adapts to what waits there.

Jaeger and Obermaier, Sections 4.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import define, field

from .expressions import On
from .forest import Analysis
from .hybrid import Pacer, subtrees
from .occurrence import EARLIEST, LATEST, Entry
from .stations import END, Item, Merge, Station, heartbeat, stations

#: what a carrier takes to a station: its index, the operand, and the item
Work = tuple[int, int, Item]


@define
class Network:
    """The stations of a forest, and what waits between them.

    >>> from millstream.palettes.cep import Mode, Occurrence, before
    >>> from millstream.palettes.cep.forest import Forest
    >>> network = Network.of(Analysis.of(Forest.of(before("A", "B")), Mode.CHRONICLE))
    >>> network.put("A", 1, Occurrence("A", 1))
    >>> network.put("B", 2, Occurrence("B", 2))
    >>> network.end()
    >>> network.run()
    >>> [str(entry[2]) for _, entry in network.found(0)]
    ['(A.1, B.2, 2)']
    """

    analysis: Analysis
    stations: dict[int, Station]
    merges: dict[int, Merge]
    takers: list[list[tuple[int, int]]]
    #: type name -> leaf
    leaves: dict[str, int]
    #: leaves that beat together, with their pacer
    hearts: list[tuple[frozenset[int], Pacer]]
    #: what has come out of each root, with keys
    outputs: list[list[Item]]
    number: int = 0
    now: Any = EARLIEST
    #: stations that a carrier is working on
    busy: set[int] = field(factory=set)

    @staticmethod
    def of(analysis: Analysis, interval: Any = 16, high: int = 64) -> Network:
        """Return the network of a forest whose hearts begin to beat at an interval."""
        every = stations(analysis)
        leaves = {str(n.event.what): n.index for n in analysis.nodes if isinstance(n.event, On)}
        groups = subtrees(analysis)
        rest = frozenset(leaves.values()).difference(*groups)
        hearts = [(group, Pacer(interval, high)) for group in [*groups, rest] if group]
        merges = {k: Merge.of(len(s.node.operands)) for k, s in every.items()}
        outputs: list[list[Item]] = [[] for _ in analysis.roots]
        return Network(analysis, every, merges, analysis.consumers(), leaves, hearts, outputs)

    def put(self, kind: str, time: Any, event: Any) -> None:
        """Take an event into the leaf of its type, and let hearts beat."""
        self.now, key = time, (time, float(self.number))
        if kind in self.leaves:
            self._hand_on(self.leaves[kind], (key, (time, time, event)))
        for group, pacer in self.hearts:
            if pacer.beats(time, self._waiting(group)):
                for leaf in sorted(group):
                    self._hand_on(leaf, heartbeat(time, self.number + 0.5))
        self.number += 1

    def end(self) -> None:
        """Come to the end of the trace."""
        for leaf in self.leaves.values():
            self._hand_on(leaf, END)

    def _waiting(self, group: frozenset[int]) -> int:
        return sum(len(m) for k, m in self.merges.items() if self.analysis.nodes[k].sources & group)

    def _hand_on(self, index: int, item: Item) -> None:
        for taker, port in self.takers[index]:
            self.merges[taker].add(port, item)
        for k, root in enumerate(self.analysis.roots):
            if root == index:
                self.outputs[k].append(item)

    # -- carrying

    def claim(self, index: int) -> Work | None:
        """Return work for a station and reserve it, None if it has none or somebody is there."""
        taken = None if index in self.busy else self.merges[index].take()
        if taken is None:
            return None
        self.busy.add(index)
        return index, *taken

    def work(self, work: Work) -> list[Item]:
        """Do the work: the only part that may run beside that of other stations."""
        index, port, (key, entry) = work
        station = self.stations[index]
        if entry is not None:
            return [_keyed(f, entry[0], key) for f in station.feed(port, entry)]
        if key[0] is not LATEST:
            return [((f[0], float("inf")), f) for f in station.wait(key[0])] + [(key, None)]
        return [((LATEST, float(index)), f) for f in self._finish(station)] + [END]

    def _finish(self, station: Station) -> list[Entry]:
        return [] if self.now is EARLIEST else station.finish(self.now)

    def deliver(self, work: Work, found: Iterable[Item]) -> None:
        """Hand on what a station has found, and let it go."""
        for item in found:
            self._hand_on(work[0], item)
        self.busy.remove(work[0])

    def run(self) -> None:
        """Carry everything, as long as there is work."""
        working = True
        while working:
            working = False
            for index in self.stations:
                while (work := self.claim(index)) is not None:
                    self.deliver(work, self.work(work))
                    working = True

    def found(self, root: int) -> list[tuple[Any, Entry]]:
        """Return what has come out of a root so far, without heartbeats."""
        return [(key, entry) for key, entry in self.outputs[root] if entry is not None]


def _keyed(found: Entry, time: Any, key: Any) -> Item:
    """Return what an entry has brought about with its key; what was due before has that of its own time."""
    return (key if found[0] == time else (found[0], float("inf"))), found
