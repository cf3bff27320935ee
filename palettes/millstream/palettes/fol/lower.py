"""Temporal operators become tables of bindings.

``keep since start`` with free variables is a finite table: the bindings for which it holds. It is finite if
``start`` restricts every variable, that is, if every way to satisfy ``start`` takes the variable's value
from an event or from another table (the *safe range* condition of MonPoly). Equal operators share a table,
also when their variables have other names.

One rewriting reaches beyond: ``H (g(k) -> d(k, x))`` holds for all ``x`` until ``g(k)`` first happens, and
from then on for the finite set of ``x`` that satisfied ``d`` each time (for locks: Eraser's lock sets), so
::

    H (g -> d)  =  !O g | ((g -> d) S (g & d & !Y O g))

And one kind of table is never written out. ``O (g(y) & O h(x))`` has a row for every pair, but it holds
exactly if ``h(x)`` first happened no later than ``g(y)`` last did: two times instead of a product.
"""

from __future__ import annotations

from typing import Any

from attrs import define, field, frozen

from millstream.palettes.ltl.bounds import Bounds
from millstream.palettes.ltl.terms import Term, Var

from .core import (
    TRUE,
    After,
    And,
    Compare,
    Event,
    Exists,
    Guard,
    In,
    Node,
    Not,
    Old,
    Or,
    Prev,
    Read,
    Since,
    Truth,
    conj,
    disj,
    exists,
    free,
    has_field,
    neg,
    replace,
    simplified,
    term_variables,
)
from .normal import nnf


class Unsupported(Exception):
    """Why a formula is outside the fast fragment."""


@frozen
class Product:
    """How ``O (last & O first)`` is kept.

    The first `split` columns are a row of table `first`, which came `depth` positions or more before the
    others last satisfied `last`.
    """

    first: int
    depth: int
    split: int
    last: Node


@frozen
class Table:
    """The bindings of ``params`` for which ``keep since start`` holds."""

    number: int
    params: tuple[Var, ...]
    keep: Node
    start: Node
    bounds: Bounds | None
    product: Product | None = None

    @property
    def once(self) -> bool:
        """Whether rows never leave."""
        return self.keep is TRUE and self.bounds is None


def restricted(node: Node) -> frozenset[Var]:
    """Return the variables that a node in negation normal form takes from an event or a table."""
    match node:
        case Event() | Read() | Old():
            return frozenset(p for p in node.parts if isinstance(p, Var))
        case In():
            return frozenset((node.parts[0],))
        case Compare() if node.parts[0] == "==":
            left, right = node.parts[1:]
            return frozenset(_fixed(left, right) + _fixed(right, left))
        case And():
            return frozenset[Var]().union(*map(restricted, node.parts))
        case Or():
            first, *others = map(restricted, node.parts)
            return first.intersection(*others)
        case Exists():
            return restricted(nnf(node.parts[1])) - {node.parts[0]}
    return frozenset()


def _fixed(left: Term, right: Term) -> tuple[Var, ...]:
    return (left,) if isinstance(left, Var) and not term_variables(right) else ()


def canonical(node: Node, params: tuple[Var, ...]) -> Node:
    """Rename parameters and bound variables by their order, so that equal operators become one."""
    counter = iter(range(10**9))

    def bound(n: Any) -> Any:
        if isinstance(n, Exists):
            new = Var(f"b{next(counter)}")
            return exists(new, bound(replace(n.parts[1], {n.parts[0]: new})))
        if isinstance(n, Node):
            return simplified(n, tuple(map(bound, n.parts)))
        return n

    renamed = replace(node, {v: Var(f"p{i}") for i, v in enumerate(params)})
    result: Node = bound(renamed)
    return result


