"""Hypothesis strategies for formulas and traces, for tests of monitors built on this palette.

Only this module needs hypothesis, and only when it is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .terms import Arith, Const, Field, Neg, Term


def bounds(limit: int = 4) -> st.SearchStrategy[Bounds | None]:
    """No bounds, or bounds over whole numbers up to ``limit``."""
    closed = st.tuples(st.integers(0, limit), st.integers(0, limit)).map(lambda p: Bounds(min(p), max(p)))
    return st.one_of(st.none(), closed, st.integers(0, limit).map(Bounds))


def terms(fields: Sequence[str] = ("x", "y")) -> st.SearchStrategy[Term]:
    """Arithmetic over the given fields."""
    numbers = st.integers(-3, 3) | st.floats(-2, 2).map(lambda f: round(f, 2))
    leaves = st.one_of(numbers.map(Const), st.sampled_from(fields).map(Field), st.text(max_size=3).map(Const))
    return st.recursive(
        leaves,
        lambda t: st.builds(Arith, st.sampled_from("+-*/%"), t, t) | st.builds(Neg, t),
        max_leaves=4,
    )


def formulas(
    names: Sequence[str] = ("a", "b"),
    *,
    bounded: bool = True,
    past: bool = True,
    future: bool = True,
    limit: int = 4,
    max_leaves: int = 6,
    leaves: st.SearchStrategy[Formula] | None = None,
) -> st.SearchStrategy[Formula]:
    """Formulas over the named atoms with all operators asked for.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(formulas(), lambda f: isinstance(f, fm.G))
    G false
    """
    base = leaves if leaves is not None else st.sampled_from(names).map(fm.Atom)
    limits = bounds(limit) if bounded else st.none()

    def grow(f: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        options: list[st.SearchStrategy[Any]] = [st.builds(fm.Not, f)]
        options += [st.builds(op, f, f) for op in (fm.And, fm.Or, fm.Implies, fm.Iff)]
        if future:
            options += [st.builds(fm.X, f), *(st.builds(op, f, limits) for op in (fm.F, fm.G))]
            options += [st.builds(op, f, f, limits) for op in (fm.U, fm.W, fm.R)]
        if past:
            options += [st.builds(fm.Y, f), *(st.builds(op, f, limits) for op in (fm.O, fm.H))]
            options += [st.builds(fm.S, f, f, limits), st.builds(fm.Span, f, f)]
        return st.one_of(options)

    constants: st.SearchStrategy[Formula] = st.sampled_from([fm.FALSE, fm.TRUE])
    return st.recursive(constants | base | base, grow, max_leaves=max_leaves)


def traces(
    names: Sequence[str] = ("a", "b"), *, min_size: int = 0, max_size: int = 12
) -> st.SearchStrategy[list[dict[str, bool]]]:
    """Traces of events that say for each atom whether it holds."""
    event = st.fixed_dictionaries({name: st.booleans() for name in names})
    return st.lists(event, min_size=min_size, max_size=max_size)
