"""Relations over all values, seen or not, as trees with a branch for "any other value".

A relation over the variables x, y, ... is a leaf, or a fork on the first variable that matters: a case for
each value that has a branch of its own, and a branch for all other values. This closes the representation
under negation, which finite tables are not: what is not in a table is still a tree of the same size. Leaves
are truth values, or whatever `apply` computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen


@frozen
class Fork:
    """A choice by the value of one variable; never changed once made."""

    level: int
    cases: dict[Any, Any]
    other: Any


def fork(level: int, cases: Mapping[Any, Any], other: Any) -> Any:
    """Return a fork without the cases that are like other values; that branch alone if none is left."""
    kept = {k: v for k, v in cases.items() if v is not other and (isinstance(v, Fork) or v != other)}
    return Fork(level, kept, other) if kept else other


def values_of(level: int, values: Iterable[Any]) -> Any:
    """Return the relation "the variable has one of these values"."""
    return fork(level, dict.fromkeys(values, True), False)


def point(binding: Mapping[int, Any]) -> Any:
    """Return the relation that holds for exactly one binding of some variables.

    >>> point({1: "b", 0: "a"})
    Fork(level=0, cases={'a': Fork(level=1, cases={'b': True}, other=False)}, other=False)
    """
    result: Any = True
    for level in sorted(binding, reverse=True):
        result = Fork(level, {binding[level]: result}, False)
    return result


def apply(function: Callable[..., Any], *parts: Any) -> Any:
    """Return the relation whose leaves are the function of the parts' leaves."""
    level = min((p.level for p in parts if isinstance(p, Fork)), default=None)
    if level is None:
        return function(*parts)
    return _branches(level, parts, lambda *below: apply(function, *below))


def _branches(level: int, parts: tuple[Any, ...], combine: Callable[..., Any]) -> Any:
    here = [isinstance(p, Fork) and p.level == level for p in parts]
    keys = dict.fromkeys(k for p, h in zip(parts, here, strict=True) if h for k in p.cases)
    others = [p.other if h else p for p, h in zip(parts, here, strict=True)]
    cases = {
        k: combine(*(p.cases.get(k, p.other) if h else p for p, h in zip(parts, here, strict=True)))
        for k in keys
    }
    return fork(level, cases, combine(*others))


def both(a: Any, b: Any) -> Any:
    """Return the conjunction of two relations."""
    if a is False or b is True:
        return a
    if b is False or a is True:
        return b
    return _branches(min(a.level, b.level), (a, b), both)


def negated(a: Any) -> Any:
    """Return the complement of a relation."""
    return apply(lambda x: not x, a)


def either(a: Any, b: Any) -> Any:
    """Return the disjunction of two relations."""
    if a is True or b is False:
        return a
    if b is True or a is False:
        return b
    return _branches(min(a.level, b.level), (a, b), either)


def some(level: int, a: Any) -> Any:
    """Return the relation "for some value of the variable"."""
    if not isinstance(a, Fork) or a.level > level:
        return a
    if a.level < level:
        return fork(a.level, {k: some(level, v) for k, v in a.cases.items()}, some(level, a.other))
    result = a.other
    for case in a.cases.values():
        result = either(result, case)
    return result


def satisfying(a: Any, binding: tuple[tuple[int, Any], ...] = ()) -> Iterator[dict[int, Any]]:
    """Yield the bindings that satisfy a relation; a variable left out may have any other value."""
    if isinstance(a, Fork):
        for key, case in a.cases.items():
            yield from satisfying(case, (*binding, (a.level, key)))
        yield from satisfying(a.other, binding)
    elif a:
        yield dict(binding)


def filtered(
    a: Any, levels: tuple[int, ...], keep: Callable[..., Any], binding: Mapping[int, Any] | None = None
) -> Any:
    """Return the part of a relation that satisfies a test on variables which the relation restricts."""
    binding = binding or {}
    if a is False:
        return False
    if all(level in binding for level in levels):
        return a if keep(*(binding[level] for level in levels)) else False
    assert isinstance(a, Fork)
    inside = a.level in levels
    cases = {
        k: filtered(v, levels, keep, {**binding, a.level: k} if inside else binding)
        for k, v in a.cases.items()
    }
    return fork(a.level, cases, False if inside else filtered(a.other, levels, keep, binding))