@define
class Lowering:
    """Turns temporal operators into reads of tables."""

    tables: list[Table] = field(factory=list)
    known: dict[Any, int] = field(factory=dict)
    memo: dict[Node, Node] = field(factory=dict)

    def lower(self, node: Node) -> Node:
        """Return a node without temporal operators."""
        if node not in self.memo:
            self.memo[node] = self._lower(node)
        return self.memo[node]

    def _lower(self, node: Node) -> Node:
        parts: tuple[Any, ...] = tuple(self.lower(p) if isinstance(p, Node) else p for p in node.parts)
        if isinstance(node, Prev):
            return self.shift(parts[0])
        if isinstance(node, Since):
            return self.since(*parts)
        return node if parts == node.parts else simplified(node, parts)

    def since(self, keep: Node, start: Node, bounds: Bounds | None) -> Node:
        """Return a read of the operator's table."""
        start, keep = nnf(start), nnf(keep)
        if isinstance(start, Truth):
            if start is not TRUE:
                return start
            if bounds is None or bounds.contains(0):
                return start
        if bounds is not None and not bounds.contains(0):
            raise Unsupported(f"the bounds {bounds} do not begin at 0")
        params = tuple(dict.fromkeys((*free(start), *free(keep))))
        missing = [v for v in params if v not in restricted(start)]
        if not missing:
            split = self.split(start) if keep is TRUE and bounds is None else None
            return self.product(*split) if split else self.table(params, keep, start, bounds)
        if isinstance(start, Or):
            return disj(*(self.since(keep, p, bounds) for p in start.parts))
        if isinstance(start, And) and keep is TRUE and bounds is None:
            return self.sections(start)
        raise Unsupported(f"no event gives {missing[0]!r} its value in {start!r}")

    def table(
        self,
        params: tuple[Var, ...],
        keep: Node,
        start: Node,
        bounds: Bounds | None,
        product: Product | None = None,
    ) -> Node:
        """Return a read of the one table for these operands."""
        key = canonical(keep, params), canonical(start, params), bounds, len(params)
        if key not in self.known:
            self.known[key] = len(self.tables)
            names = tuple(Var(f"p{i}") for i in range(len(params)))
            self.tables.append(Table(len(self.tables), names, key[0], key[1], bounds, product))
        return Read(0, self.known[key], *params)

    def split(self, start: Node) -> tuple[Read, Node] | None:
        """Return the two sides if rows are pairs of unrelated bindings, one of which stays for good."""
        for part in start.parts if isinstance(start, And) else ():
            others = conj(*(p for p in start.parts if p is not part))
            if (
                isinstance(part, Read)
                and self.tables[part.parts[1]].once
                and self.tables[part.parts[1]].product is None
            ):
                args, rest = part.parts[2:], free(others)
                if args and rest and len(set(args)) == len(args) and set(args).isdisjoint(rest):
                    return part, others
        return None

    def product(self, first: Read, last: Node) -> Node:
        """Return a read of the table of all pairs."""
        depth, number, *args = first.parts
        params = (*args, *free(last))
        return self.table(
            params, TRUE, conj(first, last), None, Product(number, depth, len(args), canonical(last, params))
        )

    def sections(self, start: And) -> Node:
        """Return ``O start`` where a variable is restricted only by what ``start`` denies."""
        bound = restricted(start)
        when = conj(*(p for p in start.parts if set(free(p)) <= bound))
        then = nnf(neg(conj(*(p for p in start.parts if not set(free(p)) <= bound))))
        if any(v not in restricted(conj(when, then)) for v in free(start)) or not bound:
            raise Unsupported(f"no event gives a variable its value in {start!r}")
        once = self.since(TRUE, when, None)
        first = conj(when, then, neg(self.shift(once)))
        kept = self.since(nnf(disj(neg(when), then)), first, None)
        return conj(once, neg(kept))

    def shift(self, node: Node) -> Node:
        """Return a lowered node as it was at the position before; false at the first position."""
        match node:
            case Event():
                return Event(node.parts[0] + 1, *node.parts[1:])
            case Guard() | After():
                return type(node)(node.parts[0] + 1, *node.parts[1:])
            case Read():
                return self.shift_read(node)
            case And() | Or():
                return simplified(node, tuple(map(self.shift, node.parts)))
            case Exists():
                return exists(node.parts[0], self.shift(node.parts[1]))
            case Not():
                return conj(After(1), neg(self.shift(node.parts[0])))
            case Truth():
                return After(1) if node is TRUE else node
        if has_field(node) or isinstance(node, In):
            raise Unsupported(f"{node!r} reads a field of the event before")
        assert isinstance(node, Compare)
        return conj(After(1), node)

    def shift_read(self, node: Read) -> Node:
        """Return a read one position further back."""
        depth, number, *args = node.parts
        if depth == 0:
            return Read(1, number, *args)
        table = self.tables[number]
        if table.bounds is not None:
            raise Unsupported("a bounded operator two positions ago")
        keep = TRUE if table.keep is TRUE else self.shift(table.keep)
        moved = self.since(keep, self.shift(table.start), None)
        return replace(self.shift(moved), dict(zip(table.params, args, strict=True)))
