"""From formulas as they are written to the language of `core`, with the checks that they must pass.

Free variables and leading ``forall`` without a domain are the *outer* variables: a formula is violated at a
position if some values of the outer variables make its body false. What the evaluators read is therefore
the negated body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import define, field, frozen

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.terms import Field, Get, Term, Var
from millstream.palettes.ltl.values import Value, post_order
from millstream.palettes.ltl.walk import free_variables, subformulas
from millstream.processors.errors import ParameterError

from .core import (
    FALSE,
    TRUE,
    And,
    Compare,
    Event,
    Guard,
    In,
    Node,
    Not,
    Or,
    Prev,
    Since,
    Truth,
    conj,
    disj,
    exists,
    neg,
)

#: the domains of a quantifier without ``in``
OVER: Final = ("seen", "all")


@frozen
class Problem:
    """What evaluators solve: the formula is violated where some binding of `outer` satisfies `bad`."""

    outer: tuple[Var, ...]
    bad: Node
    #: arguments of each event name that the formula mentions; None if only the name matters
    arity: dict[str, int | None]


def normalise(
    owner: str, formula: Formula, predicates: Mapping[str, int] | None = None, over: str = "seen"
) -> Problem:
    """Check a past formula and return what the evaluators read.

    >>> from millstream.palettes.ltl import parse
    >>> normalise("Verdicts", parse("exit(x) -> O enter(x)")).outer
    ($x,)
    """
    if over not in OVER:
        raise ParameterError(f"{owner}: over must be 'seen' or 'all', got {over!r}")
    check_scopes(owner, formula)
    check_past(owner, formula)
    outer, body = outer_variables(formula)
    names = frozenset(v.name for v in outer)
    n = _Normaliser(over == "seen", names)
    for f in subformulas(body):
        n.visit(f)
    guards = [Guard(0, v) for v in outer] if over == "seen" else []
    return Problem(outer, conj(*guards, neg(n.known[body])), arities(owner, formula, predicates))


def outer_variables(formula: Formula) -> tuple[tuple[Var, ...], Formula]:
    """Return the outer variables of a formula, and what it says about them."""
    order = [n.name for n in post_order(formula) if isinstance(n, Var)]
    names = dict.fromkeys(n for n in order if n in free_variables(formula))
    while isinstance(formula, fm.ForAll) and formula.domain is None:
        names[formula.variable] = None
        formula = formula.body
    return tuple(map(Var, names)), formula


def check_scopes(owner: str, formula: Formula) -> None:
    """Refuse a variable that is bound again where it is already bound."""
    inside: dict[Formula, frozenset[str]] = {}
    for f in subformulas(formula):
        below = frozenset[str]().union(*(inside[c] for c in f.children))
        if isinstance(f, fm.Quantifier):
            if f.variable in below:
                raise ParameterError(
                    f"{owner}: variable {f.variable!r} is bound again inside {f!r}: choose another name"
                )
            below |= {f.variable}
        inside[f] = below
    both = sorted(inside[formula] & free_variables(formula))
    if both:
        raise ParameterError(
            f"{owner}: variable {both[0]!r} is both free and bound in {formula!r}: choose another name"
        )


def check_past(owner: str, formula: Formula) -> None:
    """Refuse future operators."""
    for f in subformulas(formula):
        if isinstance(f, fm.FUTURE):
            problem = f"{f!r} looks into the future, so there is no verdict at each position yet"
            raise ParameterError(f"{owner}: {problem}; use Monitor, or past operators Y O H S [p, q)")


def arities(owner: str, formula: Formula, predicates: Mapping[str, int] | None) -> dict[str, int | None]:
    """Return the number of arguments of each predicate; raise if uses disagree or one is not declared."""
    found: dict[str, int | None] = {}
    for f in subformulas(formula):
        if isinstance(f, fm.Atom):
            found.setdefault(f.name, None)
        elif isinstance(f, fm.Predicate):
            have = found.get(f.name)
            if have is not None and have != len(f.args):
                raise ParameterError(
                    f"{owner}: {f.name} is used with {have} and with {len(f.args)} arguments"
                )
            found[f.name] = len(f.args)
    if predicates is not None:
        for name, n in found.items():
            check_declared(owner, name, n, predicates)
    return found


def check_declared(owner: str, name: str, n: int | None, predicates: Mapping[str, int]) -> None:
    """Refuse a predicate that is not declared, or with another number of arguments."""
    if name not in predicates:
        known = ", ".join(sorted(predicates)) or "none"
        raise ParameterError(f"{owner}: unknown predicate {name!r}; the predicates given are: {known}")
    if n is not None and predicates[name] != n:
        raise ParameterError(
            f"{owner}: {name} has {predicates[name]} arguments, the formula uses it with {n}"
        )


@define
class _Normaliser:
    seen: bool
    #: names that stand for variables even where the parser, not knowing them, read a field
    outer: frozenset[str]
    known: dict[Formula, Node] = field(factory=dict)

    def visit(self, f: Formula) -> None:
        self.known[f] = self.node(f, [self.known[c] for c in f.children])

    def node(self, f: Formula, below: list[Node]) -> Node:
        match f:
            case fm.Truth():
                return TRUE if f.value else FALSE
            case fm.Atom():
                return Event(0, f.name, None)
            case fm.Predicate():
                return Event(0, f.name, len(f.args), *f.args)
            case fm.Test():
                return Compare(f.op, self.term(f.left), self.term(f.right))
            case fm.Quantifier():
                return self.quantifier(f, below[0])
            case fm.Not() | fm.And() | fm.Or() | fm.Implies() | fm.Iff():
                return boolean(f, below)
        return temporal(f, below)

    def quantifier(self, f: fm.Quantifier, body: Node) -> Node:
        variable = Var(f.variable)
        guard: list[Node] = [Guard(0, variable)] if self.seen else []
        if f.domain is not None:
            guard = [In(variable, self.term(f.domain))]
        if isinstance(f, fm.Exists):
            return exists(variable, conj(*guard, body))
        return neg(exists(variable, conj(*guard, neg(body))))

    def term(self, term: Any) -> Any:
        if isinstance(term, Field) and term.name in self.outer:
            return Var(term.name)
        if isinstance(term, Term) and not isinstance(term, Get):
            return type(term)(*(self.term(p) for p in term.parts))
        return term if not isinstance(term, Get) else Get(self.term(term.base), term.name)


def boolean(f: Formula, below: list[Node]) -> Node:
    """Return a Boolean operator."""
    match f:
        case fm.Not():
            return neg(below[0])
        case fm.And():
            return conj(*below)
        case fm.Or():
            return disj(*below)
        case fm.Implies():
            return disj(neg(below[0]), below[1])
    a, b = below
    return disj(conj(a, b), conj(neg(a), neg(b)))


def temporal(f: Any, below: list[Node]) -> Node:
    """Return a past operator in terms of since and previous."""
    match f:
        case fm.Y():
            return Prev(below[0])
        case fm.Span():
            return Since(neg(below[1]), below[0], None)
        case fm.O():
            return Since(TRUE, below[0], f.bounds)
        case fm.H():
            return neg(Since(TRUE, neg(below[0]), f.bounds))
    return Since(*below, f.bounds)


def nnf(node: Node) -> Node:
    """Push negations down to leaves, quantifiers and temporal operators."""
    pairs: dict[Value, tuple[Node, Node]] = {}
    for n in post_order(node):
        if not isinstance(n, Node):
            continue
        if isinstance(n, Not):
            pairs[n] = pairs[n.parts[0]][::-1]
        elif isinstance(n, And):
            pairs[n] = conj(*(pairs[p][0] for p in n.parts)), disj(*(pairs[p][1] for p in n.parts))
        elif isinstance(n, Or):
            pairs[n] = disj(*(pairs[p][0] for p in n.parts)), conj(*(pairs[p][1] for p in n.parts))
        else:
            pairs[n] = n, (neg(n) if isinstance(n, Truth) else Not(n))
    return pairs[node][0]
