"""Processors that lift functions to streams: Apply, and the trivial ones that need no state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from attrs import field

from .compiling import as_function, source
from .describing import describe
from .errors import QueryError, at_least, shorten
from .expressions import Expression
from .processor import Inline, Uniform, processor
from .types import signature_types


def positional_arity(function: Callable[..., Any]) -> tuple[int, float] | None:
    """Return the least and greatest number of positional arguments, or None if a function does not tell."""
    if isinstance(function, Expression):
        return function._arity, function._arity
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in plain)
    return least, float("inf") if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(plain)


def inline_call(function: Any, inputs: int) -> tuple[str, dict[str, Any]]:
    """Return the text of a function applied to the inputs of a front, and the names it uses."""
    slots = tuple(f"{{{i}}}" for i in range(inputs))
    if not isinstance(function, Expression):
        return f"{{f}}({', '.join(slots)})", {"f": function}
    names: dict[str, Any] = {}

    def bind(value: object) -> str:
        names[f"c{len(names)}"] = value
        return f"{{c{len(names) - 1}}}"

    return source(function, slots, bind), names


def _is_function(owner: Any, attribute: Any, value: Any) -> None:
    if not (isinstance(value, Expression) or callable(value)):
        raise QueryError(
            f"{type(owner).__name__}: {attribute.name} must be a function or an expression of X, Y, E, "
            f"got {shorten(value)}"
        )


def function_field(**options: Any) -> Any:
    """Return an attrs field that takes a function or an expression."""
    return field(validator=_is_function, **options)


@processor
class Apply(Uniform):
    """Apply a function to every front of events.

    Parameters
    ----------
    function
        Any callable or expression. One input for each of its required positional parameters, or as many as
        `ins` says.
    ins
        Number of inputs; read off the function if None.
    outs
        Number of outputs; a function with several returns a sequence of that length.

    Examples
    --------
    >>> list(Apply(len)(["a", "bcd"]))
    [1, 3]
    >>> from operator import add
    >>> list(Apply(add)([1, 2], [10, 20]))
    [11, 22]
    >>> quotients, remainders = Apply(divmod, ins=2, outs=2)([7, 9], [2, 4])
    >>> list(quotients), list(remainders)
    ([3, 2], [1, 1])
    """

    icon: ClassVar[str] = "ƒ"
    function: Any = function_field()
    inputs_: int | None = field(
        default=None, alias="ins", validator=lambda s, a, v: v is None or at_least(1)(s, a, v)
    )
    outputs_: int = field(default=1, alias="outs", validator=at_least(1))

    def __attrs_post_init__(self) -> None:
        known = positional_arity(self.function)
        if self.inputs_ is not None and known is not None and not known[0] <= self.inputs_ <= known[1]:
            raise QueryError(
                f"Apply: {describe(self.function)} takes {known[0]} events at a time, not {self.inputs_}"
            )

    @property
    def arity(self) -> tuple[int, int]:
        """Return as many inputs as the function takes."""
        if self.inputs_ is not None:
            return self.inputs_, self.outputs_
        known = positional_arity(self.function)
        return max(1, known[0]) if known else 1, self.outputs_

    def step(self, *front: Any) -> Any:
        """Return the function's value."""
        return as_function(self.function)(*front)

    def inline(self) -> Inline | None:
        """Return the expression itself, or a call."""
        ins, outs = self.arity
        call, names = inline_call(self.function, ins)
        if outs == 1:
            return Inline(out=(call,), names=names)
        fresh = tuple(f"{{y{o}}}" for o in range(outs))
        return Inline(do=(f"{', '.join(fresh)} = {call}",), out=fresh, names=names)

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the types that the function's annotations declare."""
        ins, outs = self.arity
        if isinstance(self.function, Expression):
            return (None,) * ins, ((bool,) if self.function._boolean else (None,) * outs)
        takes, gives = signature_types(self.function)
        takes = (takes + [None] * ins)[:ins]
        return takes, ((gives,) if outs == 1 else (None,) * outs)


@processor
class Passthrough(Uniform):
    """Let every event through.

    >>> list(Passthrough()("ab"))
    ['a', 'b']
    """

    def step(self, x: Any) -> Any:
        """Return the event."""
        return x

    def inline(self) -> Inline:
        """Return the input."""
        return Inline(out=("{0}",))


@processor
class Fork(Uniform):
    """Give every event to each of several outputs.

    >>> left, right = Fork(2)([1, 2])
    >>> list(left), list(right)
    ([1, 2], [1, 2])
    """

    icon: ClassVar[str] = "⋔"
    ways: int = field(default=2, validator=at_least(1))

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input and as many outputs as there are ways."""
        return 1, self.ways

    def step(self, x: Any) -> Any:
        """Return the event once for each way."""
        return (x,) * self.ways if self.ways > 1 else x

    def inline(self) -> Inline:
        """Return the input for every output."""
        return Inline(out=("{0}",) * self.ways)


@processor
class Constant(Uniform):
    """Replace every event by the same value.

    >>> list(Constant(1)("abc"))
    [1, 1, 1]
    """

    value: Any

    def step(self, _: Any) -> Any:
        """Return the value."""
        return self.value

    def inline(self) -> Inline:
        """Return the bound value."""
        return Inline(out=("{value}",), names={"value": self.value})


@processor
class Tap(Uniform):
    """Call a function on every event for its side effect, and let the event through.

    >>> seen = []
    >>> list(Tap(seen.append)([1, 2])), seen
    ([1, 2], [1, 2])
    """

    function: Callable[[Any], Any] = function_field()

    def step(self, x: Any) -> Any:
        """Call the function and return the event."""
        as_function(self.function)(x)
        return x

    def inline(self) -> Inline:
        """Return a call and the input."""
        text, names = inline_call(self.function, 1)
        return Inline(do=(text,), out=("{0}",), names=names)


@processor
class Switch(Uniform):
    """Choose between inputs, front by front: the first input says which of the others goes through.

    >>> list(Switch(2)([0, 1, 0], "abc", "xyz"))
    ['a', 'y', 'c']
    """

    choices: int = field(default=2, validator=at_least(1))

    @property
    def arity(self) -> tuple[int, int]:
        """Return the selector and one input for each choice."""
        return 1 + self.choices, 1

    def step(self, choice: Any, *events: Any) -> Any:
        """Return the chosen event."""
        if not isinstance(choice, int) or not 0 <= choice < self.choices:
            raise ValueError(f"Switch: expected a choice from 0 to {self.choices - 1}, got {shorten(choice)}")
        return events[choice]
