"""Which evaluator runs a formula: the compiled one if it can, else the general one."""

from __future__ import annotations

from functools import lru_cache

from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.values import post_order

from .general import general_program
from .lower import Unsupported
from .normal import normalise
from .program import Program, compile_problem


@lru_cache(maxsize=256)
def program_of(
    owner: str, formula: Formula, over: str, predicates: tuple[tuple[str, int], ...] | None, witnesses: bool
) -> tuple[Program, str]:
    """Return the program of a formula, and why it is not compiled ("" if it is)."""
    problem = normalise(owner, formula, None if predicates is None else dict(predicates), over)
    try:
        return compile_problem(problem, witnesses), ""
    except Unsupported as reason:
        return general_program(owner, problem, witnesses), str(reason)


def is_bounded(formula: Formula) -> bool:
    """Return whether a formula has bounds, so that it must be told the time."""
    return any(getattr(f, "bounds", None) is not None for f in post_order(formula))


__all__ = ["is_bounded", "program_of"]
