"""Which folds are associative: a window over such a fold need not be computed anew for every event.

A fold is recognised by its function (``operator.add``, ``max``...), by a declaration (`associative`), or it
is given as a `Monoid`. Floats are not quite associative: windows over them may differ in the last digits from
a fold from left to right, which ``exact=True`` asks for.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import field, frozen

from millstream.processors.compiling import as_function
from millstream.processors.cumulate import OPERATORS
from millstream.processors.describing import describe
from millstream.processors.errors import ParameterError, shorten
from millstream.processors.expressions import Binary, Expression, Input
from millstream.processors.processor import MISSING

F = TypeVar("F", bound=Callable[..., Any])

#: functions of two arguments that are associative, whatever their arguments
KNOWN: set[Callable[..., Any]] = {
    operator.add, operator.mul, operator.and_, operator.or_, operator.xor, operator.concat, operator.matmul,
    min, max, math.gcd, math.lcm, set.union, frozenset.union, set.intersection, frozenset.intersection,
}  # fmt: skip
SYMBOLS = {"+", "*", "&", "|", "^", "and", "or"}


def associative(function: F) -> F:
    """Declare that a function of two arguments is associative, so that windows over its fold are fast.

    >>> @associative
    ... def longer(a, b):
    ...     return a if len(a) >= len(b) else b
    >>> is_associative(longer)
    True
    """
    if not callable(function):
        raise ParameterError(f"associative: expected a function of two arguments, got {shorten(function)}")
    KNOWN.add(function)
    return function


def is_associative(function: Any) -> bool:
    """Return whether a function, or an expression of X and Y, is known or declared to be associative.

    >>> from millstream.processors import X, Y
    >>> is_associative(max), is_associative(X + Y), is_associative(operator.sub)
    (True, True, False)
    """
    if isinstance(function, Expression):
        match function:
            case Binary(symbol, Input(0, _), Input(1, _)):
                return symbol in SYMBOLS
        return False
    try:
        return function in KNOWN
    except TypeError:  # an unhashable callable
        return False


def _function(value: Any) -> Any:
    if isinstance(value, Expression) or callable(value):
        return value
    raise ParameterError(f"Monoid: expected a function or an expression, got {shorten(value)}")


@frozen(repr=False)
class Monoid:
    """An associative operation on summaries of events; may stand for the inner query of a window.

    Parameters
    ----------
    combine
        ``combine(a, b)`` returns the summary of two neighbouring stretches; must be associative.
    lift
        Makes the summary of one event; the event itself if None.
    lower
        Makes the output of a summary; the summary itself if None.
    start
        Combined with the left end of every stretch, if given.

    Examples
    --------
    >>> from millstream.palettes.windows import Window
    >>> mean = Monoid(
    ...     lambda a, b: (a[0] + b[0], a[1] + b[1]), lift=lambda x: (x, 1), lower=lambda s: s[0] / s[1]
    ... )
    >>> list(Window(mean, 2)([1, 2, 4]))
    [1.5, 3.0]
    """

    combine: Any = field(converter=_function)
    lift: Any = None
    lower: Any = None
    start: Any = MISSING

    def fold(self, events: Any) -> Any:
        """Return the output for some events, from left to right, or MISSING if there are none.

        >>> Monoid(max).fold([1, 3, 2])
        3
        """
        combine, total = as_function(self.combine), self.start
        for x in events:
            x = x if self.lift is None else as_function(self.lift)(x)
            total = x if total is MISSING else combine(total, x)
        return total if total is MISSING or self.lower is None else as_function(self.lower)(total)

    def __repr__(self) -> str:
        named = ((n, getattr(self, n)) for n in ("lift", "lower"))
        parts = [describe(self.combine), *(f"{n}={describe(v)}" for n, v in named if v is not None)]
        if self.start is not MISSING:
            parts.append(f"start={describe(self.start)}")
        return f"Monoid({', '.join(parts)})"


def _one(_: Any) -> int:
    return 1


#: functions of a whole window that are folds
FUNCTIONS: dict[Callable[..., Any], Monoid] = {
    sum: Monoid(operator.add, start=0),
    math.prod: Monoid(operator.mul, start=1),
    min: Monoid(min),
    max: Monoid(max),
    any: Monoid(operator.or_, lift=bool),
    all: Monoid(operator.and_, lift=bool),
    len: Monoid(operator.add, lift=_one),
}


def monoid_of(function: Any) -> Monoid | None:
    """Return the fold that a function of a whole window is, if it is a known one.

    >>> monoid_of(max)
    Monoid(max)
    """
    if isinstance(function, Monoid):
        return function
    try:
        return FUNCTIONS.get(function)
    except TypeError:
        return None


def combination(function: Any, left: str, right: str) -> tuple[str, dict[str, Any]]:
    """Return the source text of ``function(left, right)`` and the names it uses; an operator where it is one.

    >>> combination(operator.add, "a", "b")
    ('(a + b)', {})
    """
    if isinstance(function, Expression):
        match function:
            case Binary(symbol, Input(0, _), Input(1, _)):
                return f"({left} {symbol} {right})", {}
    elif is_associative(function) and function in OPERATORS:
        return f"({left} {OPERATORS[function]} {right})", {}
    elif function is max or function is min:  # what they compare, without the call
        symbol = ">" if function is max else "<"
        return f"(_b if (_b := {right}) {symbol} (_a := {left}) else _a)", {}
    return f"{{f}}({left}, {right})", {"f": as_function(function)}
