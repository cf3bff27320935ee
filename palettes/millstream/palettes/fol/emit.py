"""From clauses to Python source: a small query planner.

To find the bindings that satisfy a clause, the planner first *settles* what needs no search: equalities
give variables their values, leaves whose variables all have values become conditions, and a table that is
asked only whether it has some row becomes a look-up in an index. If leaves remain, the one with most values
known is searched, and the rest is planned inside that loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import define

from millstream.palettes.ltl.terms import Term, Var

from . import joins, pairs
from .clauses import clauses
from .conditions import Conditions, Values, row
from .core import After, Compare, Equal, Event, Exists, Guard, In, Node, Not, Old, free
from .lower import Unsupported

Found = Callable[[Values, list[str], int], None]


@define
class Emitter(Conditions):
    """Writes conditions and searches."""

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
                return joins.meeting(self, leaf, shared[0], leaves, values)
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
        """Write nested loops that reach ``found`` for each way to satisfy the leaves (some may repeat)."""
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
        """Return the leaf to search: an earlier event, a table of which much is known, a domain, the seen."""

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
        """Write a loop over a table, a domain or the values seen; return conditions and indentation."""
        if isinstance(leaf, Old):
            plain = self.tables[leaf.parts[0]].product is None
            return (
                self.scan(leaf, rest, values, out, at) if plain else pairs.scan(self, leaf, values, out, at)
            )
        if isinstance(leaf, In):
            name = self.new("w")
            out.append("    " * at + f"for {name} in {self.collection(leaf, values)}:")
            values[leaf.parts[0]] = name
            return [], at + 1
        values[leaf.parts[1]] = name = self.new("v")
        self.needs |= {"N", "SEEN"}
        out.append("    " * at + f"for {name}, first in SEEN.items():")
        return [f"first <= N[0] - {leaf.parts[0]}"], at + 1

    def scan(
        self, leaf: Node, rest: list[Node], values: Values, out: list[str], at: int
    ) -> tuple[list[str], int]:
        """Write a loop over the rows of a table with the known values."""
        alive, *args = leaf.parts[1:]
        known, _ = self.lookup(leaf, values)
        source = self.rows(leaf, values)
        if less := joins.without(self, leaf, rest, values):
            source = f"set({source}){less}"
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

    # quantifiers

    def exists(self, node: Node, values: Values) -> str:
        """Return the condition that some binding satisfies a node."""
        options = sorted(
            (self.option(list(c), values) for c in clauses(node, self.implied)),
            key=lambda o: (o[0] == "q", len(o)),
        )
        return f"({' or '.join(options)})" if options else "False"

    def option(self, leaves: list[Node], values: Values) -> str:
        """Return the condition that some binding satisfies a clause, perhaps the call of a function."""
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
        given = sorted(set(re.findall(r"\b[acvw]\d+\b", text)) - inner)
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


__all__ = ["Emitter", "Values", "row", "unpack"]
