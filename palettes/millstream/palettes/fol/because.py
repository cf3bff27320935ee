"""Why a formula is violated: for each violating binding, the events that made it so.

The positions are found by evaluating the formula for the binding on the events so far, which are kept only
for this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.domains import Env, Reader
from millstream.palettes.ltl.explain import Explainer, Key
from millstream.palettes.ltl.explain import Witness as Reason
from millstream.palettes.ltl.walk import free_variables, subformulas, substitute

from .reading import Kept


class _AnyOther:
    """Stands for any value that no event has."""

    def __repr__(self) -> str:
        return "any other value"


ANY_OTHER = _AnyOther()


@frozen
class Witness:
    """A binding that violates a formula, and what was true or false at which positions so that it does.

    A variable without a value may have any: the formula is violated whatever it is.
    """

    binding: dict[str, Any]
    reasons: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.binding.items())
        return f"[{values}] {'; '.join(map(str, self.reasons))}".rstrip()


@define
class _SeenExplainer(Explainer):
    """Explains formulas whose quantifiers range over the values seen."""

    over: str = "seen"
    first: dict[Any, int] = field(factory=dict)

    def _truth(self, f: Formula, i: int, env: Env) -> tuple[bool | None, tuple[Key, ...]]:
        if not isinstance(f, fm.Quantifier) or f.domain is not None:
            return super()._truth(f, i, env)
        values = [v for v, first in self.first.items() if first <= i or self.over == "all"]
        values += [ANY_OTHER] if self.over == "all" else []
        return self._all(
            isinstance(f, fm.ForAll), [(f.body, i, (*env, (f.variable, v))) for v in values], True
        )


@define
class Explanations:
    """Explains the violations of one formula."""

    owner: str
    formula: Formula
    over: str
    time: Any

    def because(self, events: list[Kept], bindings: list[dict[str, Any]]) -> tuple[Witness, ...]:
        """Return a witness for each of the bindings that violate the formula at the last event."""
        first: dict[Any, int] = {}
        for i, event in enumerate(events):
            for value in event[1:]:
                first.setdefault(value, i)
        return tuple(Witness(b, self.reasons(events, first, b)) for b in distinct(bindings))

    def reasons(
        self, events: list[Kept], first: dict[Any, int], binding: Mapping[str, Any]
    ) -> tuple[Reason, ...]:
        """Return the leaves and positions that decide the formula for one binding."""
        formula = self.formula
        while isinstance(formula, fm.ForAll) and formula.domain is None:
            formula = formula.body
        for name in sorted(free_variables(formula)):
            formula = substitute(formula, name, binding.get(name, ANY_OTHER))
        names = {f.name for f in subformulas(formula) if isinstance(f, fm.Atom)}
        atoms = {name: _Named(name) for name in names} or None
        time = self.time and (lambda e: self.time(e.raw))
        explainer = _SeenExplainer(formula, Reader(self.owner, atoms), time, over=self.over, first=first)
        explainer.show(list(events))
        return explainer.because(len(events) - 1)


@frozen
class _Named:
    name: str

    def __call__(self, event: Any) -> bool:
        return bool(event[0] == self.name)


def distinct(bindings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return bindings without repetitions."""
    return list({tuple(sorted(b.items(), key=lambda item: item[0])): b for b in bindings}.values())
