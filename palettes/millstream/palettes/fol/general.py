"""The general evaluator: every subformula's relation, computed anew at each event.

It takes any past formula, restricted or not, deep or not, at a cost per event in the size of the relations
that it holds. The compiler (`program`) takes most formulas that are written in practice; this one takes the
others, and is what it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from attrs import define, field

from millstream.palettes.ltl.terms import ARITHMETIC, Arith, Const, Field, Get, Neg, Var
from millstream.palettes.ltl.values import post_order
from millstream.processors.errors import ParameterError

from . import tries
from .core import (
    And,
    Compare,
    Event,
    Exists,
    Guard,
    In,
    Node,
    Not,
    Or,
    Prev,
    Since,
    Truth,
    conj,
    free,
    term_variables,
)
from .lower import restricted
from .normal import Problem, nnf
from .program import Program, State, elements, wrong_arity
from .reading import field_of

OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def general_program(owner: str, problem: Problem, witnesses: bool) -> Program:
    """Return the evaluator of a formula in the shape of a compiled program."""
    evaluator = _Evaluator(owner, problem, witnesses)
    return Program({}, evaluator.step, evaluator.fresh, "", [])


@define
class _Evaluator:
    owner: str
    problem: Problem
    witnesses: bool
    order: list[Node] = field(factory=list)
    place: dict[Node, int] = field(factory=dict)
    level: dict[Var, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        bad = nnf(self.problem.bad)
        self.order = [n for n in post_order(bad) if isinstance(n, Node)]
        self.place = {n: i for i, n in enumerate(self.order)}
        variables = [n for n in post_order(bad) if isinstance(n, Var)]
        self.level = {v: i for i, v in enumerate(dict.fromkeys([*self.problem.outer, *variables]))}
        filters = {p for n in self.order if isinstance(n, And) for p in n.parts if self.is_filter(p)}
        for n in self.order:
            if isinstance(n, And):
                self.check_filters(n)
            elif not isinstance(n, Not) or not isinstance(n.parts[0], Compare):
                for p in n.parts:
                    if isinstance(p, Node) and self.is_filter(p) and p not in filters:
                        self.refuse(p)
        if self.is_filter(bad):
            self.refuse(bad)

    def is_filter(self, node: Node) -> bool:
        """Return whether a comparison has no relation of its own and only selects from others."""
        if isinstance(node, Not):
            node = node.parts[0]
        if not isinstance(node, Compare):
            return False
        op, left, right = node.parts
        if not free(node):
            return False
        plain = (isinstance(left, Var) and not term_variables(right)) or (
            isinstance(right, Var) and not term_variables(left)
        )
        return not (plain and op in ("==", "!="))

    def check_filters(self, node: And) -> None:
        given = restricted(nnf(conj(*(p for p in node.parts if not self.is_filter(p)))))
        for p in node.parts:
            if self.is_filter(p) and not set(free(p)) <= given:
                self.refuse(p)

    def refuse(self, node: Node) -> None:
        compare = node.parts[0] if isinstance(node, Not) else node
        op, left, right = compare.parts
        text = f"{left!r} {op} {right!r}"
        raise ParameterError(
            f"{self.owner}: cannot monitor {text} where no event gives its variables their values; "
            f"add a predicate, as in p(x) & {text}"
        )

    # running

    def fresh(self) -> State:
        memory = {i: () if n.parts[2] else False for i, n in enumerate(self.order) if isinstance(n, Since)}
        memory.update({i: False for i, n in enumerate(self.order) if isinstance(n, Prev)})
        return {"memory": memory, "seen": {}}

    def step(self, state: State, e: Any, raw: Any, now: Any) -> Any:
        """Take one event."""
        arity = self.problem.arity.get(e[0])
        if arity is not None and len(e) != arity + 1:
            wrong_arity(e, arity)
        for value in e[1:]:
            state["seen"].setdefault(value, None)
        done: list[Any] = []
        for i, node in enumerate(self.order):
            done.append(self.value(i, node, done, state, (e, raw, now)))
        bad = done[-1]
        if not self.witnesses:
            return bad is False
        names = {level: v.name for v, level in self.level.items()}
        return [{names[k]: v for k, v in b.items()} for b in tries.satisfying(bad)]

    def value(self, i: int, node: Node, done: list[Any], state: State, event: tuple[Any, Any, Any]) -> Any:
        match node:
            case Truth():
                return node.parts[0]
            case Event():
                return self.event(node, event[0])
            case Guard():
                return tries.values_of(self.level[node.parts[1]], state["seen"])
            case In():
                values = elements(self.term(node.parts[1], event[1], {}), node.parts[0].name)
                return tries.values_of(self.level[node.parts[0]], values)
            case Compare():
                return None if self.is_filter(node) else self.compare(node, event[1])
            case Not():
                below = done[self.place[node.parts[0]]]
                return None if below is None else tries.negated(below)
            case And():
                return self.conjunction(node, done, event[1])
        return self.operator(
            i, node, [done[self.place[p]] for p in node.parts if isinstance(p, Node)], state, event[2]
        )

    def operator(self, i: int, node: Node, below: list[Any], state: State, now: Any) -> Any:
        memory = state["memory"]
        if isinstance(node, Or):
            result = below[0]
            for other in below[1:]:
                result = tries.either(result, other)
            return result
        if isinstance(node, Exists):
            return tries.some(self.level[node.parts[0]], below[0])
        if isinstance(node, Prev):
            before, memory[i] = memory[i], below[0]
            return before
        assert isinstance(node, Since)
        keep, start, bounds = *below, node.parts[2]
        if bounds is None:
            memory[i] = tries.either(start, tries.both(keep, memory[i]))
            return memory[i]

        def times(s: bool, k: bool, old: tuple[Any, ...]) -> tuple[Any, ...]:
            kept = tuple(t for t in old if not bounds.passed(now - t)) if k else ()
            return (*kept, now) if s else kept

        memory[i] = tries.apply(times, start, keep, memory[i])
        return tries.apply(lambda ts: any(bounds.contains(now - t) for t in ts), memory[i])

    def event(self, node: Node, e: Any) -> Any:
        _, name, arity, *args = node.parts
        if e[0] != name:
            return False
        binding: dict[int, Any] = {}
        for arg, value in zip(args, e[1:], strict=True) if arity is not None else ():
            if isinstance(arg, Const):
                if arg.value != value:
                    return False
            elif binding.setdefault(self.level[arg], value) != value:
                return False
        return tries.point(binding)

    def compare(self, node: Node, raw: Any) -> Any:
        op, left, right = node.parts
        if not isinstance(left, Var):
            left, right = right, left
        if not isinstance(left, Var):
            values = [self.term(t, raw, {}) for t in node.parts[1:]]
            return bool(OPERATORS[op](*values))
        found = tries.point({self.level[left]: self.term(right, raw, {})})
        return found if op == "==" else tries.negated(found)

    def conjunction(self, node: Node, done: list[Any], raw: Any) -> Any:
        result: Any = True
        for p in node.parts:
            if not self.is_filter(p):
                result = tries.both(result, done[self.place[p]])
        for p in node.parts:
            if self.is_filter(p):
                result = self.filtered(p, result, raw)
        return result

    def filtered(self, node: Node, relation: Any, raw: Any) -> Any:
        wanted, variables = not isinstance(node, Not), free(node)
        op, left, right = (node if wanted else node.parts[0]).parts

        def keep(*values: Any) -> bool:
            known = dict(zip(variables, values, strict=True))
            return bool(OPERATORS[op](self.term(left, raw, known), self.term(right, raw, known))) is wanted

        return tries.filtered(relation, tuple(self.level[v] for v in variables), keep)

    def term(self, term: Any, raw: Any, known: dict[Var, Any]) -> Any:
        """Return the value of a term."""
        match term:
            case Const():
                return term.value
            case Var():
                return known[term]
            case Field():
                return field_of(raw, term.name)
            case Get():
                return field_of(self.term(term.base, raw, known), term.name)
            case Neg():
                return -self.term(term.operand, raw, known)
            case Arith():
                return ARITHMETIC[term.op](
                    self.term(term.left, raw, known), self.term(term.right, raw, known)
                )
        raise TypeError(f"not a term: {term!r}")
