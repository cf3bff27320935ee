"""Why a verdict is what it is: the leaves, and the positions where they held or did not, that force it.

Evaluates the formula on the events kept so far, by its definition, with three values (the third: not known
yet), and walks down from the verdict to a smallest obvious set of leaves that force it. Costs as much as
the events kept; only done when it was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from millstream.processors import as_function

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .domains import Env, Reader, values_of
from .letters import Atoms
from .parser import parse
from .rewrite import core


@frozen
class Witness:
    """A leaf that held (or did not) at all positions from `first` to `last`, under a binding of variables."""

    first: int
    last: int
    leaf: Formula
    holds: bool
    binding: Env = ()

    def __str__(self) -> str:
        where = str(self.first) if self.first == self.last else f"{self.first}..{self.last}"
        values = "".join(f" [{name}={value!r}]" for name, value in self.binding)
        return f"{'' if self.holds else '!'}{self.leaf!r} at {where}{values}"


Key = tuple[Formula, int, Env]
Values = list[bool | None]


@define
class Explainer:
    """Explains verdicts about one formula on the events that it is shown."""

    formula: Formula
    reader: Reader
    time: Any = None
    events: list[Any] = field(factory=list)
    times: list[float] = field(factory=list)
    #: whether no more events come: what should still happen did not
    ended: bool = False
    _known: dict[Key, tuple[bool | None, tuple[Key, ...]]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.formula = core(self.formula)

    def show(self, events: list[Any], ended: bool = False) -> None:
        """Look at the events so far."""
        self.events, self.ended = events, ended
        self.times = list(range(len(events))) if self.time is None else list(map(self.time, events))
        self._known.clear()

    def because(self, position: int) -> tuple[Witness, ...]:
        """Return what forces the verdict at a position."""
        self.truth(self.formula, position, ())
        found: dict[tuple[Formula, bool, Env], set[int]] = {}
        stack, seen = [(self.formula, position, ())], set()  # type: list[Key], set[Key]
        while stack:
            key = stack.pop()
            if key in seen:
                continue
            seen.add(key)
            value, reasons = self._known[key]
            if isinstance(key[0], fm.Atom | fm.Test | fm.Predicate) and value is not None:
                found.setdefault((key[0], value, key[2]), set()).add(key[1])
            stack.extend(reasons)
        return tuple(sorted(_stretches(found), key=lambda w: (w.first, repr(w.leaf))))

    def truth(self, f: Formula, i: int, env: Env) -> bool | None:
        """Return the value of a formula at a position, None if it is not known yet."""
        key = f, i, env
        if key not in self._known:
            self._known[key] = self._truth(f, i, env)
        return self._known[key][0]

    def _truth(self, f: Formula, i: int, env: Env) -> tuple[bool | None, tuple[Key, ...]]:
        match f:
            case fm.Truth():
                return f.value, ()
            case fm.Not():
                value = self.truth(f.operand, i, env)
                return (None if value is None else not value), ((f.operand, i, env),)
            case fm.And() | fm.Or():
                return self._all(isinstance(f, fm.And), [(c, i, env) for c in f.children], True)
            case fm.Quantifier():
                values = values_of(f, self.events[i], env, self.reader)
                parts = [(f.body, i, (*env, (f.variable, v))) for v in values]
                return self._all(isinstance(f, fm.ForAll), parts, True)
            case fm.X() | fm.Y():
                return self._shift(f, i, env)
            case fm.F() | fm.G() | fm.O() | fm.H():
                inside = [(f.operand, j, env) for j, within in self._reach(f, i, f.bounds) if within]
                return self._all(isinstance(f, fm.G | fm.H), inside, self._complete(f, i, f.bounds))
            case fm.U() | fm.S() | fm.R():
                return self._until(f, i, env)
        return self.reader.holds(f, self.events[i], env), ()

    def _shift(self, f: fm.X | fm.Y, i: int, env: Env) -> tuple[bool | None, tuple[Key, ...]]:
        j = i + 1 if isinstance(f, fm.X) else i - 1
        if j < 0:
            return False, ()
        if j >= len(self.events):
            return (False if self.ended else None), ()
        return self.truth(f.operand, j, env), ((f.operand, j, env),)

    def _all(self, every: bool, parts: list[Key], complete: bool) -> tuple[bool | None, tuple[Key, ...]]:
        """Combine: one operand forces ``not every``; ``every`` needs all of them."""
        values = [self.truth(*p) for p in parts]
        for value, part in zip(values, parts, strict=True):
            if value is (not every):
                return not every, (part,)
        return (every, tuple(parts)) if complete and None not in values else (None, ())

    def _reach(self, f: Formula, i: int, bounds: Bounds | None) -> Iterator[tuple[int, bool]]:
        """Yield positions from i on in the operator's direction, and whether the bounds contain them."""
        back = isinstance(f, fm.PAST)
        for j in range(i, -1, -1) if back else range(i, len(self.events)):
            yield j, bounds is None or bounds.contains(abs(self.times[j] - self.times[i]))

    def _complete(self, f: Formula, i: int, bounds: Bounds | None) -> bool:
        """Return whether no later event can be within reach."""
        if self.ended or isinstance(f, fm.PAST):
            return True
        last = self.times[-1] + (self.time is None)
        return bounds is not None and bounds.passed(last - self.times[i])

    def _until(self, f: fm.U | fm.S | fm.R, i: int, env: Env) -> tuple[bool | None, tuple[Key, ...]]:
        turn = isinstance(f, fm.R)
        reasons: list[Key] = []
        unknown = False
        for j, within in self._reach(f, i, f.bounds):
            a, b = (self.truth(c, j, env) for c in f.children)
            if within and b is not None and b != turn:
                return (None, ()) if unknown else (not turn, (*reasons, (f.right, j, env)))
            unknown |= (within and b is None) or a is None
            if within:
                reasons.append((f.right, j, env))
            if a is not None and a == turn:
                return (None, ()) if unknown else (turn, (*reasons, (f.left, j, env)))
            reasons.append((f.left, j, env))
        done = not unknown and self._complete(f, i, f.bounds)
        return (turn, tuple(reasons)) if done else (None, ())


