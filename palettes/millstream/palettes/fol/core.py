"""The small language that both evaluators of past first-order formulas read.

A formula of the `ltl` palette has twenty operators; this one has the few that the others can be said with.
Nodes are hash-consed like formulas, so that a subformula that occurs twice is one object and is kept once.

``Event(d, name, ...)`` speaks of the event ``d`` positions ago, ``Since`` and ``Prev`` are the temporal
operators, ``Guard(d, x)`` says that the value of ``x`` had been seen ``d`` positions ago. The compiler adds
three leaves of its own: ``Read`` (a table of bindings, after this event or before it), ``Old`` (a table as
it stands) and ``Equal``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Neg, Term, Var
from millstream.palettes.ltl.values import Value, post_order


class Node(Value):
    """Base of all nodes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts}"


class Truth(Node):
    """``Truth(value)``."""

    __slots__ = ()


class Event(Node):
    """``Event(depth, name, arity, *args)``; an arity of None takes any arguments."""

    __slots__ = ()


class Compare(Node):
    """``Compare(op, left, right)``."""

    __slots__ = ()


class In(Node):
    """``In(variable, term)``: the value is an element of a collection of the current event."""

    __slots__ = ()


class After(Node):
    """``After(depth)``: there was a position that long ago."""

    __slots__ = ()


class Guard(Node):
    """``Guard(depth, variable)``: the value had been an argument of an event up to that long ago."""

    __slots__ = ()


class Not(Node):
    """Negation."""

    __slots__ = ()


class And(Node):
    """Conjunction of any number."""

    __slots__ = ()


class Or(Node):
    """Disjunction of any number."""

    __slots__ = ()


class Exists(Node):
    """``Exists(variable, body)``."""

    __slots__ = ()


class Since(Node):
    """``Since(keep, start, bounds)``: start happened, and keep has held since then."""

    __slots__ = ()


class Prev(Node):
    """At the position before, which exists."""

    __slots__ = ()


class Read(Node):
    """``Read(depth, table, *args)``: the table after this event (depth 0) or before it (depth 1)."""

    __slots__ = ()


class Old(Node):
    """``Old(table, alive, *args)``: the table as it stands; alive if its bounds are to be checked."""

    __slots__ = ()


class Equal(Node):
    """``Equal(left, right)``."""

    __slots__ = ()


class Arg(Term):
    """``Arg(i)``: an argument of the current event."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"argument {self.parts[0]}"


TRUE, FALSE = Truth(True), Truth(False)


def conj(*parts: Node) -> Node:
    """Return the simplified conjunction.

    >>> conj(TRUE, After(1), conj(After(1)))
    After(1,)
    """
    flat = dict.fromkeys(q for p in parts for q in (p.parts if isinstance(p, And) else (p,)) if q is not TRUE)
    if FALSE in flat or any(neg(p) in flat for p in flat if isinstance(p, Not)):
        return FALSE
    return TRUE if not flat else next(iter(flat)) if len(flat) == 1 else And(*flat)


def disj(*parts: Node) -> Node:
    """Return the simplified disjunction."""
    flat = dict.fromkeys(q for p in parts for q in (p.parts if isinstance(p, Or) else (p,)) if q is not FALSE)
    if TRUE in flat or any(neg(p) in flat for p in flat if isinstance(p, Not)):
        return TRUE
    return FALSE if not flat else next(iter(flat)) if len(flat) == 1 else Or(*flat)


def neg(part: Node) -> Node:
    """Return the simplified negation."""
    if isinstance(part, Truth):
        return FALSE if part is TRUE else TRUE
    return part.parts[0] if isinstance(part, Not) else Not(part)


def exists(variable: Var, body: Node) -> Node:
    """Return the simplified quantifier; the domain is not empty."""
    return Exists(variable, body) if variable in free(body) else body


def equal(left: Term, right: Term) -> Node:
    """Return the simplified equality."""
    if left is right:
        return TRUE
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if left.value == right.value else FALSE
    return Equal(left, right)


def term_variables(term: Term) -> tuple[Var, ...]:
    """Return the variables of a term, in order."""
    return tuple(node for node in post_order(term) if isinstance(node, Var))


def has_field(node: Node) -> bool:
    """Return whether a comparison or a domain reads the event itself."""
    return any(isinstance(n, Field) for n in post_order(node))


def free(node: Node) -> tuple[Var, ...]:
    """Return the free variables, in order of appearance."""
    known: dict[Value, dict[Var, None]] = {}
    for n in post_order(node):
        if isinstance(n, Term):
            known[n] = dict.fromkeys(term_variables(n))
            continue
        found: dict[Var, None] = {}
        for part in n.parts:
            found.update(known[part] if isinstance(part, Value) else {})
        if isinstance(n, Exists):
            found.pop(n.parts[0], None)
        known[n] = found
    return tuple(known[node])


def simplified(node: Node, parts: tuple[Any, ...]) -> Node:
    """Return a node of the same kind with other parts."""
    if isinstance(node, And):
        return conj(*parts)
    if isinstance(node, Or):
        return disj(*parts)
    if isinstance(node, Not):
        return neg(*parts)
    if isinstance(node, Exists):
        return exists(*parts)
    if isinstance(node, Equal):
        return equal(*parts)
    return type(node)(*parts)


def rewrite(node: Node, change: Callable[[Node, Node], Node]) -> Node:
    """Rebuild a node bottom-up: ``change(original, rebuilt)`` for each node below it."""
    known: dict[Value, Any] = {}
    for n in post_order(node):
        if isinstance(n, Node):
            parts = tuple(known[p] if isinstance(p, Node) else p for p in n.parts)
            known[n] = change(n, n if parts == n.parts else simplified(n, parts))
    return known[node]  # type: ignore[no-any-return]


_numbers = count()


def fresh(variable: Var) -> Var:
    """Return a variable that occurs nowhere else."""
    return Var(f"{plain_name(variable)}·{next(_numbers)}")


def plain_name(variable: Var) -> str:
    """Return the name that a variable was written with."""
    return variable.name.split("·")[0]


def replace_term(term: Any, mapping: Mapping[Var, Term]) -> Any:
    """Return a term with its variables replaced."""
    if isinstance(term, Var):
        return mapping.get(term, term)
    if isinstance(term, Arith | Neg | Get):
        return type(term)(*(replace_term(p, mapping) for p in term.parts))
    return term


def replace(node: Node, mapping: Mapping[Var, Term]) -> Node:
    """Return a node with its free variables replaced; bound ones become fresh: nothing is captured."""
    if not any(v in mapping for v in free(node)):
        return node
    if isinstance(node, Exists):
        new = fresh(node.parts[0])
        return exists(new, replace(node.parts[1], {**mapping, node.parts[0]: new}))
    parts = tuple(
        replace(p, mapping) if isinstance(p, Node) else replace_term(p, mapping) if isinstance(p, Term) else p
        for p in node.parts
    )
    return simplified(node, parts)


def nesting(node: Node) -> int:
    """Return the depth of the tree."""
    known: dict[Value, int] = {}
    for n in post_order(node):
        known[n] = 1 + max((known[p] for p in n.parts if isinstance(p, Value)), default=0)
    return known[node]
