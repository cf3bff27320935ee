"""Disjunctions of clauses: the form in which the planner wants a condition.

A clause is a list of leaves and negated leaves, where ``!exists x: ...`` counts as a leaf. Positive
quantifiers dissolve: their variables become ordinary ones that a clause may choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from .core import (
    FALSE,
    TRUE,
    And,
    Compare,
    Exists,
    Guard,
    In,
    Node,
    Not,
    Or,
    conj,
    free,
    fresh,
    neg,
    replace,
    rewrite,
)
from .lower import Unsupported, restricted
from .normal import nnf

Clause = tuple[Node, ...]
#: more clauses than this, and the general evaluator does better
LIMIT = 96


def clauses(node: Node, implied: Callable[[Node], Iterator[Node]] | None = None) -> list[Clause]:
    """Return the clauses of a condition.

    >>> from .core import After
    >>> clauses(neg(conj(After(1), After(2))))
    [(Not(After(1,),),), (Not(After(2,),),)]
    """
    found = dict.fromkeys(filter(None, (_tidy(c, implied) for c in _product(nnf(node)))))
    return [tuple(p for p in c if p is not TRUE) for c in found]


def _product(node: Node) -> list[Clause]:
    if node is FALSE:
        return []
    if isinstance(node, Or):
        return [c for p in node.parts for c in _product(p)]
    if isinstance(node, Exists):
        variable, body = node.parts
        return _product(nnf(replace(body, {variable: fresh(variable)})))
    if not isinstance(node, And):
        return [(node,)]
    options = [_product(p) for p in node.parts]
    size = 1
    for o in options:
        size *= len(o)
    if size > LIMIT:
        raise Unsupported(f"the condition falls into {size} cases")
    return [sum(choice, ()) for choice in product(*options)]


def _tidy(clause: Clause, implied: Callable[[Node], Iterator[Node]] | None) -> Clause | None:
    """Return a clause with its quantified parts simplified by its other parts; None if it cannot hold."""
    whole = conj(*clause)
    if whole is FALSE:
        return None
    parts = whole.parts if isinstance(whole, And) else (whole,)
    truth: dict[Node, Node] = {}
    for p in parts:
        if isinstance(p, Not):
            truth |= {} if isinstance(p.parts[0], Exists) else {p.parts[0]: FALSE}
        else:
            truth.update(dict.fromkeys(implied(p) if implied else (), TRUE))
            truth[p] = TRUE

    def inside(part: Node) -> Node:
        if not (isinstance(part, Not) and isinstance(part.parts[0], Exists)):
            return part
        return neg(rewrite(part.parts[0], lambda _, n: truth.get(n, n)))

    tidied = _unguarded(conj(*map(inside, parts)))
    if tidied is FALSE:
        return None
    return tidied.parts if isinstance(tidied, And) else (tidied,)


def _unguarded(node: Node) -> Node:
    """Drop the condition that a value has been seen where another condition takes it from an event.

    The same for a variable about which nothing else is said, where any value at all is taken from an event.
    """

    def change(_: Node, n: Node) -> Node:
        if not isinstance(n, And) or not any(isinstance(p, Guard) for p in n.parts):
            return n
        given = restricted(nnf(conj(*(p for p in n.parts if not isinstance(p, Guard | Compare | In)))))

        def needed(part: Node) -> bool:
            if not isinstance(part, Guard) or part.parts[0] != 0:
                return True
            alone = all(part.parts[1] not in free(p) for p in n.parts if p is not part)
            return part.parts[1] not in given and not (alone and given)

        return conj(*filter(needed, n.parts))

    return rewrite(node, change)
