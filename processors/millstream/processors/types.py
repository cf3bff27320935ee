"""Declared event types, compared when a query is built. Nothing is checked that nobody declared."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .errors import QueryError, shorten

if TYPE_CHECKING:
    from .graph import Edge, Graph

#: a value of the key's type may stand where one of the listed types is expected
PROMOTIONS: dict[type, tuple[type, ...]] = {
    bool: (int, float, complex),
    int: (float, complex),
    float: (complex,),
}


def signature_types(function: Callable[..., Any]) -> tuple[list[Any], Any]:
    """Return the annotated types of a function's parameters and of its result; None for missing ones."""
    try:
        hints = typing.get_type_hints(function)
        names = [p.name for p in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError, NameError, AttributeError):
        return [], None
    if isinstance(function, type):
        return [], function
    return [plain(hints.get(n)) for n in names], plain(hints.get("return"))


def plain(hint: Any) -> Any:
    """Return a hint if it is an ordinary class, else None (anything will do)."""
    return (
        hint
        if isinstance(hint, type) and hint is not object and not isinstance(hint, typing.TypeVar)
        else None
    )


def compatible(given: Any, wanted: Any) -> bool:
    """Return whether an event declared as `given` can be what is declared as `wanted`.

    >>> compatible(int, float), compatible(str, float), compatible(None, str)
    (True, False, True)
    """
    if given is None or wanted is None:
        return True
    try:
        return issubclass(given, wanted) or issubclass(wanted, given) or wanted in PROMOTIONS.get(given, ())
    except TypeError:
        return True


def check_types(graph: Graph, edges: Iterable[Edge]) -> None:
    """Raise a `QueryError` for the first edge whose ends declare incompatible types."""
    for e in edges:
        (s, o), (t, i) = e.source, e.target
        given, wanted = graph.nodes[s].types()[1][o], graph.nodes[t].types()[0][i]
        if not compatible(given, wanted):
            raise QueryError(
                f"{shorten(graph.nodes[s], 60)}.outputs[{o}] gives {given.__name__}, but "
                f"{shorten(graph.nodes[t], 60)}.inputs[{i}] takes {wanted.__name__}; convert in between"
            )
