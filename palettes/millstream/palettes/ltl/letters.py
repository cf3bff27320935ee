"""What the leaves of a formula read in an event, as Python source.

All leaves of a formula are evaluated inside one generated function, so that a field is one look-up and a
comparison is one instruction. Values are bound by name, never printed into the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from millstream.processors import Expression, ParameterError, source

from . import formula as fm
from .base import Formula
from .terms import Arith, Const, Field, Get, Neg, Term, Var
from .values import post_order

Atoms = Mapping[str, Any] | None


def get_field(value: Any, name: str) -> Any:
    """Return a field of an event or of a value: a key of a dict, else an attribute."""
    return value[name] if value.__class__ is dict else getattr(value, name)


def is_event(event: Any, name: str, *args: Any) -> bool:
    """Return whether an event is ``(name, *args)``, the default meaning of a predicate."""
    return bool(event[0] == name and tuple(event[1:]) == args)


@define
class Leaves:
    """Source of leaves over an event, collecting the objects that the source names."""

    owner: str
    atoms: Atoms
    #: how the event is called in the source, and how a bound name is written
    event: str = "e"
    written: str = "{}"
    names: dict[str, Any] = field(factory=dict)

    def bind(self, value: object) -> str:
        """Return a name for an object."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return self.written.format(name)

    def leaf(self, f: Formula) -> str:
        """Return the source of one leaf."""
        match f:
            case fm.Atom():
                return self.atom(f.name)
            case fm.Test():
                return f"({self.term(f.left)} {f.op} {self.term(f.right)})"
            case fm.Predicate():
                return self.predicate(f)
        raise ParameterError(f"{self.owner}: {f!r} is not a leaf")

    def atom(self, name: str) -> str:
        """Return the source of an atom; without ``atoms`` it is the event's field of that name."""
        if self.atoms is None:
            return self.term(Field(name))
        if name not in self.atoms:
            known = ", ".join(sorted(self.atoms)) or "none"
            raise ParameterError(f"{self.owner}: unknown atom {name!r}; the atoms given are: {known}")
        meaning = self.atoms[name]
        if isinstance(meaning, Expression):
            return source(meaning, (self.event,), self.bind)
        if not callable(meaning):
            raise ParameterError(
                f"{self.owner}: atom {name!r} must be a function or an expression, got {meaning!r}"
            )
        return f"{self.bind(meaning)}({self.event})"

    def predicate(self, f: fm.Predicate) -> str:
        """Return the source of a predicate with constant arguments."""
        args = ", ".join(self.term(arg) for arg in f.args)
        if self.atoms is not None and f.name in self.atoms:
            return f"{self.bind(self.atoms[f.name])}({self.event}, {args})"
        return f"{self.bind(is_event)}({self.event}, {self.bind(f.name)}, {args})"

    def term(self, term: Term) -> str:
        """Return the source of a term."""
        done: dict[Any, str] = {}
        parts = post_order(term)
        if len(parts) > 80:
            raise ParameterError(
                f"{self.owner}: a term of {len(parts)} parts is too long; compute it in an atom"
            )
        for t in parts:
            match t:
                case Const():
                    done[t] = self.bind(t.value)
                case Field():
                    e = self.event
                    done[t] = f"({e}[{t.name!r}] if {e}.__class__ is dict else {e}.{t.name})"
                case Get():
                    done[t] = f"{self.bind(get_field)}({done[t.base]}, {t.name!r})"
                case Arith():
                    done[t] = f"({done[t.left]} {t.op} {done[t.right]})"
                case Neg():
                    done[t] = f"(-{done[t.operand]})"
                case Var():
                    done[t] = self.variable(t.name)
        return done[term]

    def variable(self, name: str) -> str:
        """Return the source of a variable; here there are none."""
        raise ParameterError(f"{self.owner}: variable {name!r} is not bound by a quantifier")

    def valuation(self, letters: Sequence[Formula]) -> str:
        """Return the source of the number whose bit k says whether letter k holds."""
        bits = [f"({1 << k} if {self.leaf(f)} else 0)" for k, f in enumerate(letters)]
        return " | ".join(bits) or "0"

    def function(self, source: str) -> Callable[[Any], Any]:
        """Return a function of the event for a source."""
        return eval(f"lambda {self.event}: {source}", dict(self.names))  # type: ignore[no-any-return]


def shared(sources: Sequence[str], event: str, name: str) -> tuple[list[str], list[str]]:
    """Return statements that read a field once, and the sources using them.

    Only for fields with which a source begins: that one is read in any case. `name` is a pattern for names.

    >>> lines, sources = shared(["(e['x'] if e.__class__ is dict else e.x)"] * 2, "e", "k{}")
    >>> lines, sources
    (["k0 = (e['x'] if e.__class__ is dict else e.x)"], ['k0', 'k0'])
    """
    e = re.escape(event)
    read = re.compile(rf"\({e}\['(\w+)'\] if {e}\.__class__ is dict else {e}\.\1\)")
    texts, lines = "\n".join(sources), list[str]()
    for found in [read.match(text.replace("((", "(")) for text in sources]:
        if found is not None and texts.count(found[0]) > 1:
            place = name.format(len(lines))
            lines.append(f"{place} = {found[0]}")
            texts = texts.replace(found[0], place)
    return lines, texts.split("\n") if sources else []


#: up to so many letters, the step is a tree of conditions over attributes n0, n1...; beyond, a table look-up
TREE = 4


def branch(sources: Sequence[str], state: str) -> str:
    """Return the source of the entry of ``state`` for an event: ``state.n5`` if letters 0 and 2 hold.

    >>> branch(["a", "b"], "s")
    '((s.n3 if b else s.n1) if a else (s.n2 if b else s.n0))'
    """
    if len(sources) > TREE:
        bits = " | ".join(f"({1 << k} if {text} else 0)" for k, text in enumerate(sources))
        return f"{state}.row.get({bits})"
    return _tree(sources, state, 0, 0)


def _tree(sources: Sequence[str], state: str, k: int, valuation: int) -> str:
    if k == len(sources):
        return f"{state}.n{valuation}"
    yes, no = (_tree(sources, state, k + 1, valuation | bit << k) for bit in (1, 0))
    return f"({yes} if {sources[k]} else {no})"
