"""Which execution strategy suits which part of a forest, and how often hearts beat.

Jaeger and Obermaier, Table 6: what is unordered may overtake (UPS: entries are tasks); what consumes in order
of time, and everything that it is built on, needs ordered streams (PPS with heartbeats).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

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
    """Decides when a heart beats: after an interval of event time, sooner when buffers fill.

    The interval is halved when more than `high` entries wait, and doubled when a beat finds none waiting.

    >>> pacer = Pacer(8, high=2)
    >>> [pacer.beats(t, waiting=t) for t in range(8)]
    [True, False, False, False, True, True, True, True]
    """

    interval: Any
    high: int = 64
    last: Any = None

    def beats(self, now: Any, waiting: int) -> bool:
        """Return whether to beat at a time, with so many entries waiting."""
        if waiting > self.high:
            self.interval = self.interval / 2
        if self.last is not None and now - self.last < self.interval:
            return False
        if waiting == 0 and self.last is not None:
            self.interval = self.interval * 2
        self.last = now
        return True
