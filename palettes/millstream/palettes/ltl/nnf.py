"""Formulas as the tableau wants them: negations at the leaves, a handful of operators, letters as numbers.

``Lit`` is a letter of the event (its number is its bit in a valuation), ``Mem`` a remembered bit about the
past, ``Next`` an obligation for the following position (``strong``: there must be one), ``Until`` and
``Release`` carry whole-number bounds. Past operators become remembered bits; a past operator above a future
one remembers a *hidden* letter, guessed now and checked by an obligation.
"""

from __future__ import annotations

from typing import Any

from attrs import define, field

from millstream.processors import ParameterError

from . import formula as fm
from .base import BoundedBinary, BoundedUnary, Formula
from .values import Value
from .walk import subformulas


class Node(Value):
    """A formula in negation normal form."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts}"


class Const(Node):
    """Truth or falsity."""

    __slots__ = ()


class Lit(Node):
    """``Lit(letter, positive)``."""

    __slots__ = ()


class Mem(Node):
    """``Mem(bit, positive)``."""

    __slots__ = ()


class Both(Node):
    """Conjunction of two."""

    __slots__ = ()


class Either(Node):
    """Disjunction of two."""

    __slots__ = ()


class Next(Node):
    """``Next(operand, strong)``."""

    __slots__ = ()


class Until(Node):
    """``Until(left, right, low, high)``; ``high`` is None without an upper bound."""

    __slots__ = ()


class Release(Node):
    """``Release(left, right, low, high)``, the dual of `Until`."""

    __slots__ = ()


YES, NO = Const(True), Const(False)
Pair = tuple[Node, Node]  # a formula and its negation


def both(a: Node, b: Node) -> Node:
    """Return the simplified conjunction."""
    if a is NO or b is NO:
        return NO
    return b if a is YES or a is b else a if b is YES else Both(a, b)


def either(a: Node, b: Node) -> Node:
    """Return the simplified disjunction."""
    if a is YES or b is YES:
        return YES
    return b if a is NO or a is b else a if b is NO else Either(a, b)


def until(a: Node, b: Node, low: int, high: int | None) -> Node:
    """Return the simplified until."""
    if b is NO:
        return NO
    if low == 0 and (b is YES or high == 0 or a is NO):
        return b
    if low == 0 and high is None and isinstance(b, Until) and (b.parts[0], *b.parts[2:]) == (a, 0, None):
        return b  # F F p is F p
    return Until(a, b, low, high)


def release(a: Node, b: Node, low: int, high: int | None) -> Node:
    """Return the simplified release."""
    if b is YES:
        return YES
    if low == 0 and (b is NO or high == 0 or a is YES):
        return b
    if low == 0 and high is None and isinstance(b, Release) and (b.parts[0], *b.parts[2:]) == (a, 0, None):
        return b  # G G p is G p
    return Release(a, b, low, high)


@define
class Translation:
    """What a formula becomes: its letters, its memory, and the two root nodes.

    Examples
    --------
    >>> from millstream.palettes.ltl.parser import parse
    >>> t = translate(parse("G (a -> O b)"))
    >>> t.letters, len(t.updates), t.start
    ((a, b), 1, 0)
    """

    #: leaves of the formula; letter k is bit k of a valuation
    letters: tuple[Formula, ...]
    root: Node
    negated: Node
    #: new value of each remembered bit, over this event's letters and the old bits
    updates: tuple[Pair, ...]
    #: the bits before the first event
    start: int
    #: what must hold at every position so that hidden letters mean what they stand for
    always: tuple[Node, ...]
    hidden: int


@define
class _Translator:
    letters: dict[Formula, int] = field(factory=dict)
    pairs: dict[Formula, Pair] = field(factory=dict)
    future: dict[Formula, bool] = field(factory=dict)
    updates: list[Pair] = field(factory=list)
    start: int = 0
    guesses: list[Pair] = field(factory=list)

    def visit(self, f: Formula) -> None:
        self.future[f] = isinstance(f, fm.FUTURE) or any(self.future[c] for c in f.children)
        if isinstance(f, fm.PAST):
            self.pairs[f] = self.past(f)
        else:
            self.pairs[f] = self.operator(f, [self.pairs[c] for c in f.children])

    def operator(self, f: Formula, below: list[Pair]) -> Pair:
        match f:
            case fm.Truth():
                return (YES, NO) if f.value else (NO, YES)
            case fm.Atom() | fm.Test() | fm.Predicate():
                k = self.letters.setdefault(f, len(self.letters))
                return Lit(k, True), Lit(k, False)
            case fm.Not():
                return below[0][1], below[0][0]
            case fm.And():
                return conjunction(*below)
            case fm.Or():
                return negation(conjunction(*map(negation, below)))
            case fm.Implies():
                return negation(conjunction(below[0], negation(below[1])))
            case fm.Iff():
                (a, na), (b, nb) = below
                return either(both(a, b), both(na, nb)), either(both(a, nb), both(na, b))
            case fm.X():
                return Next(below[0][0], True), Next(below[0][1], False)
            case BoundedUnary() | BoundedBinary():
                return future(f, below, *whole(f))
        raise ParameterError(
            f"{f.parts[0] if isinstance(f, fm.Quantifier) else f}: not a propositional formula"
        )

    def past(self, f: Formula) -> Pair:
        pairs = [self.guess(self.pairs[c]) if self.future[c] else self.pairs[c] for c in f.children]
        if isinstance(f, fm.Y):
            return self.remember(pairs[0], False)
        if isinstance(f, fm.Span):
            return self.since(negation(pairs[1]), pairs[0], 0, None)
        assert isinstance(f, BoundedUnary | BoundedBinary)
        low, high = whole(f)
        if isinstance(f, fm.S):
            return self.since(pairs[0], pairs[1], low, high)
        if isinstance(f, fm.O):
            return self.since((YES, NO), pairs[0], low, high)
        return negation(self.since((YES, NO), negation(pairs[0]), low, high))

    def since(self, a: Pair, b: Pair, low: int, high: int | None) -> Pair:
        if high is None:
            k = len(self.updates)
            self.updates.append((NO, YES))
            value = negation(
                conjunction(negation(b), negation(conjunction(a, (Mem(k, True), Mem(k, False)))))
            )
            self.updates[k] = value
        else:
            value = b
            for _ in range(high - low):
                value = negation(
                    conjunction(negation(b), negation(conjunction(a, self.remember(value, False))))
                )
        for _ in range(low):
            value = conjunction(a, self.remember(value, False))
        return value

    def remember(self, pair: Pair, start: bool) -> Pair:
        k = len(self.updates)
        self.updates.append(pair)
        self.start |= start << k
        return Mem(k, True), Mem(k, False)

    def guess(self, pair: Pair) -> Pair:
        self.guesses.append(pair)
        k = -len(self.guesses)  # negative: not a letter of the event
        return Lit(k, True), Lit(k, False)


def negation(pair: Pair) -> Pair:
    """Return a pair the other way round."""
    return pair[1], pair[0]


def conjunction(a: Pair, b: Pair) -> Pair:
    """Return the conjunction of two pairs."""
    return both(a[0], b[0]), either(a[1], b[1])


def whole(f: Any) -> tuple[int, int | None]:
    """Return an operator's bounds in positions."""
    return (0, None) if f.bounds is None else f.bounds.whole()


