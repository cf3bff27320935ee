"""`Facts`: formulas about everything that has been said so far.

BeepBeep's first-order palette accumulates an *interpretation*, the set of tuples for which each predicate
is true, and evaluates formulas on it. A predicate that is true once it has been an event is ``O p(...)``,
and one that an event takes back is an interval, so such formulas are past formulas, and look-ups, indexes
and incremental views come with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.parser import parse
from millstream.palettes.ltl.walk import fold
from millstream.processors.errors import ParameterError

from .verdicts import Verdicts


def facts(formula: Formula | str, retract: Mapping[str, str] | None = None) -> Formula:
    """Return the past formula that says of all facts so far what a formula says of an interpretation.

    >>> facts("forall m: member(m) -> exists c: candidate(c) & rank(m, c)")
    forall m: O member(m) -> (exists c: O candidate(c) & O rank(m, c))
    """
    undo = retract or {}

    def change(f: Formula, below: list[Formula]) -> Formula:
        if isinstance(f, fm.FUTURE + fm.PAST):
            raise ParameterError(f"Facts: {f!r} is temporal; facts are not, use Verdicts")
        if isinstance(f, fm.Predicate):
            return fm.Span(f, fm.Predicate(undo[f.name], *f.args)) if f.name in undo else fm.O(f)
        if isinstance(f, fm.Atom):
            return fm.Span(f, fm.Atom(undo[f.name])) if f.name in undo else fm.O(f)
        rest = iter(below)
        return type(f)(*(next(rest) if isinstance(p, Formula) else p for p in f.parts))

    return fold(parse(formula) if isinstance(formula, str) else formula, change)


def Facts(formula: Formula | str, *, retract: Mapping[str, str] | None = None, **options: Any) -> Verdicts:
    """Give for each event whether a first-order formula holds of all facts so far.

    Parameters
    ----------
    formula : str or Formula
        A formula without temporal operators over the predicates that events state.
    retract : dict, optional
        For a predicate that can cease to hold, the name of the event that takes it back.
    options
        Those of `Verdicts`.

    Examples
    --------
    >>> ranked = "forall m: member(m) -> exists c: candidate(c) & rank(m, c)"
    >>> log = [("candidate", "c"), ("member", 1), ("rank", 1, "c"), ("member", 2)]
    >>> list(Facts(ranked)(log))
    [True, False, True, False]
    """
    return Verdicts(facts(formula, retract), **options)
