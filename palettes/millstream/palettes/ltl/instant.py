"""Formulas about the present and the past, compiled to one function of the event.

Boolean connectives become Python expressions; every past operator is a statement that feeds its memory, in
order, so that no memory misses an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, field

from . import formula as fm
from .base import BoundedBinary, BoundedUnary, Formula
from .letters import Leaves
from .past import BoundedSince, Memory, Previous, Since
from .walk import subformulas


@define
class Instant:
    """Source of instant formulas: statements to run first, and an expression for each formula.

    The event is called ``e``, its time ``t``; ``m`` is the list of memories.
    """

    leaves: Leaves
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
                return self.memory(Previous, f"{below[0]}")
            case fm.Span():
                return self.memory(Since, f"not {below[1]}, {below[0]}")
            case fm.O() | fm.H() | fm.S():
                return self.past(f, below)
        return self.leaves.leaf(f)

    def past(self, f: BoundedUnary | BoundedBinary, below: list[str]) -> str:
        """Return the variable that holds the value of a past operator."""
        bounds = f.bounds
        make: Any = Since if bounds is None else (BoundedSince, bounds)
        if isinstance(f, fm.S):
            return self.memory(make, f"{below[0]}, {below[1]}")
        if isinstance(f, fm.O):
            return self.memory(make, f"True, {below[0]}")
        return f"(not {self.memory(make, f'True, not {below[0]}')})"

    def memory(self, make: Any, args: str) -> str:
        """Return the variable that holds what a memory says."""
        k = len(self.memories)
        self.memories.append(make)
        self.lines.append(f"p{k} = m[{k}].step({args}, t)")
        return f"p{k}"

    def fresh(self) -> list[Memory]:
        """Return the memories before the first event."""
        return [make[0](make[1]) if isinstance(make, tuple) else make() for make in self.memories]


def compile_instants(formulas: Sequence[Formula], leaves: Leaves) -> tuple[Any, Instant]:
    """Return a function ``(e, t, m) -> values`` of several instant formulas, and its memories.

    >>> from millstream.palettes.ltl.parser import parse
    >>> f, instant = compile_instants([parse("O[1,2] a"), parse("!a")], Leaves("Doc", None))
    >>> m = instant.fresh()
    >>> [f({"a": a}, t, m) for t, a in enumerate([1, 0, 0, 0])]
    [(False, False), (True, True), (True, True), (False, True)]
    """
    instant = Instant(leaves)
    values = [instant.add(f) for f in formulas]
    body = "".join(f"    {line}\n" for line in instant.lines)
    text = f"def values(e, t, m):\n{body}    return ({''.join(f'bool({v}), ' for v in values)})\n"
    names = dict(leaves.names)
    exec(compile(text, "<instant>", "exec"), names)
    return names["values"], instant
