"""From clauses to Python source: a small query planner.

To find the bindings that satisfy a clause, the planner first *settles* what needs no search: equalities
give variables their values, leaves whose variables all have values become conditions, and a table that is
asked only whether it has some row becomes a look-up in an index. If leaves remain, the one with most values
known is searched, and the rest is planned inside that loop.

In the generated text ``a0, a1...`` are the event's arguments, ``v...`` values out of tables, ``w...``
values that may not have been seen in an event, ``T...`` tables, ``I...`` indexes. Constants of the formula
are bound by name; no data enters the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

from attrs import define, field

from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Neg, Term, Var

from . import pairs
from .clauses import Clause, clauses
from .core import After, Arg, Compare, Equal, Event, Exists, Guard, In, Node, Not, Old, free, term_variables
from .lower import Table, Unsupported

Values = dict[Var, str]
Found = Callable[[Values, list[str], int], None]


def row(parts: list[str]) -> str:
    """Return the source of a row or key: bare if it is one value."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


@define
class Emitter:
    """Writes conditions and searches; remembers which indexes they need."""

    tables: list[Table]
    implied: Callable[[Node], Iterator[Node]] | None = None
    names: dict[str, Any] = field(factory=dict)
    indexes: dict[tuple[int, tuple[int, ...]], str] = field(factory=dict)
    functions: list[str] = field(factory=list)
    needs: set[str] = field(factory=set)
    #: tables that keep the position at which each row came, and cursors into them (see `pairs`)
    timed: set[int] = field(factory=set)
    cursors: dict[tuple[int, int], str] = field(factory=dict)
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
            return f"T{table}"
        return self.indexes.setdefault((table, positions), f"I{table}_" + "_".join(map(str, positions)))

    def cursor(self, first: int, inside: int) -> str:
        """Return the name of the cursor to the first row of a table that is not in another one."""
        return self.cursors.setdefault((first, inside), f"C{first}_{inside}")

    # terms and conditions

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
        return f"elements({self.term(leaf.parts[1], values)}, {leaf.parts[0].name!r})"

    def member(self, leaf: Node, values: Values) -> str:
        """Return the condition that a row is in a table."""
        number, alive, *args = leaf.parts
        if self.tables[number].product is not None:
            return pairs.member(self, leaf, values)
        key = row([self.term(a, values) for a in args])
        table = self.index(number, ())
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

    # settling

    def settle(
        self, leaves: list[Node], values: Values, wanted: frozenset[Var]
    ) -> tuple[list[Node], Values, list[str]]:
        """Return the leaves that need a search, the values known, and the conditions found."""
        values, tests, leaves = dict(values), [], list(leaves)
        moved = True
        while moved:
            moved = False
            for leaf in sorted(leaves, key=_cost):
                if leaf in leaves and (text := self.settled(leaf, leaves, values, wanted)) is not None:
                    tests += [text] if text else []
                    leaves.remove(leaf)
                    moved = True
        return leaves, values, tests

    def settled(self, leaf: Node, leaves: list[Node], values: Values, wanted: frozenset[Var]) -> str | None:
        """Return the condition of one leaf ("" for none), or None if it must wait."""
        if isinstance(leaf, Equal) or (isinstance(leaf, Compare) and leaf.parts[0] == "=="):
            left, right = leaf.parts[-2:]
            for a, b in ((left, right), (right, left)):
                if isinstance(a, Var) and a not in values and self.knows(b, values):
                    return self.bind(a, b, values)
        if isinstance(leaf, Guard) and values.get(leaf.parts[1], "-")[0] in "av" and leaf.parts[0] == 0:
            return ""
        if all(v in values for v in free(leaf)):
            return self.test(leaf, values)
        alone = [v for v in free(leaf) if v not in values]
        shared = [o for o in leaves if o is not leaf and not set(alone).isdisjoint(free(o))]
        if not wanted.isdisjoint(alone):
            return None
        if isinstance(leaf, Old) and self.tables[leaf.parts[0]].product is not None:
            return pairs.settled(self, leaf, shared, leaves, values)
        if isinstance(leaf, Old) and not leaf.parts[1] and all(leaf.parts.count(v) == 1 for v in alone):
            if len(shared) == 1 and len(alone) == 1:
                return self.meeting(leaf, shared[0], leaves, values)
            return None if shared else self.some(leaf, values)
        if isinstance(leaf, Guard) and not shared:
            self.needs |= {"N", "SEEN"}
            return f"SEEN and next(iter(SEEN.values())) <= N[0] - {leaf.parts[0]}"
        return None

    def bind(self, variable: Var, term: Term, values: Values) -> str:
        """Give a variable the value of a term; return the condition that makes the value usable."""
        text = self.term(term, values)
        values[variable] = text if re.fullmatch(r"\w+", text) else f"({text})"
        return ""

    def lookup(self, leaf: Node, values: Values) -> tuple[tuple[int, ...], str]:
        """Return the columns of a table whose values are known, and the key that they form."""
        number, _, *args = leaf.parts
        known = tuple(i for i, a in enumerate(args) if self.knows(a, values))
        return known, row([self.term(args[i], values) for i in known]) if known else ""

    def some(self, leaf: Node, values: Values) -> str:
        """Return the condition that a table has some row with the known values."""
        known, key = self.lookup(leaf, values)
        name = self.index(leaf.parts[0], known)
        return f"{key} in {name}" if known else name

    def rows(self, leaf: Node, values: Values) -> str:
        """Return the rows of a table with the known values, without them."""
        known, key = self.lookup(leaf, values)
        name = self.index(leaf.parts[0], known)
        return f"{name}.get({key}, NONE)" if known else name

    def meeting(self, leaf: Node, other: Node, leaves: list[Node], values: Values) -> str | None:
        """Return the condition that two tables have a common value, or one a value that the other lacks."""
        negative = isinstance(other, Not)
        twin = other.parts[0] if negative else other
        if (
            not isinstance(twin, Old)
            or twin.parts[1]
            or sum(not self.knows(a, values) for a in twin.parts[2:]) != 1
        ):
            return None
        if any(self.tables[o.parts[0]].bounds or self.tables[o.parts[0]].product for o in (leaf, twin)):
            return None
        leaves.remove(other)
        mine, theirs = self.rows(leaf, values), self.rows(twin, values)
        return f"not {mine} <= {theirs}" if negative else f"not {mine}.isdisjoint({theirs})"

    # searching

    def search(
        self,
        leaves: list[Node],
        values: Values,
        wanted: frozenset[Var],
        out: list[str],
        at: int,
        found: Found,
    ) -> None:
        """Write nested loops that reach ``found`` once for each way to satisfy the leaves (some may repeat)."""
        leaves, values, tests = self.settle(leaves, values, wanted)
        at = self.condition(tests, out, at)
        if not leaves:
            return found(values, out, at)
        leaf = self.pick(leaves, values)
        rest, values = [o for o in leaves if o is not leaf], dict(values)
        tests, at = (
            (self.recall(leaf, values), at)
            if isinstance(leaf, Event)
            else self.loop(leaf, rest, values, out, at)
        )
        at = self.condition(tests, out, at)
        self.search(rest, values, wanted, out, at, found)
        return None

    def condition(self, tests: list[str], out: list[str], at: int) -> int:
        """Write an if; return the new indentation."""
        if tests:
            out.append("    " * at + f"if {' and '.join(tests)}:")
        return at + bool(tests)

    def pick(self, leaves: list[Node], values: Values) -> Node:
        """Return the leaf to search next: an earlier event, the table with most columns known, a domain, the values seen."""

        def rank(leaf: Node) -> tuple[int, int]:
            if isinstance(leaf, Event):
                return 0, 0
            if isinstance(leaf, Old):
                unknown = sum(not self.knows(a, values) for a in leaf.parts[2:])
                known = len(leaf.parts) - 2 - unknown
                if self.tables[leaf.parts[0]].product is not None:
                    return 2, 99
                return (1, unknown) if known else (2, unknown)
            if isinstance(leaf, In) and self.knows(leaf.parts[1], values):
                return 1, 0
            return (3, 0) if isinstance(leaf, Guard) else (9, 0)

        best = min(leaves, key=rank)
        if rank(best)[0] == 9:
            missing = next(v for v in free(best) if v not in values)
            raise Unsupported(f"nothing gives {missing!r} a value in {best!r}")
        return best

    def recall(self, leaf: Node, values: Values) -> list[str]:
        """Return the conditions under which an earlier event matches, and give variables its arguments."""
        depth, name, arity, *args = leaf.parts
        self.needs.add(f"P{depth}")
        event = f"P[{depth - 1}]"
        tests = [f"{event}[0] == {name!r}", f"len({event}) == {arity + 1}"]
        for i, arg in enumerate(args):
            if self.knows(arg, values):
                tests.append(f"{event}[{i + 1}] == {self.term(arg, values)}")
            else:
                values[arg] = f"{event}[{i + 1}]"
        return tests

    def loop(
        self, leaf: Node, rest: list[Node], values: Values, out: list[str], at: int
    ) -> tuple[list[str], int]:
        """Write a loop over a table, a domain or the values seen; return conditions on its rows and the indentation."""
        if isinstance(leaf, Old):
            plain = self.tables[leaf.parts[0]].product is None
            return (
                self.scan(leaf, rest, values, out, at) if plain else pairs.scan(self, leaf, values, out, at)
            )
        if isinstance(leaf, In):
            values[leaf.parts[0]] = name = self.new("w")
            out.append(
                "    " * at
                + f"for {name} in {self.collection(leaf, {k: v for k, v in values.items() if v != name})}:"
            )
            return [], at + 1
        values[leaf.parts[1]] = name = self.new("v")
        self.needs |= {"N", "SEEN"}
        out.append("    " * at + f"for {name}, first in SEEN.items():")
        return [f"first <= N[0] - {leaf.parts[0]}"], at + 1

    def scan(
        self, leaf: Node, rest: list[Node], values: Values, out: list[str], at: int
    ) -> tuple[list[str], int]:
        """Write a loop over the rows of a table with the known values."""
        number, alive, *args = leaf.parts
        known, source = (
            self.lookup(leaf, values)[0],
            self.rows(leaf, values) + self.without(leaf, rest, values),
        )
        names: list[str] = []
        tests: list[str] = []
        for arg in (a for i, a in enumerate(args) if i not in known):
            names.append(self.new("v"))
            if arg in values:
                tests.append(f"{names[-1]} == {values[arg]}")
            else:
                values[arg] = names[-1]
        out.append("    " * at + f"for {', '.join(names)} in {source}:")
        if alive:
            tests.append(self.member(leaf, values))
        return tests, at + 1

    def without(self, leaf: Node, rest: list[Node], values: Values) -> str:
        """Return the source that takes all rows out of a set at once which meet a known set, and drop that condition.

        "y such that no x has a(x) and b(x, y)" is the set of y less those that an index of b gives for each
        x of a.
        """
        unknown = [a for a in leaf.parts[2:] if not self.knows(a, values)]
        if len(unknown) != 1 or self.tables[leaf.parts[0]].bounds is not None:
            return ""
        for other in rest:
            found = (
                clauses(other.parts[0], self.implied)
                if isinstance(other, Not) and isinstance(other.parts[0], Exists)
                else []
            )
            for a, b in permutations(found[0]) if len(found) == 1 and len(found[0]) == 2 else ():
                if text := self.meets(a, b, unknown[0], values):
                    rest.remove(other)
                    return text
        return ""

    def meets(self, a: Node, b: Node, row: Var, values: Values) -> str:
        """Return the source of a set less the rows that have a common value in b with a, or nothing if they are not of that form."""
        if not all(
            isinstance(o, Old) and not o.parts[1] and not self.tables[o.parts[0]].product for o in (a, b)
        ):
            return ""
        first = [v for v in a.parts[2:] if not self.knows(v, values)]
        second = [v for v in b.parts[2:] if not self.knows(v, values)]
        if (
            len(first) != 1
            or first[0] is row
            or sorted(map(repr, second)) != sorted(map(repr, (row, first[0])))
        ):
            return ""
        name = self.new("v")
        return (
            f".difference(*[{self.rows(b, {**values, first[0]: name})} for {name} in {self.rows(a, values)}])"
        )

    # quantifiers

    def exists(self, node: Node, values: Values) -> str:
        """Return the condition that some binding satisfies a node."""
        options = sorted(
            (self.option(list(c), values) for c in clauses(node, self.implied)),
            key=lambda o: (o[0] == "q", len(o)),
        )
        return f"({' or '.join(options)})" if options else "False"

    def option(self, leaves: list[Node], values: Values) -> str:
        """Return the condition that some binding satisfies a clause: an expression, or the call of a function that searches."""
        left, _, tests = self.settle(leaves, values, frozenset())
        if not left:
            return " and ".join(tests) or "True"
        body: list[str] = []
        self.search(
            leaves, values, frozenset(), body, 1, lambda v, out, at: out.append("    " * at + "return True")
        )
        return self.function(body, "return False")

    def function(self, body: list[str], last: str) -> str:
        """Define a function with this body; return its call."""
        text = "\n".join(body)
        inner = set(re.findall(r"\b[vw]\d+\b", " ".join(re.findall(r"\bfor (.*?) in ", text))))
        given = sorted(set(re.findall(r"\b[avw]\d+\b", text)) - inner)
        name = self.new("q")
        call = f"({', '.join(['S', 'raw', 'now', *given])})"
        self.functions.append("\n".join([f"def {name}{call}:", *unpack(text), text, f"    {last}"]))
        return name + call


def unpack(text: str) -> list[str]:
    """Return the lines that take the containers used by a text out of the state."""
    used = sorted(set(re.findall(r"\b(?:[TIQLFRC]\d+\w*|SEEN|[NP](?=\[))", text)))
    return [f"    {name} = S[{name!r}]" for name in used]


def _cost(leaf: Node) -> int:
    """Return how late a leaf should be tested."""
    if isinstance(leaf, Not):
        return 3 if isinstance(leaf.parts[0], Exists) else 1
    return 0 if isinstance(leaf, Equal) else 1 if isinstance(leaf, Compare | After | Event) else 2


__all__ = ["Clause", "Emitter", "row", "unpack"]
