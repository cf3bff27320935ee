"""Conditions as Python source, over values that are known.

In the generated text ``a0, a1...`` are the event's arguments, ``v...`` values out of tables, ``w...``
values that may not have been seen in an event, ``T...`` tables, ``I...`` indexes. Constants of the formula
are bound by name; no data enters the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, field

from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Neg, Term, Var

from . import pairs
from .core import (
    After,
    Arg,
    Compare,
    Equal,
    Event,
    Exists,
    Guard,
    In,
    Node,
    Not,
    Old,
    plain_name,
    term_variables,
)
from .lower import Table, Unsupported

Values = dict[Var, str]


def row(parts: list[str]) -> str:
    """Return the source of a row or key: bare if it is one value."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


@define
class Conditions:
    """Writes conditions; remembers which indexes they need."""

    tables: list[Table]
    implied: Callable[[Node], Iterator[Node]] | None = None
    names: dict[str, Any] = field(factory=dict)
    indexes: dict[tuple[int, tuple[int, ...]], str] = field(factory=dict)
    functions: list[str] = field(factory=list)
    needs: set[str] = field(factory=set)
    #: tables that keep the position at which each row came, and cursors into them (see `pairs`)
    timed: set[int] = field(factory=set)
    cursors: dict[tuple[int, int], str] = field(factory=dict)
    #: tables asked as a whole, and those that are not kept as a whole, with the index that stands for them
    whole: set[int] = field(factory=set)
    bare: dict[int, tuple[tuple[int, ...], str]] = field(factory=dict)
    count: int = 0

    def new(self, letter: str) -> str:
        """Return a name not used yet."""
        self.count += 1
        return f"{letter}{self.count}"

    def constant(self, value: Any) -> str:
        """Return the source of a constant."""
        if value is None or type(value) in (bool, int):
            return repr(value)
        name = self.new("k")
        self.names[name] = value
        return name

    def index(self, table: int, positions: tuple[int, ...]) -> str:
        """Return the name of the index of a table by some of its columns (the table itself for none)."""
        if not positions:
            self.whole.add(table)
            return f"T{table}"
        return self.indexes.setdefault((table, positions), f"I{table}_" + "_".join(map(str, positions)))

    def cursor(self, first: int, inside: int) -> str:
        """Return the name of the cursor to the first row of a table that is not in another one."""
        return self.cursors.setdefault((first, inside), f"C{first}_{inside}")

    def term(self, term: Term, values: Values) -> str:
        """Return the source of a term."""
        match term:
            case Var():
                return values[term]
            case Arg():
                return f"a{term.parts[0]}"
            case Const():
                return self.constant(term.value)
            case Field():
                self.needs.add("raw")
                return f"field(raw, {term.name!r})"
            case Get():
                return f"field({self.term(term.base, values)}, {term.name!r})"
            case Neg():
                return f"(-{self.term(term.operand, values)})"
            case Arith():
                return f"({self.term(term.left, values)} {term.op} {self.term(term.right, values)})"
        raise Unsupported(f"{term!r} in a comparison")

    def knows(self, term: Term, values: Values) -> bool:
        """Return whether all variables of a term have values."""
        return all(v in values for v in term_variables(term))

    def test(self, leaf: Node, values: Values) -> str:
        """Return the condition of a leaf whose variables have values."""
        if isinstance(leaf, Not):
            inner = leaf.parts[0]
            if isinstance(inner, Exists):
                return f"not {self.exists(inner, values)}"
            text = self.test(inner, values)
            if isinstance(inner, Old) and " in " in text:
                return text.replace(" in ", " not in ")
            return f"not ({text})"
        match leaf:
            case Equal():
                return f"{self.term(leaf.parts[0], values)} == {self.term(leaf.parts[1], values)}"
            case Compare():
                op, left, right = leaf.parts
                return f"{self.term(left, values)} {op} {self.term(right, values)}"
            case In():
                return f"{values[leaf.parts[0]]} in {self.collection(leaf, values)}"
            case Old():
                return self.member(leaf, values)
        return self.past(leaf, values)

    def past(self, leaf: Node, values: Values) -> str:
        """Return the condition of a leaf about earlier events as such."""
        depth = leaf.parts[0]
        if isinstance(leaf, After):
            self.needs.add("N")
            return f"N[0] >= {depth}"
        if isinstance(leaf, Guard):
            self.needs |= {"N", "SEEN"}
            return f"SEEN.get({values[leaf.parts[1]]}, N[0] + 1) <= N[0] - {depth}"
        assert isinstance(leaf, Event)
        self.needs.add(f"P{depth}")
        _, name, arity, *args = leaf.parts
        if arity is None:
            return f"P[{depth - 1}][0] == {name!r}"
        parts = [repr(name), *(self.term(a, values) for a in args)]
        return f"P[{depth - 1}] == ({', '.join(parts)},)"

    def collection(self, leaf: Node, values: Values) -> str:
        """Return the source of a quantifier's domain."""
        return f"elements({self.term(leaf.parts[1], values)}, {plain_name(leaf.parts[0])!r})"

    def member(self, leaf: Node, values: Values) -> str:
        """Return the condition that a row is in a table."""
        number, alive, *args = leaf.parts
        if self.tables[number].product is not None:
            return pairs.member(self, leaf, values)
        key = row([self.term(a, values) for a in args])
        table = f"T{number}"
        if number in self.bare:
            known, name = self.bare[number]
            columns = [self.term(a, values) for a in args]
            rest = row([c for i, c in enumerate(columns) if i not in known])
            return f"{rest} in {name}.get({row([columns[i] for i in known])}, NONE)"
        if not alive:
            return f"{key} in {table}" if args else f"{table}"
        return f"now - {table}.get({key}, NEVER) {self.within(number)}"

    def within(self, number: int) -> str:
        """Return the comparison of a distance with a table's upper bound."""
        self.needs.add("now")
        bounds = self.tables[number].bounds
        assert bounds is not None
        high = "INF" if bounds.unbounded else repr(bounds.high)
        return f"{'<' if bounds.high_open and not bounds.unbounded else '<='} {high}"

    def lookup(self, leaf: Node, values: Values) -> tuple[tuple[int, ...], str]:
        """Return the columns of a table whose values are known, and the key that they form."""
        args = leaf.parts[2:]
        known = tuple(i for i, a in enumerate(args) if self.knows(a, values))
        return known, row([self.term(args[i], values) for i in known]) if known else ""

    def some(self, leaf: Node, values: Values) -> str:
        """Return the condition that a table has some row with the known values."""
        known, key = self.lookup(leaf, values)
        name = self.index(leaf.parts[0], known)
        return f"{key} in {name}" if known else name

    def row_set(self, leaf: Node, values: Values) -> str:
        """Return the same rows as something that compares like a set."""
        text = self.rows(leaf, values)
        return f"{text}.keys()" if text.endswith(")") else text

    def rows(self, leaf: Node, values: Values) -> str:
        """Return the rows of a table with the known values, without them."""
        known, key = self.lookup(leaf, values)
        name = self.index(leaf.parts[0], known)
        return f"{name}.get({key}, NONE)" if known else name

    def exists(self, node: Node, values: Values) -> str:
        """Return the condition that some binding satisfies a node."""
        raise NotImplementedError
