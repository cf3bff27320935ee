"""From an expression to one Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ParameterError, shorten
from .expressions import Bind, Expression, Input, walk

#: how deep generated text may nest
NESTING = 40


def as_function(function: Any) -> Callable[..., Any]:
    """Return a Python callable for a function or an expression."""
    if isinstance(function, Expression):
        return compile_expression(function)
    if callable(function):
        return function  # type: ignore[no-any-return]
    raise ParameterError(f"expected a function or an expression of X, Y, E, got {shorten(function)}")


def compile_expression(expression: Expression) -> Callable[..., Any]:
    """Return one Python function for an expression."""
    names = tuple(f"x{i}" for i in range(expression._arity))
    scope: dict[str, Any] = {}

    def bind(value: object) -> str:
        name = f"c{len(scope)}"
        scope[name] = value
        return name

    text = f"lambda {', '.join(names)}: {source(expression, names, bind)}"
    return eval(compile(text, f"<{shorten(expression, 60)}>", "eval"), scope)  # type: ignore[no-any-return]


def source(expression: Expression, inputs: tuple[str, ...], bind: Bind) -> str:
    """Return Python text for an expression over named inputs; `bind` gives a name to an object.

    Without recursion: what lies `NESTING` levels down becomes a function of its own, because Python's parser
    does not take deeper nesting.
    """
    heights = _heights(expression)
    texts: dict[int, str] = {}
    stack = [(expression, False)]
    while stack:
        e, ready = stack.pop()
        if isinstance(e, Input):
            texts[id(e)] = inputs[e._index]
        elif heights[id(e)] % NESTING == 0 and e is not expression:
            own = ", ".join(inputs[: e._arity])
            texts[id(e)] = f"{bind(compile_expression(e))}({own})"
        elif ready:
            texts[id(e)] = e._render([texts[id(c)] for c in e._children()], bind)
        else:
            stack.append((e, True))
            stack.extend((c, False) for c in e._children())
    return texts[id(expression)]


def _heights(expression: Expression) -> dict[int, int]:
    """Return how many levels each part of an expression has, the smallest parts one."""
    heights: dict[int, int] = {}
    for e in reversed(list(walk(expression))):
        heights[id(e)] = 1 + max((heights[id(c)] for c in e._children()), default=0)
    return heights
