"""Cumulate: fold a stream, giving every intermediate value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .apply import function_field, positional_arity
from .compiling import as_function
from .describing import describe
from .errors import QueryError
from .expressions import Binary, Expression, Input
from .processor import MISSING, Inline, Uniform, processor, state

#: functions that are an operator of the language: the operator is faster than the call
OPERATORS: dict[Callable[..., Any], str] = {
    operator.add: "+", operator.mul: "*", operator.sub: "-", operator.and_: "&", operator.or_: "|",
    operator.xor: "^", operator.truediv: "/", operator.floordiv: "//", operator.mod: "%", operator.concat:
    "+",
}  # fmt: skip


@processor
class Cumulate(Uniform):
    """Fold the events seen so far with a function of two arguments, the value so far and the event.

    Parameters
    ----------
    function
        ``function(value, event)`` returns the next value; a callable or an expression of X (the value) and Y
        (the event).
    start
        The value before the first event. Without it the first event is the first value.

    Examples
    --------
    >>> from operator import add
    >>> list(Cumulate(add)([1, 2, 3]))
    [1, 3, 6]
    >>> list(Cumulate(max, start=2)([1, 3, 2]))
    [2, 3, 3]
    """

    icon: ClassVar[str] = "Σ"
    function: Any = function_field()
    start: Any = MISSING
    value: Any = state(of=lambda self: self.start)

    def __attrs_post_init__(self) -> None:
        known = positional_arity(self.function)
        if known is not None and not known[0] <= 2 <= known[1]:
            raise QueryError(
                f"Cumulate: {describe(self.function)} takes {known[0]} arguments, a fold value and event"
            )

    def step(self, x: Any) -> Any:
        """Return the next value."""
        self.value = x if self.value is MISSING else as_function(self.function)(self.value, x)
        return self.value

    def inline(self) -> Inline:
        """Return the fold as one assignment."""
        text, names = self._combined("{me}.value", "{0}")
        if self.start is MISSING:
            text = f"{{0}} if {{me}}.value is {{nothing}} else {text}"
            names["nothing"] = MISSING
        return Inline(do=(f"{{y0}} = {{me}}.value = {text}",), out=("{y0}",), names=names)

    def _combined(self, value: str, event: str) -> tuple[str, dict[str, Any]]:
        if isinstance(self.function, Expression):
            match self.function:
                case Binary(symbol, Input(0, _), Input(1, _)):
                    return f"({value} {symbol} {event})", {}
            return f"{{f}}({value}, {event})", {"f": as_function(self.function)}
        for function, symbol in OPERATORS.items():
            if self.function is function:
                return f"({value} {symbol} {event})", {}
        return f"{{f}}({value}, {event})", {"f": self.function}


@processor
class Count(Uniform):
    """Count the events.

    >>> list(Count()("abc"))
    [1, 2, 3]
    """

    icon: ClassVar[str] = "#"
    seen: int = state(0)

    def step(self, _: Any) -> int:
        """Return how many events there have been."""
        self.seen += 1
        return self.seen

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return any event, and an integer."""
        return (None,), (int,)

    def inline(self) -> Inline:
        """Return the increment as one assignment."""
        return Inline(do=("{y0} = {me}.seen = {me}.seen + 1",), out=("{y0}",))
