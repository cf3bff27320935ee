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

Columns = tuple[int, ...]


@define
class Updates:
    """Writes the changes of tables for one kind of event."""

    emitter: Emitter
    #: indexes of each table, and the tables whose changes are to be recorded
    indexes: dict[int, list[tuple[Columns, str]]]
    watched: frozenset[int]
    #: tables whose rows keep the position at which they came
    timed: frozenset[int] = frozenset()
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
        self.after += self.apply(table, columns, adding, at)

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
        self.after += self.apply(table, names, adding, 2)

    def apply(self, table: Table, columns: list[str], adding: bool, at: int) -> list[str]:
        """Return the lines that add or remove one row."""
        lines = self.add(table, columns) if adding else self.remove(table, columns)
        return ["    " * at + line for line in lines]

    def add(self, table: Table, columns: list[str]) -> list[str]:
        """Return the lines that add a row."""
        n, key = table.number, row(columns) if columns else "()"
        if table.product is not None:
            return [f"L{n}[{key}] = N[0]"]
        put = (
            [f"T{n}.add({key})"]
            if table.bounds is None
            else [f"T{n}[{key}] = now", f"Q{n}.append((now, {key}))"]
        )
        news = []
        for known, name in self.indexes.get(n, ()):
            k, rest = self.split(columns, known)
            news += [
                f"if {k} in {name}:",
                f"    {name}[{k}].add({rest})",
                "else:",
                f"    {name}[{k}] = {{{rest}}}",
            ]
        if n in self.watched:
            news.append(f"d{n}.append({key})")
        if n in self.timed:
            news += [f"F{n}[{key}] = N[0]", f"R{n}.append({key})"]
        return put if not news else [f"if {key} not in T{n}:", *("    " + line for line in news), *put]

    def remove(self, table: Table, columns: list[str]) -> list[str]:
        """Return the lines that remove a row, if it is there."""
        n, key = table.number, row(columns) if columns else "()"
        gone = [f"T{n}.remove({key})" if table.bounds is None else f"del T{n}[{key}]"]
        for known, name in self.indexes.get(n, ()):
            k, rest = self.split(columns, known)
            gone += [f"s = {name}[{k}]", f"s.discard({rest})", "if not s:", f"    del {name}[{k}]"]
        if n in self.watched:
            gone.append(f"d{n}.append({key})")
        if len(gone) == 1 and table.bounds is None:
            return [f"T{n}.discard({key})"]
        return [f"if {key} in T{n}:", *("    " + line for line in gone)]

    def split(self, columns: list[str], known: Columns) -> tuple[str, str]:
        """Return the key and the rest of a row for an index."""
        rest = [c for i, c in enumerate(columns) if i not in known]
        return row([columns[i] for i in known]), row(rest)

    def expire(self, table: Table) -> list[str]:
        """Return the lines that drop rows which have left a table's bounds for good."""
        n = table.number
        names = [self.emitter.new("v") for _ in table.params]
        unpacked = [f"        {', '.join(names)} = r"] if names else []
        lines = [
            f"    while Q{n} and not now - Q{n}[0][0] {self.emitter.within(n)}:",
            f"        t, r = Q{n}.popleft()",
        ]
        lines += [f"        if T{n}.get(r, None) == t:", *("    " + u for u in unpacked)]
        return lines + ["    " * 3 + line for line in self.remove(table, names)]
