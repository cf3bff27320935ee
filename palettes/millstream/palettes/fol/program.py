"""A formula as a program: for each kind of event a Python function that gives the verdict and moves tables.

The program is written twice: the first time to learn which indexes its searches ask for, the second time to
keep exactly those up to date. All state is a dict of built-in containers, so that it is saved, copied and
compared like any other.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from attrs import define, field, frozen

from .clauses import Clause, clauses
from .core import TRUE, Node, Old, Read, conj, nesting
from .emit import Emitter, unpack
from .kinds import Kind
from .lower import Lowering, Table, Unsupported, restricted
from .normal import Problem
from .pairs import outside
from .reading import field_of
from .stores import Stores
from .updates import Updates
from .views import is_standing, make_view, refresh, sources

State = dict[str, Any]
#: deeper formulas are left to the general evaluator, which does not nest source text
DEPTH = 60


@frozen(eq=False)
class Program:
    """The compiled form of a formula."""

    #: for each event name, ``f(state, event, raw, now)``: whether it holds, or the violating bindings
    steps: dict[str, Callable[..., Any]]
    #: the same for all other names
    other: Callable[..., Any]
    fresh: Callable[[], State]
    source: str
    tables: list[Table]


def elements(value: Any, variable: str) -> list[Any]:
    """Return the elements of a quantifier's domain."""
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"the domain of {variable} is not a collection: {value!r}") from None


def wrong_arity(event: Any, expected: int) -> None:
    """Raise the error of an event with another number of arguments than the formula's predicate."""
    raise ValueError(f"{event[0]} has {len(event) - 1} arguments here, the formula uses it with {expected}")


def compile_problem(problem: Problem, witnesses: bool) -> Program:
    """Return the program of a formula, or raise `Unsupported` if it is outside the fast fragment.

    >>> from millstream.palettes.ltl import parse
    >>> from .normal import normalise
    >>> program = compile_problem(normalise("Verdicts", parse("exit(x) -> O enter(x)")), witnesses=False)
    >>> state = program.fresh()
    >>> [program.steps[e[0]](state, e, e, 0) for e in [("enter", 1), ("exit", 1), ("exit", 2)]]
    [True, True, False]
    """
    if nesting(problem.bad) > DEPTH:
        raise Unsupported("the formula is nested too deeply")
    lowering = Lowering()
    bad = lowering.lower(problem.bad)
    first = _Writer(problem, bad, lowering.tables, witnesses)
    first.write()
    second = first.again()
    return second.write()


