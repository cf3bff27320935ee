"""How tables are kept: source that puts a row into a table and its indexes, and takes it out.

A table is a set of rows, and an index of it a dict from the values of some columns to the rest of the rows
(the keys of a dict, which Python's garbage collector passes over where it would visit every set). If
everything that is asked of a table goes through an index, the set itself is not kept: the table is *bare*,
and its first index takes its place. A bounded table is a dict from rows to their last time.
"""

from __future__ import annotations

from attrs import frozen

from .emit import Emitter, row
from .lower import Table

Columns = tuple[int, ...]


def split(columns: list[str], known: Columns) -> tuple[str, str]:
    """Return the key and the rest of a row for an index."""
    rest = [c for i, c in enumerate(columns) if i not in known]
    return row([columns[i] for i in known]), row(rest)


def indented(lines: list[str], by: int = 1) -> list[str]:
    """Return lines further to the right."""
    return ["    " * by + line for line in lines]


@frozen
class Stores:
    """Writes changes of single rows."""

    emitter: Emitter
    #: indexes of each table, the tables whose changes are recorded, and those whose rows keep their position
    indexes: dict[int, list[tuple[Columns, str]]]
    watched: frozenset[int]
    timed: frozenset[int]

    def apply(self, table: Table, columns: list[str], adding: bool, at: int) -> list[str]:
        """Return the lines that add or remove one row."""
        return indented(self.add(table, columns) if adding else self.remove(table, columns), at)

    def add(self, table: Table, columns: list[str]) -> list[str]:
        """Return the lines that add a row."""
        n, key = table.number, row(columns) if columns else "()"
        if table.product is not None:
            return [f"L{n}[{key}] = N[0]"]
        if n in self.emitter.bare:
            return self.add_bare(table, columns)
        put = [f"T{n}.add({key})"]
        if table.bounds is not None:
            put = [f"T{n}[{key}] = now", f"Q{n}.append((now, {key}))"]
        news = self.enter(n, columns, self.indexes.get(n, []))
        return [f"if {key} not in T{n}:", *indented(news), *put] if news else put

    def enter(self, n: int, columns: list[str], indexes: list[tuple[Columns, str]]) -> list[str]:
        """Return the lines for a row that is new."""
        news, key = [], row(columns) if columns else "()"
        for known, name in indexes:
            k, rest = split(columns, known)
            news += [f"if {k} in {name}:", f"    {name}[{k}][{rest}] = None"]
            news += ["else:", f"    {name}[{k}] = {{{rest}: None}}"]
        if n in self.watched:
            news.append(f"d{n}.append({key})")
        if n in self.timed:
            news += [f"F{n}[{key}] = N[0]", f"R{n}.append({key})"]
        return news

    def add_bare(self, table: Table, columns: list[str]) -> list[str]:
        """Return the lines that add a row to a table that is only its indexes."""
        (known, name), *others = self.indexes[table.number]
        k, rest = split(columns, known)
        news = self.enter(table.number, columns, others)
        if not news:
            return [
                f"if {k} in {name}:",
                f"    {name}[{k}][{rest}] = None",
                "else:",
                f"    {name}[{k}] = {{{rest}: None}}",
            ]
        first = [f"if s is None: {name}[{k}] = {{{rest}: None}}", f"else: s[{rest}] = None"]
        return [f"s = {name}.get({k})", f"if s is None or {rest} not in s:", *indented(first + news)]

    def remove(self, table: Table, columns: list[str]) -> list[str]:
        """Return the lines that remove a row, if it is there."""
        n, key = table.number, row(columns) if columns else "()"
        indexes = self.indexes.get(n, [])
        if n in self.emitter.bare:
            k, rest = split(columns, indexes[0][0])
            gone = self.leave(n, columns, indexes)
            return [f"if {k} in {indexes[0][1]} and {rest} in {indexes[0][1]}[{k}]:", *indented(gone)]
        gone = self.leave(n, columns, indexes)
        if not gone and table.bounds is None:
            return [f"T{n}.discard({key})"]
        out = f"T{n}.remove({key})" if table.bounds is None else f"del T{n}[{key}]"
        return [f"if {key} in T{n}:", *indented([out, *gone])]

    def leave(self, n: int, columns: list[str], indexes: list[tuple[Columns, str]]) -> list[str]:
        """Return the lines for a row that goes."""
        gone = []
        for known, name in indexes:
            k, rest = split(columns, known)
            gone += [f"s = {name}[{k}]", f"s.pop({rest}, None)", "if not s:", f"    del {name}[{k}]"]
        return [*gone, f"d{n}.append({row(columns) if columns else '()'})"] if n in self.watched else gone

    def clear(self, table: Table, values: dict[int, str]) -> list[str]:
        """Return the lines that remove all rows with some values at once, or none if that takes a loop."""
        n, indexes = table.number, self.indexes.get(table.number, [])
        if (
            n not in self.emitter.bare
            or len(indexes) != 1
            or n in self.watched
            or tuple(values) != indexes[0][0]
        ):
            return []
        return [f"{indexes[0][1]}.pop({row(list(values.values()))}, None)"]

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
