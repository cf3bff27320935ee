"""Earliest verdicts, out of order: positions with equal remainders are one group and decided together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from millstream.processors import Mutable

from .base import Formula
from .machine import Machine, Spots, State, machine
from .progress import History, Progression, at_end
from .residual import Done, Residual

#: a group of positions: stretches [begin, end)
Stretches = list[list[int]]
Decided = list[tuple[int, bool]]


@define
class Groups(Mutable):
    """The state of a run: what is known of the past, and the positions of each remainder."""

    past: Any
    groups: dict[Any, Stretches] = field(factory=dict)
    n: int = 0


def regroup(
    groups: dict[Any, Stretches],
    n: int,
    fresh: Any,
    step: Callable[[Any], Any],
    verdict: Callable[[Any], bool | None],
) -> tuple[dict[Any, Stretches], Decided]:
    """Step every remainder once, add position n with its own, and take out what is decided."""
    following: dict[Any, Stretches] = {}
    for remainder, stretches in groups.items():
        melt(following, step(remainder), stretches)
    melt(following, fresh, [[n, n + 1]])
    decided: Decided = []
    for remainder in list(following):
        value = verdict(remainder)
        if value is not None:
            decided += [(i, value) for a, b in following.pop(remainder) for i in range(a, b)]
    decided.sort()
    return following, decided


def melt(groups: dict[Any, Stretches], key: Any, stretches: Stretches) -> None:
    """Add positions to a group, the fewer to the more."""
    mine = groups.get(key)
    if mine is None:
        groups[key] = stretches
        return
    if len(mine) < len(stretches):
        mine, stretches = stretches, mine
        groups[key] = mine
    for stretch in stretches:
        if mine and mine[-1][1] == stretch[0]:
            mine[-1][1] = stretch[1]
        else:
            mine.append(stretch)


@define
class EarliestMachine:
    """Earliest verdicts of a finite-state formula; anticipates."""

    formula: Formula
    finite: bool
    valuation: Callable[[Any], int]
    machine: Machine = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.machine = machine(self.formula, self.finite)

    def fresh(self) -> Groups:
        """Return the state before the first event."""
        return Groups(self.machine.origin)

    def step(self, p: Groups, event: Any) -> Decided:
        """Read one event; return the positions that it decides."""
        v = self.valuation(event)
        past: Spots = p.past

        def verdict(state: State) -> bool | None:
            return state.verdict

        fresh = self.machine.start(past).step(v)
        p.groups, decided = regroup(p.groups, p.n, fresh, lambda s: s.step(v), verdict)
        p.past = self.machine.tableau.step(past, v)
        p.n += 1
        return decided

    def end(self, p: Groups) -> Decided:
        """Return the verdicts of pending positions if the trace ends now."""
        return sorted((i, s.final) for s, st in p.groups.items() for a, b in st for i in range(a, b))

    def left(self, p: Groups) -> list[tuple[int, None]]:
        """Return the pending positions: nothing is known of them."""
        return _open(p)


@define
class EarliestProgression:
    """Earliest verdicts of any formula, as far as rewriting shows them."""

    rules: Progression

    def fresh(self) -> Groups:
        """Return the state before the first event."""
        return Groups(self.rules.fresh())

    def step(self, p: Groups, event: Any) -> Decided:
        """Read one event; return the positions that it decides."""
        history: History = p.past
        moment = self.rules.moment(history, event)
        fresh = moment.value(self.rules.formula, (), True)
        p.groups, decided = regroup(p.groups, p.n, fresh, moment.progress, _done)
        moment.close()
        p.n += 1
        return decided

    def end(self, p: Groups) -> Decided:
        """Return the verdicts of pending positions if the trace ends now."""
        return sorted((i, at_end(r)) for r, st in p.groups.items() for a, b in st for i in range(a, b))

    def left(self, p: Groups) -> list[tuple[int, None]]:
        """Return the pending positions: nothing is known of them."""
        return _open(p)


def _open(p: Groups) -> list[tuple[int, None]]:
    return [(i, None) for i in sorted(i for st in p.groups.values() for a, b in st for i in range(a, b))]


def _done(residual: Residual) -> bool | None:
    return bool(residual.parts[0]) if isinstance(residual, Done) else None
