"""Hypothesis strategies for first-order formulas and traces, for tests of monitors built on this palette.

Only this module needs hypothesis, and only when it is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from millstream.palettes.ltl import Formula
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.bounds import Bounds
from millstream.palettes.ltl.terms import Const, Var
from millstream.palettes.ltl.walk import subformulas

#: predicates and how many arguments they have; those without are written as bare names
PREDICATES: Final[Mapping[str, int]] = {"p": 1, "q": 1, "r": 2, "t": 0}


def bounds() -> st.SearchStrategy[Bounds | None]:
    """Return no bounds, mostly, or small ones."""
    ends = st.tuples(st.integers(0, 2), st.integers(0, 3)).map(lambda e: Bounds(min(e), max(e)))
    return st.one_of(st.none(), st.none(), ends, st.integers(0, 2).map(lambda high: Bounds(0, high)))


def _leaf(name: str, count: int, arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Formula]:
    if not count:
        return st.just(fm.Atom(name))
    return st.builds(lambda *args: fm.Predicate(name, *args), *[arguments] * count)


def _quantified(quantifier: Any, variable: str, body: Formula) -> Formula:
    if any(isinstance(f, fm.Quantifier) and f.variable == variable for f in subformulas(body)):
        return body
    return quantifier(variable, None, body)  # type: ignore[no-any-return]


def formulas(
    predicates: Mapping[str, int] = PREDICATES,
    *,
    variables: Sequence[str] = ("x", "y", "z"),
    constants: Sequence[Any] = (1,),
    max_leaves: int = 6,
) -> st.SearchStrategy[Formula]:
    """Return formulas about the past with quantifiers.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(formulas({"p": 1}), lambda f: isinstance(f, fm.Exists))
    exists x: p(x)
    """
    often = variables[:-1]  # the last one seldom, so that the others meet
    arguments = st.sampled_from([*map(Var, (*often, *variables)), *map(Const, constants)])
    leaves = [_leaf(name, count, arguments) for name, count in predicates.items()]

    def grow(f: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        operators: list[st.SearchStrategy[Any]] = [
            st.builds(op, f, f) for op in (fm.And, fm.Or, fm.Implies, fm.Iff)
        ]
        operators += [st.builds(fm.Not, f), st.builds(fm.Y, f), st.builds(fm.Span, f, f)]
        operators += [st.builds(fm.O, f, bounds()), st.builds(fm.H, f, bounds())]
        operators += [st.builds(fm.S, f, f, bounds())]
        both = st.sampled_from((fm.Exists, fm.ForAll))
        quantified = st.builds(_quantified, both, st.sampled_from(variables), f)
        return st.one_of(*operators, *operators, quantified, quantified)

    return st.recursive(st.one_of(leaves), grow, max_leaves=max_leaves)


def events(
    predicates: Mapping[str, int] = PREDICATES,
    values: st.SearchStrategy[Any] | None = None,
    others: Sequence[str] = ("other",),
) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return events ``(name, arg, ...)`` of the predicates, and some that no formula mentions."""
    each = st.integers(1, 3) if values is None else values
    kinds = {**predicates, **dict.fromkeys(others, 1)}
    return st.one_of(*(st.tuples(st.just(name), *[each] * count) for name, count in kinds.items()))


def traces(
    predicates: Mapping[str, int] = PREDICATES, *, min_size: int = 1, max_size: int = 7
) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """Return traces of such events."""
    return st.lists(events(predicates), min_size=min_size, max_size=max_size)
