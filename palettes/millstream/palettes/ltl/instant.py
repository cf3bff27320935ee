"""Formulas about the present and the past, compiled to one function of the event.

Boolean connectives become Python expressions; every past operator is a statement that feeds its memory, in
order, so that no memory misses an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from attrs import define, field

from . import formula as fm
from .base import BoundedBinary, BoundedUnary, Formula
from .bounds import Bounds
from .letters import Leaves
from .past import BoundedSince, CountedSince, Memory, Previous, Since
from .walk import subformulas


@define
class Instant:
    """Source of instant formulas: statements to run first, and an expression for each formula.

    The event is called ``e``, its time ``t``; ``m`` is the list of memories, each of which gets a name of its
    own before the first event (`begin`). If `counted`, times are positions.
    """

    leaves: Leaves
    counted: bool
    lines: list[str] = field(factory=list)
    memories: list[Any] = field(factory=list)
    known: dict[Formula, str] = field(factory=dict)

    def add(self, formula: Formula) -> str:
        """Return the expression of a formula, adding the statements that it needs."""
        for f in subformulas(formula):
            if f not in self.known:
                text = self.source(f, [self.known[c] for c in f.children])
                if len(text) > 500:  # Python's parser does not take any depth
                    self.lines.append(f"q{len(self.known)} = {text}")
                    text = f"q{len(self.known)}"
                self.known[f] = text
        return self.known[formula]

    def source(self, f: Formula, below: list[str]) -> str:
        """Return the expression of one operator."""
        match f:
            case fm.Truth():
                return repr(f.value)
            case fm.Not():
                return f"(not {below[0]})"
            case fm.And():
                return f"({below[0]} and {below[1]})"
            case fm.Or():
                return f"({below[0]} or {below[1]})"
            case fm.Implies():
                return f"(not {below[0]} or {below[1]})"
            case fm.Iff():
                return f"((not {below[0]}) == (not {below[1]}))"
            case fm.Y():
                return self.memory(Previous, "{p} = {m}.last", f"{{m}}.last = bool({below[0]})")
            case fm.Span():
                return self.since(f"not {below[1]}", below[0], None)
            case fm.O() | fm.H() | fm.S():
                return self.past(f, below)
        return self.leaves.leaf(f)

    def past(self, f: BoundedUnary | BoundedBinary, below: list[str]) -> str:
        """Return the variable that holds the value of a past operator."""
        if isinstance(f, fm.S):
            return self.since(below[0], below[1], f.bounds)
        if isinstance(f, fm.O):
            return self.since("True", below[0], f.bounds)
        return f"(not {self.since('True', f'(not {below[0]})', f.bounds)})"

    def since(self, a: str, b: str, bounds: Bounds | None) -> str:
        """Return the variable that holds the value of ``a S b``."""
        if bounds is None:
            held = "{m}.held" if a == "True" else f"({a} and {{m}}.held)"
            return self.memory(Since, f"{{p}} = {{m}}.held = bool({b} or {held})")
        if not self.counted:
            return self.memory((BoundedSince, bounds), f"{{p}} = {{m}}.step({a}, {b}, t)")
        low, high = bounds.whole()
        lines = [f"if not {a}: {{m}}.waiting.clear(); {{m}}.last = never"] if a != "True" else []
        if low == 0:
            lines.append(f"if {b}: {{m}}.last = t")
        else:
            lines.append(f"if {b}: {{m}}.waiting.append(t)")
            lines.append(
                f"if {{m}}.waiting and {{m}}.waiting[0] <= t - {low}: {{m}}.last = {{m}}.waiting.popleft()"
            )
        value = f"t - {{m}}.last <= {high}" if high is not None else "{m}.last >= 0"
        return self.memory(CountedSince, *lines, f"{{p}} = {value}")

    def memory(self, make: Any, *lines: str) -> str:
        """Return the variable that holds what a memory says."""
        k = len(self.memories)
        self.memories.append(make)
        self.leaves.names["never"] = -inf
        self.lines += [line.replace("{p}", f"p{k}").replace("{m}", f"m{k}") for line in lines]
        return f"p{k}"

    @property
    def begin(self) -> list[str]:
        """The statements that give the memories their names."""
        return [f"m{k} = m[{k}]" for k in range(len(self.memories))]

    def fresh(self) -> list[Memory]:
        """Return the memories before the first event."""
        return [make[0](make[1]) if isinstance(make, tuple) else make() for make in self.memories]


def compile_instants(formulas: Sequence[Formula], leaves: Leaves, counted: bool) -> tuple[Any, Instant]:
    """Return a function ``(e, t, m) -> values`` of several instant formulas, and its memories.

    >>> from millstream.palettes.ltl.parser import parse
    >>> f, instant = compile_instants([parse("O[1,2] a"), parse("!a")], Leaves("Doc", None), True)
    >>> m = instant.fresh()
    >>> [f({"a": a}, t, m) for t, a in enumerate([1, 0, 0, 0])]
    [(False, False), (True, True), (True, True), (False, True)]
    """
    instant = Instant(leaves, counted)
    values = [instant.add(f) for f in formulas]
    body = "".join(f"    {line}\n" for line in [*instant.begin, *instant.lines])
    text = f"def values(e, t, m):\n{body}    return ({''.join(f'bool({v}), ' for v in values)})\n"
    names = dict(leaves.names)
    exec(compile(text, "<instant>", "exec"), names)
    return names["values"], instant