@define
class _Writer:
    problem: Problem
    bad: Node
    tables: list[Table]
    witnesses: bool
    indexes: dict[tuple[int, tuple[int, ...]], str] = field(factory=dict)
    timed: frozenset[int] = frozenset()
    bare: dict[int, tuple[tuple[int, ...], str]] = field(factory=dict)
    emitter: Emitter = None  # type: ignore[assignment]
    instant: list[Clause] = field(factory=list)
    views: list[tuple[Table, Node]] = field(factory=list)
    refreshers: list[tuple[list[int], str]] = field(factory=list)

    def write(self) -> Program:
        self.emitter = Emitter(list(self.tables), self.implied, bare=self.bare)
        for clause in clauses(self.bad, self.implied):
            self.sort(clause)
        for view, condition in self.views:
            self.refreshers.append(
                (list(sources(condition)), refresh(view, condition, self.emitter, self.stores()))
            )
        kinds = [Kind(name, arity, self.tables) for name, arity in self.problem.arity.items()]
        texts = [self.step(kind, f"on_{i}") for i, kind in enumerate([*kinds, Kind(None, None, self.tables)])]
        return self.finish([k.name for k in kinds], texts)

    def implied(self, leaf: Node) -> Iterator[Node]:
        """Yield what a leaf implies: who has once done a has once done a or b."""
        if not isinstance(leaf, Read | Old) or leaf.parts[0 if isinstance(leaf, Old) else 1] >= len(
            self.tables
        ):
            return
        table = self.tables[leaf.parts[0] if isinstance(leaf, Old) else leaf.parts[1]]
        for other in self.tables:
            weaker = table.start in other.start.parts and other.keep is TRUE and table.keep is TRUE
            if weaker and other.bounds is table.bounds is None and type(other.start).__name__ == "Or":
                if isinstance(leaf, Old):
                    yield Old(other.number, *leaf.parts[1:])
                else:
                    yield Read(leaf.parts[0], other.number, *leaf.parts[2:])

    def sort(self, clause: Clause) -> None:
        """Keep a condition as a view if it is standing and takes a search."""
        if is_standing(clause, self.tables):
            view, condition = make_view(clause, len(self.tables) + len(self.views))
            left, _, _ = self.emitter.settle(list(clauses(condition)[0]), {}, frozenset())
            if left and set(view.params) <= restricted(conj(*(p for p in clause if isinstance(p, Read)))):
                self.views.append((view, condition))
                self.emitter.tables.append(view)
                return
        self.instant.append(clause)

    def again(self) -> _Writer:
        """Return the writer of the final text, which knows what the first one asked for."""
        used = self.emitter
        bare = {}
        for table in self.tables:
            mine = [(known, name) for (n, known), name in used.indexes.items() if n == table.number]
            kept = table.bounds is not None or {table.number} & (used.whole | used.timed)
            if mine and not kept and table.product is None:
                bare[table.number] = mine[0]
        timed = frozenset(used.timed)
        return _Writer(self.problem, self.bad, self.tables, self.witnesses, used.indexes, timed, bare)

    def stores(self) -> Stores:
        by_table: dict[int, list[tuple[tuple[int, ...], str]]] = {}
        for (number, known), name in self.indexes.items():
            by_table.setdefault(number, []).append((known, name))
        watched = frozenset(n for _, condition in self.views for n in sources(condition))
        return Stores(self.emitter, by_table, watched, self.timed)

    def step(self, kind: Kind, name: str) -> list[str]:
        """Return the lines of the function for one kind of event."""
        updates = Updates(self.emitter, self.stores())
        for table in self.tables:
            updates.change(table, kind.removed(table), adding=False)
            updates.change(table, kind.added(table), adding=True)
        verdict = self.verdict(kind)
        lines = [*self.arguments(kind), *verdict, *updates.before, *updates.after]
        for table in self.tables:
            lines += updates.stores.expire(table) if table.bounds is not None else []
        lines += self.changed(lines)
        text = "\n".join(lines)
        return [f"def {name}(S, e, raw, now):", text, self.result()]

    def arguments(self, kind: Kind) -> list[str]:
        if not kind.arity:
            return [] if kind.arity is None else ["    if len(e) != 1: wrong_arity(e, 0)"]
        names = ", ".join(f"a{i}" for i in range(kind.arity))
        return [
            "    try:",
            f"        _, {names} = e",
            "    except ValueError:",
            f"        wrong_arity(e, {kind.arity})",
        ]

    def verdict(self, kind: Kind) -> list[str]:
        found = [c for part in self.instant for c in clauses(kind.at(conj(*part)), self.implied)]
        if not self.witnesses:
            options = [self.emitter.option(list(c), {}) for c in found]
            return (
                [f"    ok = not ({' or '.join(sorted(options, key=len))})"] if options else ["    ok = True"]
            )
        out = ["    ok = []"]
        for clause in found:
            self.emitter.search(list(clause), {}, self.outer(clause), out, 1, self.witness)
        return out

    def outer(self, clause: Clause) -> frozenset[Any]:
        return frozenset(self.problem.outer)

    def witness(self, values: Any, out: list[str], at: int) -> None:
        items = ", ".join(f"{v.name!r}: {values[v]}" for v in self.problem.outer if v in values)
        out.append("    " * at + f"ok.append({{{items}}})")

    def changed(self, lines: list[str]) -> list[str]:
        """Return the lines after the tables have changed: the views."""
        text, out = "\n".join(lines), []
        for numbers, call in self.refreshers:
            changing = [n for n in numbers if re.search(rf"\bd{n}\b", text)]
            if changing:
                deltas = [f"    d{n} = []" for n in numbers]
                lines[0:0] = [d for d in deltas if d not in lines]
                out += [f"    if {' or '.join(f'd{n}' for n in changing)}:", f"        {call}"]
        return out

    def result(self) -> str:
        if self.witnesses:
            lines = []
            for view, _ in self.views:
                names = [f"v{i}" for i in range(len(view.params))]
                items = ", ".join(f"{v.name!r}: {n}" for v, n in zip(view.params, names, strict=True))
                lines.append(f"    ok += [{{{items}}} for {', '.join(names) or '_'} in T{view.number}]")
            return "\n".join([*lines, "    return ok"])
        return "    return " + " and ".join(["ok", *(f"not T{view.number}" for view, _ in self.views)])

    def finish(self, names: list[Any], texts: list[list[str]]) -> Program:
        needs = self.emitter.needs
        depth = max((int(n[1:]) for n in needs if re.fullmatch(r"P\d+", n)), default=0)
        before = (
            ["    pos = N[0]", "    for x in e[1:]:", "        SEEN.setdefault(x, pos)"]
            if "SEEN" in needs
            else []
        )
        after = ["    N[0] += 1"] if needs & {"N", "SEEN"} else []
        after += [f"    P.insert(0, tuple(e)); del P[{depth}:]"] if depth else []
        parts = list(self.emitter.functions)
        for head, body, result in texts:
            whole = "\n".join(filter(None, [*before, body, *after, result]))
            parts.append("\n".join([head, *unpack(whole + (" P[" if depth else "")), whole]))
        source = "\n\n\n".join(parts) + "\n"
        space: dict[str, Any] = {
            "field": field_of, "elements": elements, "wrong_arity": wrong_arity, "outside": outside,
            "NEVER": -inf, "INF": inf, "NONE": {}, **self.emitter.names,
        }  # fmt: skip
        exec(compile(source, "<first-order formula>", "exec"), space)
        steps = {str(n): space[f"on_{i}"] for i, n in enumerate(names)}
        return Program(steps, space[f"on_{len(names)}"], self.fresh(depth), source, self.tables)

    def fresh(self, depth: int) -> Callable[[], State]:
        """Return the function that makes an initial state."""
        tables = [*self.tables, *(view for view, _ in self.views)]
        indexes, bare = list(self.indexes.values()), self.bare
        counted = bool(self.emitter.needs & {"N", "SEEN"})
        cursors = list(self.emitter.cursors.values())

        def make() -> State:
            kept = [t for t in tables if t.number not in bare and t.product is None]
            made: State = {f"T{t.number}": set() if t.bounds is None else {} for t in kept}
            made.update({f"Q{t.number}": deque() for t in tables if t.bounds is not None})
            made.update({name: {} for name in indexes})
            made.update({f"L{t.number}": {} for t in tables if t.product is not None})
            for n in self.timed:
                made.update({f"F{n}": {}, f"R{n}": []})
            made.update({name: [0] for name in cursors})
            if counted:
                made.update(N=[0], SEEN={})
            if depth:
                made["P"] = [(None,)] * depth
            return made

        return make
