"""Source that changes tables: a row goes in or out, and the table's indexes with it.

All conditions of a step are evaluated on the tables as they were before the event, and the changes are
applied afterwards. A change that needs no search is written where it is applied; others are collected
first.
"""

from __future__ import annotations

from attrs import define, evolve, field

from .clauses import clauses
from .core import Node, Old
from .emit import Emitter, Values, row
from .lower import Table
from .stores import Stores


@define
class Updates:
    """Writes the changes of tables for one kind of event."""

    emitter: Emitter
    stores: Stores
    before: list[str] = field(factory=list)
    after: list[str] = field(factory=list)

    def change(self, table: Table, rows: Node, adding: bool) -> None:
        """Write the change that brings the rows that satisfy a condition into a table, or takes them out."""
        if table.product is not None:
            table = evolve(table, params=table.params[table.product.split :])
        for clause in clauses(rows, self.emitter.implied):
            self.clause(table, list(clause), adding)

    def clause(self, table: Table, leaves: list[Node], adding: bool) -> None:
        wanted = frozenset(table.params)
        left, values, tests = self.emitter.settle(leaves, {}, wanted)
        if left:
            whole = (
                self.cleared(table, left[0], values) if len(left) == 1 and not tests and not adding else []
            )
            self.after += whole
            if not whole:
                self.collected(table, leaves, adding)
            return
        columns = [values[p] for p in table.params]
        if not adding:
            own = self.emitter.test(Old(table.number, False, *table.params), values)
            tests = [t for t in tests if t != own]
        at = 1
        if tests:
            flag = self.emitter.new("u")
            self.before.append(f"    {flag} = {' and '.join(tests)}")
            self.after.append(f"    if {flag}:")
            at = 2
        self.after += self.stores.apply(table, columns, adding, at)

    def cleared(self, table: Table, leaf: Node, values: Values) -> list[str]:
        """Return the lines that remove all rows of a table with some values, if nothing else is asked."""
        if not isinstance(leaf, Old) or leaf.parts[0] != table.number or leaf.parts[2:] != table.params:
            return []
        given = {i: values[p] for i, p in enumerate(table.params) if p in values}
        return [f"    {line}" for line in self.stores.clear(table, given)]

    def collected(self, table: Table, leaves: list[Node], adding: bool) -> None:
        name = self.emitter.new("u")
        names = [self.emitter.new("v") for _ in table.params]

        def found(values: Values, out: list[str], at: int) -> None:
            out.append(
                "    " * at + f"{name}.append({row([values[p] for p in table.params]) if names else '()'})"
            )

        self.before.append(f"    {name} = []")
        self.emitter.search(leaves, {}, frozenset(table.params), self.before, 1, found)
        self.after.append(f"    for {', '.join(names) or '_'} in {name}:")
        self.after += self.stores.apply(table, names, adding, 2)
