"""Which spots of a tableau are live, decided for a whole reachable region at once."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

from .nnf import Node
from .tableau import Branch, Spot

if TYPE_CHECKING:
    from .tableau import Tableau


def decide(tableau: Tableau, root: Spot) -> None:
    """Fill ``tableau.alive`` for every spot reachable from the root."""
    region = _reach(tableau, root)
    if region is None:
        tableau.alive[root] = True
        return
    good = {s for s in region if tableau.can_stop(s)} if tableau.finite else _recurrent(tableau, root)
    good |= {s for s in region if tableau.alive.get(s)}
    live = _backwards(tableau, region, good)
    for spot in region:
        tableau.alive[spot] = spot in live


def _reach(tableau: Tableau, root: Spot) -> set[Spot] | None:
    """Return the reachable spots, stopping at decided ones; None if they cost more than the budget."""
    seen, queue = {root}, deque([root])
    while queue:
        spot = queue.popleft()
        if spot in tableau.alive:
            continue
        for branch in tableau.expand(spot):
            if branch.to not in seen:
                seen.add(branch.to)
                queue.append(branch.to)
        if tableau.exhausted:
            return None
    return seen


def _backwards(tableau: Tableau, region: set[Spot], good: set[Spot]) -> set[Spot]:
    before: dict[Spot, list[Spot]] = {}
    for spot in region:
        if spot not in tableau.alive:
            for branch in tableau.expand(spot):
                before.setdefault(branch.to, []).append(spot)
    live, queue = set(good), deque(good)
    while queue:
        for spot in before.get(queue.popleft(), ()):
            if spot not in live:
                live.add(spot)
                queue.append(spot)
    return live


@define
class _Tarjan:
    """Strongly connected components, without recursion."""

    tableau: Tableau
    number: dict[Spot, int] = field(factory=dict)
    low: dict[Spot, int] = field(factory=dict)
    stack: list[Spot] = field(factory=list)
    waiting: set[Spot] = field(factory=set)
    good: set[Spot] = field(factory=set)

    def run(self, root: Spot) -> None:
        work: list[tuple[Spot, list[Branch]]] = [self.enter(root)]
        while work:
            spot, rest = work[-1]
            if rest:
                to = rest.pop().to
                if to not in self.number:
                    if to not in self.tableau.alive:
                        work.append(self.enter(to))
                elif to in self.waiting:
                    self.low[spot] = min(self.low[spot], self.number[to])
                continue
            work.pop()
            if work:
                parent = work[-1][0]
                self.low[parent] = min(self.low[parent], self.low[spot])
            if self.low[spot] == self.number[spot]:
                self.close(spot)

    def enter(self, spot: Spot) -> tuple[Spot, list[Branch]]:
        self.number[spot] = self.low[spot] = len(self.number)
        self.stack.append(spot)
        self.waiting.add(spot)
        return spot, list(self.tableau.expand(spot))

    def close(self, spot: Spot) -> None:
        component: set[Spot] = set()
        while spot not in component:
            component.add(self.stack.pop())
        self.waiting -= component
        inner = [b for s in component for b in self.tableau.expand(s) if b.to in component]
        if inner and not _always_postponed(inner):
            self.good |= component


def _always_postponed(branches: list[Branch]) -> frozenset[Node]:
    """Return the untils that every branch postpones."""
    return frozenset.intersection(*(b.postponed for b in branches))


def _recurrent(tableau: Tableau, root: Spot) -> set[Spot]:
    tarjan = _Tarjan(tableau)
    tarjan.run(root)
    return tarjan.good