def _stretches(found: dict[tuple[Formula, bool, Env], set[int]]) -> Iterable[Witness]:
    for (leaf, holds, env), positions in found.items():
        first = last = None
        for i in sorted(positions):
            if last is not None and i == last + 1:
                last = i
                continue
            if first is not None and last is not None:
                yield Witness(first, last, leaf, holds, env)
            first = last = i
        if first is not None and last is not None:
            yield Witness(first, last, leaf, holds, env)


def why(
    formula: Formula | str,
    events: Sequence[Any],
    position: int = 0,
    *,
    atoms: Atoms = None,
    time: Any = None,
    ended: bool = False,
) -> tuple[Witness, ...]:
    """Return what forces the verdict of a formula at a position of a trace; nothing if there is none yet.

    Parameters
    ----------
    formula, atoms, time
        As for `Verdicts`.
    events
        The trace.
    position
        The position in question.
    ended
        Whether the trace is over, so that what should still happen did not.

    Examples
    --------
    >>> trace = [{"req": True, "ok": False}, {"req": False, "ok": False}]
    >>> why("req -> F ok", trace)
    ()
    >>> print(*why("req -> F ok", trace, ended=True), sep="; ")
    !ok at 0..1; req at 0
    """
    explaining = explainer("why", parse(formula) if isinstance(formula, str) else formula, atoms, time)
    explaining.show(list(events), ended)
    return explaining.because(position)


def explainer(owner: str, formula: Formula, atoms: Atoms, time: Any) -> Explainer:
    """Return the explainer of a formula."""
    return Explainer(formula, Reader(owner, atoms), None if time is None else as_function(time))
