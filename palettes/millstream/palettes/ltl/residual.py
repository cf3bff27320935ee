"""What remains to be shown: positive combinations of obligations, hash-consed and simplified as they are
built.

An `Until` or `Release` obligation remembers when it began, so that waiting does not change it; without
bounds it does not matter when it began, and all positions share it. Of several deadlines of the same kind
only the one that decides is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .base import Formula
from .bounds import Bounds
from .values import Value

Env = tuple[tuple[str, Any], ...]


class Residual(Value):
    """Base."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts}"


class Done(Residual):
    """Shown to hold, or not."""

    __slots__ = ()


class All(Residual):
    """Conjunction of a set."""

    __slots__ = ()


class Some(Residual):
    """Disjunction of a set."""

    __slots__ = ()


class Later(Residual):
    """``Later(formula, env, sign)``: the formula (or its negation) holds at the next position."""

    __slots__ = ()

    @property
    def at_end(self) -> bool:
        """Whether it holds if there is no next position."""
        return not self.parts[2]


class Obligation(Residual):
    """``Obligation(until, left, right, sign, env, bounds, begun)``.

    ``until`` or release; ``left`` may be None (true for until, false for release); ``sign`` False negates the
    operands.
    """

    __slots__ = ()

    @property
    def at_end(self) -> bool:
        """Whether it holds if the trace ends."""
        return not self.parts[0]

    @property
    def family(self) -> tuple[Any, ...] | None:
        """All but the beginning, if one deadline implies another."""
        bounds = self.parts[5]
        if bounds is None or not bounds.reached(0):
            return None
        return self.parts[:6]


YES, NO = Done(True), Done(False)


def obligation(
    until: bool, left: Formula | None, right: Formula, sign: bool, env: Env, bounds: Bounds | None, now: float
) -> Residual:
    """Return the obligation that begins now."""
    return Obligation(until, left, right, sign, env, bounds, None if bounds is None else now)


def conjunction(parts: Iterable[Residual]) -> Residual:
    """Return the simplified conjunction."""
    return _combine(parts, All, YES, NO)


def disjunction(parts: Iterable[Residual]) -> Residual:
    """Return the simplified disjunction."""
    return _combine(parts, Some, NO, YES)


def _combine(
    parts: Iterable[Residual], cls: type[Residual], neutral: Residual, absorbing: Residual
) -> Residual:
    members: set[Residual] = set()
    for part in parts:
        if part is absorbing:
            return absorbing
        if isinstance(part, cls):
            members |= part.parts[0]
        elif part is not neutral:
            members.add(part)
    if len(members) > 1:
        members = _deadlines(members, cls is All)
        members = _absorbed(members, Some if cls is All else All)
    if not members:
        return neutral
    return next(iter(members)) if len(members) == 1 else cls(frozenset(members))


def _absorbed(members: set[Residual], other: type[Residual]) -> set[Residual]:
    """Drop ``(p | q)`` beside ``p`` in a conjunction, and dually."""
    if not any(isinstance(m, other) for m in members):
        return members
    return {m for m in members if not (isinstance(m, other) and not m.parts[0].isdisjoint(members))}


def _deadlines(members: set[Residual], all_of: bool) -> set[Residual]:
    """Of obligations that differ in their beginning only, keep the one that decides."""
    families: dict[Any, Residual] = {}
    kept: set[Residual] = set()
    for member in members:
        family = member.family if isinstance(member, Obligation) else None
        if family is None:
            kept.add(member)
            continue
        rival = families.get(family)
        # an until that began earlier implies a later one, a release the other way round
        earlier = member.parts[0] == all_of
        if rival is None or (member.parts[6] < rival.parts[6]) == earlier:
            families[family] = member
    return kept | set(families.values())
