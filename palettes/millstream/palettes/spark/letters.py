"""The leaves of temporal formulas as expressions, so that Spark SQL can compute them."""

from __future__ import annotations

from typing import Any

from millstream.palettes.ltl import Formula
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.letters import Atoms
from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Neg, Term
from millstream.processors import E, Expression
from millstream.processors.expressions import Attribute, Binary, Constant, Unary


def leaf_expression(leaf: Formula, atoms: Atoms) -> Expression | None:
    """Return what a leaf says about an event, None if only a Python function can tell.

    >>> from millstream.palettes.ltl import parse
    >>> leaf_expression(parse("status == 'DEAD'"), None), leaf_expression(parse("a"), {"a": E.n > 1})
    (E.status == 'DEAD', E.n > 1)
    """
    match leaf:
        case fm.Atom():
            if atoms is None:
                return Attribute(E, leaf.name)
            meaning = atoms.get(leaf.name)
            return meaning if isinstance(meaning, Expression) else None
        case fm.Test():
            left, right = _term(leaf.left), _term(leaf.right)
            return None if left is None or right is None else Binary(leaf.op, left, right)
    return None


def leaf_meaning(leaf: Formula, atoms: Atoms) -> Any:
    """Return the expression or the Python function that a leaf is."""
    expression = leaf_expression(leaf, atoms)
    if expression is None and isinstance(leaf, fm.Atom) and atoms is not None:
        return atoms.get(leaf.name)
    return expression


def _term(term: Term) -> Expression | None:
    match term:
        case Const():
            return Constant(term.value)
        case Field():
            return Attribute(E, term.name)
        case Get():
            base = _term(term.base)
            return None if base is None else Attribute(base, term.name)
        case Neg():
            operand = _term(term.operand)
            return None if operand is None else Unary("neg", operand)
        case Arith():
            left, right = _term(term.left), _term(term.right)
            return None if left is None or right is None else Binary(term.op, left, right)
    return None


def leaves_of(formula: Formula) -> list[Formula] | None:
    """Return the leaves of a propositional formula, None if it quantifies or names predicates.

    >>> from millstream.palettes.ltl import parse
    >>> leaves_of(parse("G (a -> F b)")), leaves_of(parse("G p(1)"))
    ([a, b], None)
    """
    found: dict[Any, None] = {}
    stack = [formula]
    while stack:
        f = stack.pop()
        if type(f).__module__ != fm.__name__ or isinstance(f, fm.Predicate | fm.Quantifier):
            return None
        if isinstance(f, fm.Atom | fm.Test):
            found[f] = None
        stack.extend(reversed(f.children))
    return list(found)
