"""What a condition becomes for events of one kind.

When the name of the event is known, predicates of other names are false and its own predicates are
equalities with the event's arguments. A table read after the event is its start for this kind, or what it
was before and keeps: what remains to be looked up is small, and for most kinds and tables it is nothing.
"""

from __future__ import annotations

from attrs import define, field

from .core import FALSE, TRUE, Arg, Event, Node, Old, Read, conj, disj, equal, neg, replace, rewrite
from .lower import Table


@define
class Kind:
    """Events of one name; the name None stands for all names that the formula does not mention."""

    name: str | None
    arity: int | None
    tables: list[Table]
    memo: dict[Node, Node] = field(factory=dict)

    def at(self, node: Node) -> Node:
        """Return a lowered condition for an event of this kind, over tables as they were before it."""
        if node not in self.memo:
            self.memo[node] = rewrite(node, lambda _, n: self._leaf(n))
        return self.memo[node]

    def _leaf(self, node: Node) -> Node:
        if isinstance(node, Event) and node.parts[0] == 0:
            if node.parts[1] != self.name:
                return FALSE
            return conj(*(equal(a, Arg(i)) for i, a in enumerate(node.parts[3:])))
        if isinstance(node, Read):
            depth, number, *args = node.parts
            return Old(number, False, *args) if depth else self._now(self.tables[number], tuple(args))
        return node

    def _now(self, table: Table, args: tuple[Node, ...]) -> Node:
        mapping = dict(zip(table.params, args, strict=True))
        start, keep = (replace(self.at(n), mapping) for n in (table.start, table.keep))  # type: ignore[arg-type]
        return disj(start, conj(keep, Old(table.number, table.bounds is not None, *args)))

    def added(self, table: Table) -> Node:
        """Return the bindings that the event brings into a table."""
        return self.at(table.start if table.product is None else table.product.last)

    def removed(self, table: Table) -> Node:
        """Return the bindings that the event takes out of a table."""
        if self.at(table.keep) is TRUE:
            return FALSE
        return conj(
            Old(table.number, False, *table.params), neg(self.at(table.keep)), neg(self.at(table.start))
        )
