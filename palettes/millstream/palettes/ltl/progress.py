"""Progression: rewrite what remains of a formula with each event, for formulas that are not finite-state.

Handles quantifiers over a domain computed from the event, bounds in time, and earliest verdicts with long
bounds. ``value(f)`` is what remains of ``f`` at the current position, ``progress(r)`` what remains of ``r``
after the event; both are computed once per event and formula. A past operator over future ones remembers
what remains of its value at the position before.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from attrs import define, field

from millstream.processors import Mutable, ParameterError

from . import formula as fm
from .base import BoundedBinary, BoundedUnary, Formula
from .domains import Reader, values_of
from .past import BoundedSince, Memory, Previous, Since
from .residual import (
    NO,
    YES,
    All,
    Env,
    Later,
    Obligation,
    Residual,
    Some,
    conjunction,
    disjunction,
    obligation,
)
from .rewrite import core, instants, kind
from .walk import free_variables, subformulas


@define
class History(Mutable):
    """What past operators remember: memories of instant ones, residuals of the others."""

    memories: dict[Formula, Memory]
    #: value at the position before (both signs), or for bounds the values with their times
    residuals: dict[Formula, Any]
    n: int = 0
    last: float | None = None


@define
class Progression:
    """The rules of one formula."""

    formula: Formula
    reader: Reader
    time: Any = None
    instants: set[Formula] = field(init=False)
    free: dict[Formula, frozenset[str]] = field(init=False)
    past: list[Formula] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.formula = core(self.formula)
        if kind(self.formula).depth > 150:
            raise ParameterError("with quantifiers, times or long bounds, operators nest at most 150 deep")
        subs = subformulas(self.formula)
        self.instants = instants(self.formula)
        self.free = {f: free_variables(f) for f in subs}
        self.past = [f for f in subs if isinstance(f, fm.PAST)]
        for f in self.past:
            if self.free[f]:
                names = ", ".join(sorted(self.free[f]))
                raise ParameterError(
                    f"{f!r} asks about the past of {names}, whose values are known only now; "
                    "quantify over the values seen in the trace instead (palette fol)"
                )
        if self.free[self.formula]:
            names = ", ".join(sorted(self.free[self.formula]))
            raise ParameterError(f"variable {names} is not bound by a quantifier")

    def fresh(self) -> History:
        """Return the history before the first event."""
        memories: dict[Formula, Memory] = {}
        residuals: dict[Formula, Any] = {}
        for f in self.past:
            if f not in self.instants:
                start = (YES, NO) if isinstance(f, fm.H) else (NO, YES)
                residuals[f] = () if getattr(f, "bounds", None) is not None else start
            elif isinstance(f, fm.Y):
                memories[f] = Previous()
            else:
                assert isinstance(f, BoundedUnary | BoundedBinary)
                memories[f] = Since() if f.bounds is None else BoundedSince(f.bounds)
        return History(memories, residuals)

    def moment(self, history: History, event: Any) -> Moment:
        """Begin to read an event."""
        now: float = history.n
        if self.time is not None:
            now = self.time(event)
            if history.last is not None and not now >= history.last:
                raise ValueError(
                    f"events must come in order of time: {now!r} after {history.last!r}; sort them first"
                )
        return Moment(self, history, event, now)


@define
class Moment:
    """One event being read; use once, then `close`."""

    rules: Progression
    history: History
    event: Any
    now: float
    _values: dict[Any, Residual] = field(factory=dict)
    _progressed: dict[Residual, Residual] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for f in self.rules.past:
            if f in self.rules.instants:
                holds = self._remember(f)
                self._values[f, (), True] = YES if holds else NO
                self._values[f, (), False] = NO if holds else YES

    def _remember(self, f: Formula) -> bool:
        memory: Any = self.history.memories[f]
        below = [self.value(c, (), True) is YES for c in f.children]
        if isinstance(f, fm.Y):
            return bool(memory.step(below[0], self.now))
        if isinstance(f, fm.S):
            return bool(memory.step(below[0], below[1], self.now))
        flip = isinstance(f, fm.H)
        return bool(memory.step(True, below[0] != flip, self.now) != flip)

    def value(self, f: Formula, env: Env, sign: bool) -> Residual:
        """Return what remains of a formula (or its negation) at this position."""
        env = tuple(item for item in env if item[0] in self.rules.free[f])
        key = f, env, sign
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = self._value(f, env, sign)
        return found

    def _value(self, f: Formula, env: Env, sign: bool) -> Residual:
        match f:
            case fm.Truth():
                return YES if f.value == sign else NO
            case fm.Not():
                return self.value(f.operand, env, not sign)
            case fm.And() | fm.Or():
                parts = (self.value(c, env, sign) for c in f.children)
                return conjunction(parts) if isinstance(f, fm.And) == sign else disjunction(parts)
            case fm.X():
                return Later(f.operand, env, sign)
            case fm.Quantifier():
                return self._quantified(f, env, sign)
            case fm.F() | fm.G() | fm.U() | fm.R():
                until = isinstance(f, fm.F | fm.U) == sign
                left = f.children[0] if len(f.children) == 2 else None
                begun = obligation(until, left, f.children[-1], sign, env, f.bounds, self.now)
                return self.progress(begun)
            case fm.Y() | fm.O() | fm.H() | fm.S():
                return self._past(f)[not sign]
        return YES if self.rules.reader.holds(f, self.event, env) == sign else NO

    def _quantified(self, f: fm.Quantifier, env: Env, sign: bool) -> Residual:
        values = values_of(f, self.event, env, self.rules.reader)
        parts = (self.value(f.body, (*env, (f.variable, v)), sign) for v in values)
        return conjunction(parts) if isinstance(f, fm.ForAll) == sign else disjunction(parts)

    def progress(self, r: Residual) -> Residual:
        """Return what remains of a residual after this event."""
        found = self._progressed.get(r)
        if found is None:
            found = self._progressed[r] = self._progress(r)
        return found

    def _progress(self, r: Residual) -> Residual:
        match r:
            case All():
                return conjunction(map(self.progress, r.parts[0]))
            case Some():
                return disjunction(map(self.progress, r.parts[0]))
            case Later():
                return self.value(*r.parts)
            case Obligation():
                return self._continue(r)
        return r

    def _continue(self, r: Obligation) -> Residual:
        until, left, right, sign, env, bounds, begun = r.parts
        within = over = expires = False
        if bounds is None:
            within = True
        else:
            age = self.now - begun
            within, over = bounds.contains(age), bounds.passed(age)
            expires = self.rules.time is None and bounds.passed(age + 1)
        if over:
            return NO if until else YES
        join, meet = (disjunction, conjunction) if until else (conjunction, disjunction)
        end = NO if until else YES
        a = (YES if until else NO) if left is None else self.value(left, env, sign)
        going: Residual = end if expires else meet((a, r))
        return join((self.value(right, env, sign), going)) if within else going

    def _past(self, f: Formula) -> tuple[Residual, Residual]:
        """Return both signs of a past operator over operands that speak about the future."""
        key = f, (), True
        if key not in self._values:
            pair = self._past_pair(f)
            self._values[key], self._values[f, (), False] = pair
        return self._values[key], self._values[f, (), False]

    def _past_pair(self, f: Formula) -> tuple[Residual, Residual]:
        assert isinstance(f, fm.Y | BoundedUnary | BoundedBinary)
        before = [self.progress(r) for r in self.history.residuals[f]] if not self._keeps(f) else []
        if isinstance(f, fm.Y):
            return before[0], before[1]
        if self._keeps(f):
            return self._bounded(f)
        flip = isinstance(f, fm.H)  # H p is !O !p
        old, no_old = reversed(before) if flip else before
        left = f.children[0] if isinstance(f, fm.S) else fm.TRUE
        b, nb = (self.value(f.children[-1], (), s != flip) for s in (True, False))
        a, na = (self._truth(left, s) for s in (True, False))
        pair = disjunction((b, conjunction((a, old)))), conjunction((nb, disjunction((na, no_old))))
        return (pair[1], pair[0]) if flip else pair

    @staticmethod
    def _keeps(f: Formula) -> bool:
        """Return whether a past operator keeps one candidate for each position."""
        return not isinstance(f, fm.Y) and f.parts[-1] is not None

    def _truth(self, f: Formula, sign: bool) -> Residual:
        return (YES if sign else NO) if f is fm.TRUE else self.value(f, (), sign)

    def _bounded(self, f: BoundedUnary | BoundedBinary) -> tuple[Residual, Residual]:
        """Return both signs of a bounded past operator: one candidate for each position within reach."""
        bounds = f.bounds
        assert bounds is not None
        yes, no = [], []
        for time, pair in self._candidates(f):
            if bounds.contains(self.now - time):
                yes.append(pair[0])
                no.append(pair[1])
        pair = disjunction(yes), conjunction(no)
        return (pair[1], pair[0]) if isinstance(f, fm.H) else pair

    def _candidates(self, f: Formula) -> Iterator[tuple[float, tuple[Residual, Residual]]]:
        flip = isinstance(f, fm.H)
        a = [self._truth(f.children[0] if isinstance(f, fm.S) else fm.TRUE, s) for s in (True, False)]
        for time, (y, n) in self.history.residuals[f]:
            yield time, (conjunction((a[0], self.progress(y))), disjunction((a[1], self.progress(n))))
        b = [self.value(f.children[-1], (), s != flip) for s in (True, False)]
        yield self.now, (b[0], b[1])

    def close(self) -> None:
        """Let the history take this event in."""
        fresh: dict[Formula, Any] = {}
        for f in self.history.residuals:
            if isinstance(f, fm.Y):
                fresh[f] = tuple(self.value(f.operand, (), s) for s in (True, False))
            elif isinstance(f, BoundedUnary | BoundedBinary) and f.bounds is not None:
                fresh[f] = tuple(c for c in self._candidates(f) if not f.bounds.passed(self.now - c[0]))
            else:
                fresh[f] = self._past(f)
        self.history.residuals = fresh
        self.history.n += 1
        self.history.last = self.now


def at_end(residual: Residual) -> bool:
    """Return whether a residual holds if the trace ends."""
    match residual:
        case All():
            return all(map(at_end, residual.parts[0]))
        case Some():
            return any(map(at_end, residual.parts[0]))
        case Later() | Obligation():
            return residual.at_end
    return bool(residual.parts[0])


def deadline(residual: Residual) -> float | None:
    """Return when the first of the bounds in a residual has passed, None if there are none."""
    match residual:
        case All() | Some():
            return min((d for part in residual.parts[0] if (d := deadline(part)) is not None), default=None)
        case Obligation():
            *_, bounds, begun = residual.parts
            return None if bounds is None or bounds.high == inf else begun + bounds.high
    return None


def elapse(residual: Residual, now: float) -> Residual:
    """Return what remains of a residual if no event at or before a time will come."""
    match residual:
        case All():
            return conjunction(elapse(part, now) for part in residual.parts[0])
        case Some():
            return disjunction(elapse(part, now) for part in residual.parts[0])
        case Obligation():
            due = deadline(residual)
            return residual if due is None or due > now else NO if residual.parts[0] else YES
    return residual
