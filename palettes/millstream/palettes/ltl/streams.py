"""Any formula as a network of verdict streams: every operator turns the verdicts of its operands, in order,
into its own.

Verdicts travel as runs (value, how many). An operator keeps the positions it cannot decide yet: a number of
them if its bounds count positions, their times if they count time. The cost of an event does not depend on
bounds. Subformulas about the present and the past are evaluated together by one compiled function
(`instant`) and enter the network as leaves. A verdict is known here when the operands that decide it are,
in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from itertools import product, repeat
from math import inf
from typing import Any

from attrs import define, field

from millstream.processors import Mutable, ParameterError

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .instant import compile_instants
from .letters import Atoms, Leaves
from .operators import Flip, Join, Next, Operator, Out, Past, Previously, Until, dequeue
from .past import BoundedSince, Memory, Since
from .rewrite import core, instants, kind
from .walk import subformulas

Runs = list[tuple[bool, int]]


@define
class Network(Mutable):
    """The state of a run: the operators, children first, their memories, and the number of events."""

    operators: list[Operator]
    #: for each leaf formula, where its verdicts go
    entries: list[list[tuple[Operator, int]]]
    out: Out
    memories: list[Memory]
    #: the operators that want to know of each event's time
    ticking: list[Operator]
    n: int = 0
    #: the time of the last event
    last: float | None = None


@define
class StreamEngine:
    """Verdicts in order through a network."""

    formula: Formula
    atoms: Atoms
    time: Any = None
    leaves: list[Formula] = field(init=False)
    _values: Any = field(init=False)
    _instant: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.formula = core(self.formula)
        if kind(self.formula).depth > 250:
            raise ParameterError("Verdicts: with long bounds or times, operators nest at most 250 deep")
        known = instants(self.formula)
        needed = {c for f in subformulas(self.formula) if f not in known for c in f.children if c in known}
        self.leaves = list(needed) if self.formula not in known else [self.formula]
        self._values, self._instant = compile_instants(
            self.leaves, Leaves("Verdicts", self.atoms), self.time is None
        )

    def fresh(self) -> Network:
        """Return the state before the first event."""
        return build(self.formula, self.leaves, self._instant.fresh(), self.time is not None)

    def step(self, p: Network, event: Any) -> Runs:
        """Read one event; return the verdicts that leave, as runs."""
        t = p.n if self.time is None else self._now(p, event)
        for operator in p.ticking:
            operator.tick(t)
        values = self._values(event, t, p.memories)
        p.n += 1
        for value, targets in zip(values, p.entries, strict=True):
            for target, side in targets:
                target.push(side, value, 1)
        return p.out.take()

    def _now(self, p: Network, event: Any) -> float:
        t: float = self.time(event)
        if p.last is not None and not t >= p.last:
            raise ValueError(f"events must come in order of time: {t!r} after {p.last!r}; sort them first")
        p.last = t
        return t

    def iterate(self, p: Network, events: Iterator[Any]) -> Iterator[bool]:
        """Yield the verdicts for events."""
        for event in events:
            for value, count in self.step(p, event):
                yield from repeat(value, count)

    def due(self, p: Network) -> float | None:
        """Return when a verdict leaves if no event comes, None if that is never."""
        times = [o.due() for o in p.operators if isinstance(o, Until) and o.timed]
        return min((t for t in times if t is not None and t < inf), default=None)

    def pass_time(self, p: Network, now: float) -> Runs:
        """Return the verdicts that leave because no event at or before `now` will come."""
        for operator in p.operators:
            if isinstance(operator, Until) and operator.timed:
                operator.pass_time(now)
        return p.out.take()

    def end(self, p: Network, hope: bool | None = None) -> Runs:
        """Return the verdicts of pending positions if the trace ends now."""
        for operator in p.operators:
            operator.finish(p.n, hope)
        return p.out.take()

    def left(self, p: Network) -> list[tuple[bool | None, int]]:
        """Return what is known of the pending positions: the same from both sides, or nothing."""
        weak, strong = (self.end(q, hope) for q, hope in ((deepcopy(p), True), (p, False)))
        return [(w if w == s else None, n) for (w, s), n in zip_runs(weak, strong)]


def zip_runs(left: Runs, right: Runs) -> Iterator[tuple[tuple[bool, bool], int]]:
    """Yield pairs of values, as runs.

    >>> list(zip_runs([(True, 3)], [(True, 1), (False, 2)]))
    [((True, True), 1), ((True, False), 2)]
    """
    one, other = (
        deque[list[Any]]([value, count] for value, count in runs if count) for runs in (left, right)
    )
    while one and other:
        pair = one[0][0], other[0][0]
        yield pair, dequeue(one, other)


def build(formula: Formula, leaves: list[Formula], memories: list[Memory], timed: bool) -> Network:
    """Return the network of a formula over its leaves."""
    out = Out()
    operators: list[Operator] = []
    # an operator under both an even and an odd number of negations is made twice
    targets: dict[tuple[Formula, bool], list[tuple[Operator, int]]] = {(formula, True): [(out, 0)]}
    for f, positive in product(reversed(subformulas(formula)), (True, False)):
        if f in leaves or (f, positive) not in targets:
            continue
        operator = make(f, timed)
        operator.targets, operator.positive = targets[f, positive], positive
        operators.append(operator)
        for side, child in enumerate(f.children):
            targets.setdefault((child, positive != isinstance(f, fm.Not)), []).append((operator, side))
    # parents first: the tick of a child may send them a verdict
    ticking = [o for o in operators if timed or isinstance(o, Previously)]
    operators.reverse()
    entries = [targets.get((leaf, True), []) + targets.get((leaf, False), []) for leaf in leaves]
    return Network(operators, entries, out, memories, ticking)


def make(f: Formula, timed: bool) -> Operator:
    """Return the operator of a formula."""
    match f:
        case fm.Not():
            return Flip()
        case fm.And():
            return Join(absorbing=False)
        case fm.Or():
            return Join(absorbing=True)
        case fm.X():
            return Next()
        case fm.Y():
            return Previously()
        case fm.F() | fm.G() | fm.U() | fm.R():
            return Until(
                len(f.children),
                bounds=f.bounds or Bounds(),
                timed=timed,
                flip=isinstance(f, fm.G | fm.R),
                open=f.bounds is None,
            )
        case fm.O() | fm.H() | fm.S():
            memory = Since() if f.bounds is None else BoundedSince(f.bounds)
            return Past(len(f.children), memory=memory, timed=timed, flip=isinstance(f, fm.H))
    raise ParameterError(f"Verdicts: {f!r} has no verdict stream")
