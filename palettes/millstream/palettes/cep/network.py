"""PPS with heartbeats as a state machine: stations, streams between them, and somebody who carries.

Each station is worked on by one carrier at a time, in any order whatever: the streams are merged by their
keys, so that the outcome is that of the sequential execution, also in modes that consume. Leaves get
heartbeats, so that a silent operand holds nobody up for long; leaves below the same OR have a pacer of their
own, which adapts to what waits there.

Jaeger and Obermaier, Sections 4.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from attrs import define, field

from .expressions import On
from .forest import Analysis
from .hybrid import Pacer, subtrees
from .occurrence import EARLIEST, LATEST, Entry
from .operators import Memory
from .stations import END, Item, Merge, Station, heartbeat, stations

#: what a carrier takes to a station: its index, its memory, what it shall take (operand, item), the last time
Work = tuple[int, Memory, list[tuple[int, Item]], Any]
#: what comes back: the memory, and what was found
Result = tuple[Memory, list[Item]]


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
    >>> [str(entry[2]) for entry in network.found()]
    ['(A.1, B.2, 2)']
    """

    analysis: Analysis
    stations: dict[int, Station]
    merges: dict[int, Merge]
    takers: list[list[tuple[int, int]]]
    #: type name -> leaf
    leaves: dict[str, int]
    #: leaves that ask every event
    predicates: list[int]
    #: leaves that beat together, with their pacer
    hearts: list[tuple[frozenset[int], Pacer]]
    #: what has come out of the roots
    outputs: Merge
    number: int = 0
    now: Any = EARLIEST
    #: stations that a carrier is working on
    busy: set[int] = field(factory=set)

    @staticmethod
    def of(
        analysis: Analysis, interval: Any = 16, high: int = 64, limit: int | None = None, full: str = "error"
    ) -> Network:
        """Return the network of a forest whose hearts begin to beat at an interval."""
        every = stations(analysis, limit, full)
        ons = {n.index: n.event.what for n in analysis.nodes if isinstance(n.event, On)}
        groups = subtrees(analysis)
        rest = frozenset(ons).difference(*groups)
        return Network(
            analysis,
            every,
            {k: Merge.of(len(s.node.operands) or 1) for k, s in every.items()},
            analysis.consumers(),
            {what: k for k, what in ons.items() if isinstance(what, str)},
            [k for k, what in ons.items() if not isinstance(what, str)],
            [(group, Pacer(interval, high)) for group in [*groups, rest] if group],
            Merge.of(len(analysis.roots)),
        )

    def put(self, kind: str, time: Any, event: Any) -> None:
        """Take an event into the leaf of its type, and let hearts beat."""
        self.now, key = time, (time, float(self.number))
        item = key, (time, time, event)
        if kind in self.leaves:
            self._hand_on(self.leaves[kind], item)
        for leaf in self.predicates:
            self.merges[leaf].add(0, item)
        for group, pacer in self.hearts:
            if pacer.beats(time, self._waiting(group)):
                self._beat(group, heartbeat(time, self.number + 0.5))
        self.number += 1

    def _beat(self, leaves: Iterable[int], beat: Item) -> None:
        for leaf in leaves:
            if leaf in self.merges:
                self.merges[leaf].add(0, beat)
            else:
                self._hand_on(leaf, beat)

    def beat(self) -> None:
        """Let all hearts beat now."""
        if self.number:
            self._beat([*self.leaves.values(), *self.predicates], heartbeat(self.now, self.number - 0.5))

    def end(self) -> None:
        """Come to the end of the trace."""
        self._beat([*self.leaves.values(), *self.predicates], END)

    def _waiting(self, group: frozenset[int]) -> int:
        return sum(len(m) for k, m in self.merges.items() if self.analysis.nodes[k].sources & group)

    def _hand_on(self, index: int, item: Item) -> None:
        for taker, port in self.takers[index]:
            self.merges[taker].add(port, item)
        for k, root in enumerate(self.analysis.roots):
            if root == index:
                self.outputs.add(k, item)

    # -- carrying

    def claim(self, index: int) -> Work | None:
        """Return all work for a station and reserve it, None if it has none or somebody is there."""
        if index in self.busy:
            return None
        batch, merge = [], self.merges[index]
        while (taken := merge.take()) is not None:
            batch.append(taken)
        if not batch:
            return None
        self.busy.add(index)
        return index, self.stations[index].memory, batch, self.now

    def deliver(self, index: int, result: Result) -> None:
        """Hand on what a station has found, and let it go."""
        self.stations[index].memory, found = result
        for item in found:
            self._hand_on(index, item)
        self.busy.remove(index)

    def run(self) -> None:
        """Carry everything, as long as there is work."""
        while works := [w for index in self.stations if (w := self.claim(index)) is not None]:
            for work in works:
                self.deliver(work[0], do(self.stations, work))

    def found(self) -> list[Entry]:
        """Return and forget what has come out, in order, as far as that is known."""
        entries = []
        while (taken := self.outputs.take()) is not None:
            entry = taken[1][1]
            if entry is not None:
                entries.append(entry)
        return entries

    # -- state

    def dump(self) -> tuple[Any, ...]:
        """Return everything that changes, as built-in containers; nobody may be at work."""
        memories = [s.memory for s in self.stations.values()]
        streams = [m.streams for m in (*self.merges.values(), self.outputs)]
        return self.number, self.now, memories, streams, [(p.interval, p.last) for _, p in self.hearts]

    def load(self, dumped: tuple[Any, ...]) -> None:
        """Continue with what `dump` has returned."""
        self.busy.clear()
        self.number, self.now, memories, streams, beats = dumped
        for station, memory in zip(self.stations.values(), memories, strict=True):
            station.memory = memory
        for merge, waiting in zip((*self.merges.values(), self.outputs), streams, strict=True):
            merge.streams = waiting
        for (_, pacer), (interval, last) in zip(self.hearts, beats, strict=True):
            pacer.interval, pacer.last = interval, last


def do(every: dict[int, Station], work: Work) -> Result:
    """Do the work of a station: the only part that may run beside that of others."""
    index, memory, batch, now = work
    station = every[index]
    station.memory = memory
    found: list[Item] = []
    for port, (key, entry) in batch:
        if entry is not None:
            found += [_keyed(f, entry[0], key) for f in station.feed(port, entry)]
        elif key[0] is not LATEST:
            found += [((f[0], inf), f) for f in station.wait(key[0])]
            found.append((key, None))
        else:
            if now is not EARLIEST:
                found += [((f[0], inf), f) for f in station.expire(now)]
                found += [((LATEST, float(index)), f) for f in station.finish()]
            found.append(END)
    return station.memory, found


def _keyed(found: Entry, time: Any, key: Any) -> Item:
    """Return what an entry has brought about with its key; what was due before has that of its own time."""
    return (key if found[0] == time else (found[0], inf)), found
