"""Which execution strategy suits which part of a forest, and how often hearts beat.

Jaeger and Obermaier, Table 6: what is unordered may overtake (UPS: entries are tasks); what consumes in order
of time, and everything that it is built on, needs ordered streams (PPS with heartbeats).
"""

from __future__ import annotations

from enum import Enum

from attrs import define

from .expressions import Constructor, Either, First, Timed
from .forest import Analysis, Node
from .modes import Mode


class Strategy(Enum):
    """How a part of a forest is executed."""

    UPS = "ups"
    HEARTBEAT = "heartbeat"

    def __repr__(self) -> str:
        return f"Strategy.{self.name}"


def needs_order(node: Node) -> bool:
    """Return whether a node gives something else if its operands come in another order."""
    if isinstance(node.event, Constructor):
        return node.mode is not Mode.ALL
    return isinstance(node.event, First | Timed)


def table_6(analysis: Analysis) -> dict[int, Strategy]:
    """Return the strategy of each node: UPS unless it, or something above it, needs order.

    >>> from .forest import Forest
    >>> from .language import before, both
    >>> x = both("A", "B", mode=Mode.ALL)
    >>> analysis = Analysis.of(Forest.of(before(x, "C")), Mode.CHRONICLE)
    >>> {repr(analysis.nodes[k].event)[:6]: s for k, s in table_6(analysis).items() if k in (2, 4)}
    {'both(o': Strategy.HEARTBEAT, 'before': Strategy.HEARTBEAT}
    """
    consumers = analysis.consumers()
    chosen: dict[int, Strategy] = {}
    for node in reversed(analysis.nodes):
        above = any(chosen[taker] is Strategy.HEARTBEAT for taker, _ in consumers[node.index])
        ordered = above or needs_order(node)
        chosen[node.index] = Strategy.HEARTBEAT if ordered else Strategy.UPS
    return dict(sorted(chosen.items()))


def subtrees(analysis: Analysis) -> list[frozenset[int]]:
    """Return the leaves of each disjoint OR subtree: they share a heartbeat of their own.

    >>> from .forest import Forest
    >>> from .language import either
    >>> forest = Forest.of({"X": either("A", "B"), "Y": either("C", "D"), "Z": either("B", "E")})
    >>> [sorted(leaves) for leaves in subtrees(Analysis.of(forest, Mode.ALL))]
    [[0, 1, 8], [4, 5]]
    """
    groups: list[frozenset[int]] = []
    for node in analysis.nodes:
        if isinstance(node.event, Either):
            leaves = frozenset(s for s in node.sources if s >= 0)
            meeting = [g for g in groups if g & leaves]
            groups = [g for g in groups if not g & leaves] + [leaves.union(*meeting)]
    return sorted(groups, key=min)


@define
class Pacer:
    """Decides when a heart beats: after an interval, sooner when buffers fill.

    The interval is counted in events of the whole detector, so that hearts beat as often as events come. It
    is halved when `high` entries wait for a beat, and doubled, up to `most`, when a beat finds few of them:
    every heart adapts to the rate of the events of its own subtree.

    >>> pacer = Pacer(2, high=4, most=8)
    >>> [pacer.beats(arrives=False) for _ in range(14)].count(True), pacer.interval
    (3, 8)
    >>> [pacer.beats(arrives=True) for _ in range(8)].count(True), pacer.interval
    (2, 2)
    """

    interval: int
    high: int
    most: int
    #: events since the last beat, and how many of them were for this subtree
    passed: int = 0
    waiting: int = 0

    def beats(self, arrives: bool) -> bool:
        """Return whether to beat after one more event, which may have arrived in this subtree."""
        self.passed += 1
        self.waiting += arrives
        if self.waiting >= self.high:
            self.interval = max(1, self.interval // 2)
        elif self.passed < self.interval:
            return False
        elif self.waiting <= self.high // 4:
            self.interval = min(self.most, self.interval * 2)
        self.passed = self.waiting = 0
        return True
