"""Questions about formulas, answered without recursion: deep formulas are ordinary formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .base import Formula
from .formula import Quantifier
from .terms import Const, Term, Var
from .values import Value, post_order

T = TypeVar("T")


def subformulas(formula: Formula) -> list[Formula]:
    """Distinct subformulas, operands before operators, the formula itself last.

    >>> from millstream.palettes.ltl.formula import *
    >>> subformulas(G(Atom("a") >> F(Atom("b"))))
    [a, b, F b, a -> F b, G (a -> F b)]
    """
    return [node for node in post_order(formula) if isinstance(node, Formula)]


def fold(formula: Formula, combine: Callable[[Formula, list[T]], T]) -> T:
    """Compute ``combine(node, results of its children)`` bottom-up, once per distinct subformula."""
    known: dict[Formula, T] = {}
    for node in subformulas(formula):
        known[node] = combine(node, [known[child] for child in node.children])
    return known[formula]


def size(formula: Formula) -> int:
    """Number of operators and leaves, counted as in the text."""
    return fold(formula, lambda _, below: 1 + sum(below))


def depth(formula: Formula) -> int:
    """Length of the longest branch."""
    return fold(formula, lambda _, below: 1 + max(below, default=0))


def _term_variables(term: Term) -> frozenset[str]:
    return frozenset(node.name for node in post_order(term) if isinstance(node, Var))


def free_variables(formula: Formula) -> frozenset[str]:
    """Variables that no quantifier binds.

    >>> from millstream.palettes.ltl.parser import parse
    >>> sorted(free_variables(parse("exists f. access(u, f)")))
    ['u']
    """

    def combine(node: Formula, below: list[frozenset[str]]) -> frozenset[str]:
        free = frozenset[str]().union(*below)
        if isinstance(node, Quantifier):
            free -= {node.variable}
        return free.union(*map(_term_variables, node.terms))

    return fold(formula, combine)


def substitute(formula: Formula, variable: str, value: object) -> Formula:
    """Replace the free occurrences of a variable by a constant.

    >>> from millstream.palettes.ltl.parser import parse
    >>> substitute(parse("forall f: access(u, f)"), "u", "ann")
    forall f: access("ann", f)
    """
    done: dict[Value, Value] = {Var(variable): Const(value)}
    stack: list[tuple[Value, bool]] = [(formula, False)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        below = [part for part in _open_parts(node, variable) if part not in done]
        if ready or not below:
            done[node] = _replace(node, variable, done)
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in below)
    result = done[formula]
    assert isinstance(result, Formula)
    return result


def _open_parts(node: Value, variable: str) -> list[Value]:
    if isinstance(node, Quantifier) and node.variable == variable:
        return [] if node.domain is None else [node.domain]
    return [part for part in node.parts if isinstance(part, Value)]


def _replace(node: Value, variable: str, done: dict[Value, Value]) -> Value:
    opened = set(_open_parts(node, variable))
    parts = tuple(done[part] if isinstance(part, Value) and part in opened else part for part in node.parts)
    return node if parts == node.parts else type(node)(*parts)
