"""Can two guards hold for the same event? Answered for values and for comparisons with constants.

A guard is brought into a disjunction of conjunctions of comparisons ``path op constant``, such as
``E.kind == "a"`` or ``V.n > 3``. Different paths are taken to be independent, numbers to be real. Functions,
and comparisons between two paths, cannot be read: the answer is then that it is not known.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, product
from typing import Any

from attrs import frozen

from millstream.processors.describing import describe
from millstream.processors.expressions import (
    Attribute,
    Binary,
    Constant,
    Expression,
    Input,
    Item,
    Unary,
)

from .transitions import OTHERWISE, On, as_test, is_constant

TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "in": lambda value, collection: value in collection,
}  # fmt: skip
SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
#: (path, operator, constant)
Atom = tuple[str, str, Any]
MOST = 64  # conjunctions of one guard that are looked at


@frozen
class Conflict:
    """Two transitions of one state that may hold for the same event; `certain` if an example was found."""

    first: On
    second: On
    certain: bool
    example: str = ""

    def __str__(self) -> str:
        both = f"{describe(self.first.guard)} and {describe(self.second.guard)}"
        if not self.certain:
            return f"in state {self.first.source!r}, {both} cannot be compared"
        return f"in state {self.first.source!r}, {both} hold together for {self.example}"


def conflicts(transitions: Sequence[On]) -> tuple[Conflict, ...]:
    """Return the pairs of transitions of the same state that may hold together and do different things.

    >>> from millstream.processors import X
    >>> for conflict in conflicts([On(0, X > 3, 1), On(0, X < 5, 2), On(0, X < 0, 3)]):
    ...     print(conflict)
    in state 0, X > 3 and X < 5 hold together for X = 4.0
    in state 0, X < 5 and X < 0 hold together for X = -1
    """
    found = []
    for a, b in combinations(transitions, 2):
        same = a.target == b.target and not a.set and not b.set
        if a.source == b.source and not same and OTHERWISE not in (_kind(a), _kind(b)):
            example = _common(a.guard, b.guard)
            if example is None or example:
                found.append(Conflict(a, b, bool(example), example or ""))
    return tuple(found)


def _kind(t: On) -> Any:
    return OTHERWISE if t.guard is OTHERWISE else None


def _common(a: Any, b: Any) -> str | None:
    """Return an example for which both guards hold, "" if there is none, None if that is not known."""
    if is_constant(a) and is_constant(b):
        return f"the event {a!r}" if a == b else ""
    if is_constant(b):
        a, b = b, a
    if is_constant(a):
        try:
            return f"the event {a!r}" if as_test(b, "guard")(a, {}) else ""
        except Exception:
            return None
    left, right = _cases(a), _cases(b)
    if left is None or right is None:
        return None
    examples = (_example([*p, *q]) for p, q in product(left, right))
    return next((e for e in examples if e), "")


def _cases(guard: Any, positive: bool = True) -> list[list[Atom]] | None:
    """Return a guard as a disjunction of conjunctions, None if it cannot be read."""
    match guard:
        case Binary("and" | "or" as symbol, left, right):
            parts = _cases(left, positive), _cases(right, positive)
            if parts[0] is None or parts[1] is None:
                return None
            if (symbol == "or") == positive:
                return parts[0] + parts[1]
            both = [[*p, *q] for p, q in product(*parts)]  # type: ignore[arg-type]
            return both if len(both) <= MOST else None
        case Unary("not", of):
            return _cases(of, not positive)
        case Binary(symbol, left, Constant(value)) if symbol in TESTS and _is_path(left):
            return _atom(left, symbol, value, positive)
        case Binary(symbol, Constant(value), right) if symbol in SWAPPED and _is_path(right):
            return _atom(right, SWAPPED[symbol], value, positive)
    return [[(repr(guard), "==", positive)]] if _is_path(guard) else None


def _atom(path: Expression, symbol: str, value: Any, positive: bool) -> list[list[Atom]] | None:
    if not positive and symbol not in NEGATED:
        return None
    return [[(repr(path), symbol if positive else NEGATED[symbol], value)]]


def _is_path(value: Any) -> bool:
    while isinstance(value, (Attribute, Item)):
        value = value._of
    return isinstance(value, Input)


def _example(atoms: list[Atom]) -> str:
    """Return values of the paths for which all comparisons hold, "" if there are none."""
    found = []
    for path in dict.fromkeys(a[0] for a in atoms):
        own = [(symbol, value) for p, symbol, value in atoms if p == path]
        value = next((v for v in _candidates(own) if all(_holds(v, *test) for test in own)), None)
        if value is None:
            return ""
        found.append(f"{path} = {value!r}")
    return ", ".join(found)


def _candidates(tests: list[tuple[str, Any]]) -> list[Any]:
    """Return values one of which passes all tests, if any does: constants, and what lies around them."""
    values: list[Any] = []
    for symbol, value in tests:
        values += list(value) if symbol == "in" else [value]
    numbers = sorted({v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)})
    between = [(a + b) / 2 for a, b in pairwise(numbers)]
    beyond = [numbers[0] - 1, numbers[-1] + 1] if numbers else []
    texts = sorted({v for v in values if isinstance(v, str)})
    return [
        *values,
        *between,
        *beyond,
        *(v + "~" for v in texts),
        "",
        *([True, False] if not numbers else []),
    ]


def _holds(value: Any, symbol: str, constant: Any) -> bool:
    try:
        return bool(TESTS[symbol](value, constant))
    except TypeError:
        return False
