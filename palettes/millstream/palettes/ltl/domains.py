"""Leaves with variables, and the values over which a quantifier ranges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import define, field

from millstream.processors import ParameterError

from . import formula as fm
from .base import Formula
from .letters import Atoms, Leaves
from .terms import Term
from .walk import subformulas

Env = tuple[tuple[str, Any], ...]


@define
class VariableLeaves(Leaves):
    """Leaves whose source may name variables: each is an argument of the compiled function."""

    variables: set[str] = field(factory=set)

    def variable(self, name: str) -> str:
        """Return the argument that stands for a variable."""
        self.variables.add(name)
        return f"v_{name}"


@define
class Reader:
    """Evaluates leaves and domains on an event, compiled once each."""

    owner: str
    atoms: Atoms
    functions: dict[Any, Any] = field(factory=dict)

    def check(self, formula: Formula) -> None:
        """Compile all leaves and domains, so that mistakes are found at construction."""
        for f in subformulas(formula):
            if isinstance(f, fm.Atom | fm.Test | fm.Predicate):
                self.function(f)
            elif isinstance(f, fm.Quantifier):
                if f.domain is None:
                    raise ParameterError(
                        f"{self.owner}: {f.symbol} {f.variable} ranges over the values seen in the trace; "
                        f"give it a domain ({f.symbol} {f.variable} in ...) or use the fol palette"
                    )
                self.function(f.domain)

    def function(self, what: Formula | Term) -> Any:
        """Return the compiled function of a leaf or term: of the event and the variables by name."""
        found = self.functions.get(what)
        if found is None:
            leaves = VariableLeaves(self.owner, self.atoms)
            source = leaves.term(what) if isinstance(what, Term) else leaves.leaf(what)
            args = "".join(f", v_{name}" for name in sorted(leaves.variables))
            function = eval(f"lambda e{args}: {source}", dict(leaves.names))
            found = self.functions[what] = function, tuple(sorted(leaves.variables))
        return found

    def read(self, what: Formula | Term, event: Any, env: Env) -> Any:
        """Return the value of a leaf or term."""
        function, names = self.function(what)
        if not names:
            return function(event)
        bound = dict(env)
        return function(event, *(bound[name] for name in names))

    def holds(self, leaf: Formula, event: Any, env: Env) -> bool:
        """Return whether a leaf holds."""
        return bool(self.read(leaf, event, env))


def values_of(f: fm.Quantifier, event: Any, env: Env, reader: Reader) -> list[Any]:
    """Return the distinct values of a quantifier's domain on an event."""
    assert f.domain is not None
    domain = reader.read(f.domain, event, env)
    if not isinstance(domain, Iterable):
        raise TypeError(
            f"{f.symbol} {f.variable} in {f.domain!r}: the domain must be iterable, got {domain!r}"
        )
    try:
        return list(dict.fromkeys(domain))
    except TypeError:
        raise TypeError(
            f"{f.symbol} {f.variable} in {f.domain!r}: the values must be hashable, got {domain!r}"
        ) from None
