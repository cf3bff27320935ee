"""Stations with streams between them: what is worked on next, and in which order results go on.

A state machine without threads. Somebody else, a worker or a test, does the work of stations, in any order
whatever: the streams are merged by their keys (sort-merge), so that the outcome is that of the sequential
execution, also in modes that consume. Leaves get heartbeats, so that a silent operand holds nobody up for
long; leaves below the same OR have a heart of their own, which adapts to what arrives there.

Jaeger and Obermaier, Sections 4.2 and 4.3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from attrs import define, field

from .expressions import On
from .forest import Analysis
from .hybrid import Pacer, subtrees
from .occurrence import EARLIEST, Entry
from .stations import END, Item, Merge, Station, heartbeat, is_light, stations
from .workshop import Failed, Result, Work, do


@define
class Network:
    """The stations of a forest, and what waits between them.

    >>> from millstream.palettes.cep import Mode, Occurrence, before
    >>> from millstream.palettes.cep.forest import Forest
    >>> network = Network.of(Analysis.of(Forest.of(before("A", "B")), Mode.CHRONICLE))
    >>> _ = network.put("A", 1, Occurrence("A", 1)), network.put("B", 2, Occurrence("B", 2))
    >>> network.end()
    >>> network.run()
    >>> [str(found[2]) for found in network.found()]
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
    #: what has failed and was not told yet, the oldest first
    failures: list[Failed] = field(factory=list)
    #: station -> the works that are under way, by batch, with the results of their parts
    open: dict[int, deque[tuple[Work, list[Result | None]]]] = field(factory=dict)
    _tickets: int = 0

    @staticmethod
    def of(
        analysis: Analysis, beat: int = 0, high: int = 64, limit: int | None = None, full: str = "error"
    ) -> Network:
        """Return the network of a forest, whose hearts begin to beat every so many events (0: not at all)."""
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
            [(group, Pacer(min(beat, high), high, high)) for group in [*groups, rest] if group and beat],
            Merge.of(len(analysis.roots)),
        )

    # -- events and hearts

    def put(self, kind: str, time: Any, event: Any) -> bool:
        """Take an event into the leaf of its type; return whether a heart has beaten."""
        self.now, item = time, ((time, float(self.number)), (time, time, event))
        leaf = self.leaves.get(kind)
        if leaf is not None:
            self._hand_on(leaf, item)
        for k in self.predicates:
            self.merges[k].add(0, item)
        beating = [g for g, p in self.hearts if p.beats(leaf in g or not g.isdisjoint(self.predicates))]
        self.number += 1
        for group in beating:
            self._beat(group, heartbeat(time, self.number - 0.5))
        return bool(beating)

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

    def _hand_on(self, index: int, item: Item) -> None:
        for taker, port in self.takers[index]:
            self.merges[taker].add(port, item)
        for k, root in enumerate(self.analysis.roots):
            if root == index:
                self.outputs.add(k, item)

    # -- work

    def claim(
        self, index: int, most: int | None = None, parts: int = 1, path: tuple[int, ...] = ()
    ) -> list[Work]:
        """Return work for a station, one for each part, each about all of a batch; none if there is none.

        Whoever keeps the memory of a station has to do its batches in the order in which they were given
        out. Entries of a station without one may go on through further such stations on a `path`.
        """
        batch = self.merges[index].take_all(most)
        if not batch:
            return []
        self._tickets += 1
        works = [Work(index, batch, self.now, part, parts, self._tickets, path) for part in range(parts)]
        self.open.setdefault(index, deque()).append((works[0], [None] * parts))
        return works

    def deliver(self, work: Work, result: Result) -> None:
        """Take the result of a part; hand on what is complete, in order."""
        under_way = self.open[work.station]
        next(results for w, results in under_way if w.ticket == work.ticket)[work.part] = result
        while under_way and all(r is not None for r in under_way[0][1]):
            done, results = under_way.popleft()
            self._complete(done, [r for r in results if r is not None])

    def _complete(self, work: Work, results: Sequence[Result]) -> None:
        """Hand on what a batch has brought about, taking its parts in turn."""
        last = (work.station, *work.path)[-1]
        for position, (_, item) in enumerate(work.batch):
            found = results[position % work.parts].found[position // work.parts]
            for one in (item,) if found is None else found:
                self._hand_on(last, one)
        self.failures.extend(results[0].failed if len(results) == 1 else _united(results))
        self.failures.sort(key=attrgetter("key"))

    def advance(self) -> None:
        """Do the work of the stations that only pass entries on: not worth being handed over."""
        for index, station in self.stations.items():
            if is_light(station.node):
                for work in self.claim(index):
                    self.deliver(work, do(self.stations, work))

    def run(self) -> None:
        """Do everything here, as long as there is work."""
        while works := [w for index in self.stations for w in self.claim(index)]:
            for work in works:
                self.deliver(work, do(self.stations, work))

    def found(self) -> list[Entry | Failed]:
        """Return and forget what has come out and what has failed, in order, as far as that is known."""
        out: list[Entry | Failed] = []
        while (taken := self.outputs.take()) is not None:
            key, entry = taken[1]
            while self.failures and self.failures[0].key <= key:
                out.append(self.failures.pop(0))
            if entry is not None:
                out.append(entry)
        return out

    # -- state

    def dump(self) -> tuple[Any, ...]:
        """Return everything that changes but the memories, as built-in containers; nobody may be at work."""
        streams = [m.streams for m in (*self.merges.values(), self.outputs)]
        beats = [(p.interval, p.passed, p.waiting) for _, p in self.hearts]
        return self.number, self.now, streams, beats, self.failures

    def load(self, dumped: tuple[Any, ...]) -> None:
        """Continue with what `dump` has returned."""
        self.number, self.now, streams, beats, self.failures = dumped
        for merge, waiting in zip((*self.merges.values(), self.outputs), streams, strict=True):
            merge.streams = waiting
        for (_, pacer), (interval, passed, waiting) in zip(self.hearts, beats, strict=True):
            pacer.interval, pacer.passed, pacer.waiting = interval, passed, waiting


def _united(results: Sequence[Result]) -> list[Failed]:
    """Return the failures of several parts; where all of them have met the same, it is told once."""
    return list({failed.key: failed for r in results for failed in r.failed}.values())
