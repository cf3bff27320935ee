"""The tick simulator: how the strategies of Jaeger and Obermaier proceed, one operator application a tick.

Everything is deterministic and single-threaded. A row of a table is a tick; a column is a leaf or an
operator; a cell holds what it has produced in that tick. Taking an entry into a buffer costs nothing, as in
the paper.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import define, field, frozen

from .constructors import AnyOf, Before
from .expressions import Either, Event, On
from .forest import Analysis, Forest, Node
from .modes import Mode
from .occurrence import Entry, Occurrence
from .stations import Item, Merge, Station, heartbeat, stations

#: what arrives at a leaf, and when: (tick, name of the leaf, time stamp); a heartbeat has the name "H"
Arrival = tuple[int, str, Any]
NAMES: dict[type[Event], str] = {AnyOf: "AND", Before: "BEFORE", Either: "OR"}


@frozen
class Row:
    """One tick: what was produced in which column, and from which columns something was used up."""

    tick: int
    cells: dict[str, list[str]]
    consumed: frozenset[str] = frozenset()


@define
class Table:
    """The rows of a simulation."""

    columns: list[str]
    cells: dict[int, dict[str, list[str]]] = field(factory=dict)
    consumed: dict[int, set[str]] = field(factory=dict)

    def show(self, tick: int, column: str, text: str) -> None:
        """Write what a column has produced."""
        self.cells.setdefault(tick, {}).setdefault(column, []).append(text)

    def rows(self) -> list[Row]:
        """Return the ticks in which something was produced."""
        return [Row(t, self.cells[t], frozenset(self.consumed.get(t, ()))) for t in sorted(self.cells)]


def column(node: Node) -> str:
    """Return the heading of a node."""
    if isinstance(node.event, On):
        return str(node.event.what)
    return NAMES.get(type(node.event), node.event.word.upper())


def text(entry: Entry) -> str:
    """Return an entry as the paper prints it."""
    return str(entry[2])


@define
class Setting:
    """What all simulations need: nodes, stations, who takes what, and the table."""

    analysis: Analysis
    stations: dict[int, Station]
    takers: list[list[tuple[int, int]]]
    leaves: dict[str, int]
    table: Table

    @staticmethod
    def of(expression: Any, mode: Mode) -> Setting:
        """Return the setting of an expression."""
        analysis = Analysis.of(Forest.of(expression), mode)
        leaves = {column(n): n.index for n in analysis.nodes if isinstance(n.event, On)}
        inner = [column(n) for n in analysis.nodes if n.operands]
        table = Table([*sorted(leaves), *inner])
        return Setting(analysis, stations(analysis), analysis.consumers(), leaves, table)

    def name(self, index: int) -> str:
        """Return the heading of a node by its index."""
        return column(self.analysis.nodes[index])


def sequential(expression: Any, history: Iterable[Occurrence], mode: Mode) -> list[Row]:
    """Simulate the synchronised execution: an event is taken when nothing more can be done with the last."""
    setting = Setting.of(expression, mode)
    clock = [0]

    def produce(index: int, entry: Entry, used: Sequence[int]) -> None:
        clock[0] += 1
        setting.table.show(clock[0], setting.name(index), text(entry))
        if mode is not Mode.ALL:
            setting.table.consumed.setdefault(clock[0], set()).update(map(setting.name, used))
        for taker, port in setting.takers[index]:
            node = setting.analysis.nodes[taker]
            collector = isinstance(node.event, Either)
            for found in setting.stations[taker].feed(port, entry):
                produce(taker, found, (index,) if collector else node.operands)

    for event in history:
        if event.kind in setting.leaves:
            produce(setting.leaves[event.kind], (event.time, event.time, event), ())
    return setting.table.rows()


@define
class Worker:
    """A process of a parallel simulation: its inputs, and what it still has to hand on."""

    station: Station
    #: (tick of arrival, time stamp, operand, entry)
    queue: list[tuple[int, Any, int, Entry]] = field(factory=list)
    ready: deque[Entry] = field(factory=deque)

    def work(self, everything: bool) -> list[Entry]:
        """Take entries in order of arrival, until one is produced, or all of them."""
        self.queue.sort(key=lambda q: q[:3])
        while self.queue and (everything or not self.ready):
            _, _, port, entry = self.queue.pop(0)
            self.ready.extend(self.station.feed(port, entry))
        given = len(self.ready) if everything else min(1, len(self.ready))
        return [self.ready.popleft() for _ in range(given)]


def pps(expression: Any, arrivals: Iterable[Arrival], mode: Mode) -> list[Row]:
    """Simulate a process for each operator: one entry a tick, and no order across streams."""
    return _parallel(expression, arrivals, mode, everything=False)


def ups(expression: Any, arrivals: Iterable[Arrival], mode: Mode) -> list[Row]:
    """Simulate a process for each entry: an operator serves all of them within a tick."""
    return _parallel(expression, arrivals, mode, everything=True)


def _parallel(expression: Any, arrivals: Iterable[Arrival], mode: Mode, everything: bool) -> list[Row]:
    setting = Setting.of(expression, mode)
    workers = {k: Worker(s) for k, s in setting.stations.items()}

    def hand_on(tick: int, index: int, entry: Entry) -> None:
        setting.table.show(tick, setting.name(index), text(entry))
        for taker, port in setting.takers[index]:
            workers[taker].queue.append((tick, entry[0], port, entry))

    def tick_of(tick: int, arrived: list[tuple[str, Any]]) -> bool:
        produced = [(k, w.work(everything)) for k, w in workers.items()]
        for name, time in arrived:
            hand_on(tick, setting.leaves[name], (time, time, Occurrence(name, time)))
        for k, entries in produced:
            for entry in entries:
                hand_on(tick, k, entry)
        return any(w.queue or w.ready for w in workers.values())

    _run(arrivals, tick_of)
    return setting.table.rows()


def _run(arrivals: Iterable[Arrival], tick_of: Callable[[int, list[tuple[str, Any]]], bool]) -> None:
    """Call a function for each tick, until nothing arrives any more and it has nothing left to do."""
    schedule: dict[int, list[tuple[str, Any]]] = {}
    for tick, name, time in arrivals:
        schedule.setdefault(tick, []).append((name, time))
    tick, busy = 1, True
    while busy or tick <= max(schedule, default=0):
        busy = tick_of(tick, schedule.get(tick, []))
        tick += 1


def heartbeats(expression: Any, arrivals: Iterable[tuple[int, str, str, Any]], mode: Mode) -> list[Row]:
    """Simulate PPS with heartbeats: operators merge their streams, and produce what can be known.

    An arrival is (tick, leaf, kind, time stamp), of kind ``"H"`` for a heartbeat.
    """
    setting = Setting.of(expression, mode)
    merges = {k: Merge.of(len(s.operator.feeds)) for k, s in setting.stations.items()}
    ready: dict[int, deque[Item]] = {k: deque() for k in merges}

    def hand_on(tick: int, index: int, item: Item) -> None:
        shown = f"H.{item[0][0]}" if item[1] is None else text(item[1])
        setting.table.show(tick, setting.name(index), shown)
        for taker, port in setting.takers[index]:
            merges[taker].add(port, item)

    def work(index: int) -> list[Item]:
        while not ready[index] and (taken := merges[index].take()) is not None:
            port, (key, entry) = taken
            found = [] if entry is None else setting.stations[index].feed(port, entry)
            ready[index].extend((key, f) for f in found)
            if entry is None:
                ready[index].append((key, None))
        return [ready[index].popleft()] if ready[index] else []

    def tick_of(tick: int, arrived: list[tuple[Any, Any]]) -> bool:
        produced = [(k, work(k)) for k in merges]
        for (leaf, kind), time in arrived:
            beat = kind == "H"
            item = heartbeat(time) if beat else ((time, 0), (time, time, Occurrence(kind, time)))
            hand_on(tick, setting.leaves[leaf], item)
        for k, items in produced:
            for item in items:
                hand_on(tick, k, item)
        return bool(arrived) or any(items for _, items in produced)

    _run([(tick, (leaf, kind), time) for tick, leaf, kind, time in arrivals], tick_of)  # type: ignore[misc]
    return setting.table.rows()
