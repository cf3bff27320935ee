"""Fewer operators: ``->``, ``<->``, ``W``, ``[p, q)`` in terms of the others; and the kind of a formula."""

from __future__ import annotations

from attrs import frozen

from . import formula as fm
from .base import BoundedBinary, BoundedUnary, Formula
from .bounds import Bounds
from .walk import fold, subformulas


def core(formula: Formula) -> Formula:
    """Rewrite to constants, leaves, ``! & |``, ``X F G U R``, ``Y O H S`` and quantifiers.

    >>> from millstream.palettes.ltl.parser import parse
    >>> core(parse("a W[0,5] b -> [p, q)"))
    !(a U[0,5] b | G[0,5] a) | !q S p
    """
    return fold(formula, _core)


def _core(f: Formula, below: list[Formula]) -> Formula:
    match f:
        case fm.Implies():
            return ~below[0] | below[1]
        case fm.Iff():
            return below[0] & below[1] | ~below[0] & ~below[1]
        case fm.W():
            b = f.bounds
            upto = None if b is None else Bounds(0, b.high, False, b.high_open)
            return fm.U(below[0], below[1], b) | fm.G(below[0], upto)
        case fm.Span():
            return fm.S(~below[1], below[0])
        case fm.Not() if isinstance(below[0], fm.Not):
            return below[0].operand
    return rebuilt(f, below)


def rebuilt(f: Formula, children: list[Formula]) -> Formula:
    """Return the formula with other children."""
    rest = iter(children)
    return type(f)(*(next(rest) if isinstance(p, Formula) else p for p in f.parts))


@frozen
class Kind:
    """What a formula needs from an engine."""

    future: bool
    quantified: bool
    #: sum of the finite upper bounds of future and of past operators (infinite: not whole numbers)
    ahead: float
    back: float
    #: how many future operators have bounds, and their largest lower bound
    bounded: int
    low: float
    leaves: int
    depth: int


def kind(formula: Formula) -> Kind:
    """Return what a formula needs from an engine."""
    subs = subformulas(formula)
    ahead = back = low = 0.0
    bounded = 0
    for f in subs:
        if isinstance(f, BoundedUnary | BoundedBinary) and f.bounds is not None:
            reach = f.bounds.low if f.bounds.unbounded else f.bounds.high
            if isinstance(f, fm.PAST):
                back += reach
            else:
                ahead += reach
                bounded += 1
                low = max(low, f.bounds.low)
    return Kind(
        any(isinstance(f, fm.FUTURE) for f in subs),
        any(isinstance(f, fm.Quantifier) for f in subs),
        ahead,
        back,
        bounded,
        low,
        sum(isinstance(f, fm.Atom | fm.Test | fm.Predicate) for f in subs),
        fold(formula, lambda _, below: 1 + max(below, default=0)),
    )


def instants(formula: Formula) -> set[Formula]:
    """Return the subformulas whose value at a position is known when the position is read."""
    known: set[Formula] = set()
    for f in subformulas(formula):
        if not isinstance(f, (*fm.FUTURE, fm.Quantifier)) and all(c in known for c in f.children):
            known.add(f)
    return known