def future(f: Formula, below: list[Pair], low: int, high: int | None) -> Pair:
    """Return the pair of a future operator with bounds."""
    (a, na), (b, nb) = below if len(below) == 2 else ((YES, NO), below[0])
    match f:
        case fm.F() | fm.U():
            return until(a, b, low, high), release(na, nb, low, high)
        case fm.G():
            return release(NO, b, low, high), until(YES, nb, low, high)
        case fm.R():
            return release(a, b, low, high), until(na, nb, low, high)
        case fm.W():
            pair = until(a, b, low, high), release(na, nb, low, high)
            always = release(NO, a, 0, high), until(YES, na, 0, high)
            return either(pair[0], always[0]), both(pair[1], always[1])
    raise TypeError(f"not a future operator: {f!r}")


def translate(formula: Formula) -> Translation:
    """Return the tableau's form of a propositional formula whose bounds count positions."""
    t = _Translator()
    for f in subformulas(formula):
        t.visit(f)
    root, negated = t.pairs[formula]
    always = []
    for k, (yes, no) in enumerate(t.guesses):
        name = -1 - k
        always.append(either(both(Lit(name, True), yes), both(Lit(name, False), no)))
    return Translation(
        tuple(t.letters), root, negated, tuple(t.updates), t.start, tuple(always), len(t.guesses)
    )
