"""States: what `Run.save` returns, how it is copied, and the slots of a wiring that it is made of.

A state is a tuple of the state fields of all processors and joins, in order. Inside the engine states are
moved (`take`, `give`), which costs a tuple; only `save` and `load` copy.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

from attrs import Factory, frozen

from .errors import QueryError
from .processor import fields, is_state

State = tuple[Any, ...]
#: attrs declares its Factory as a function
FACTORY: Any = Factory


@frozen
class Saved:
    """A saved state: which query it belongs to, how far it had come, and the values."""

    query: int
    positions: tuple[int, ...]
    ended: bool
    values: State

    def __reduce__(self) -> tuple[Any, ...]:
        return Saved, (self.query, self.positions, self.ended, self.values)


def copied(value: Any) -> Any:
    """Return a copy of a state value: containers and `Mutable` objects are copied, all else is shared.

    >>> inner = [1]
    >>> copied((inner, {"a": inner}))[0] is inner
    False
    """
    kind = type(value)
    if kind is tuple:
        return tuple(map(copied, value))
    if kind is list:
        return list(map(copied, value))
    if kind is dict:
        return {k: copied(v) for k, v in value.items()}
    if kind is deque:
        return deque(map(copied, value), value.maxlen)
    if kind is set:
        return set(value)
    if kind is OrderedDict:
        return OrderedDict((k, copied(v)) for k, v in value.items())
    copy = getattr(kind, "__copy__", None)
    return value if copy is None else copy(value)


class Mutable:
    """Base of mutable objects that are kept in a state: they are copied with everything in them.

    An object with another ``__copy__`` may be kept in a state as well; one without any is shared.
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return deepcopy(self)


class Slots:
    """The state fields of a list of processors and joins, read and written as one tuple."""

    __slots__ = ("_count", "_initial", "constant", "give", "take")

    #: moves all state out, as a tuple, and puts such a tuple in
    take: Callable[[], State]
    give: Callable[[State], None]

    def __init__(self, owners: list[Any]) -> None:
        slots = [(o, a) for o in owners for a in fields(o) if is_state(a)]
        self._initial = [_initial(owner, a) for owner, a in slots]
        self._count = len(slots)
        fixed = all(make is None for make, _ in self._initial)
        self.constant: State | None = tuple(v for _, v in self._initial) if fixed else None
        names = {f"o{k}": owner for k, (owner, _) in enumerate(slots)}
        spots = "".join(f"o{k}.{a.name}, " for k, (_, a) in enumerate(slots))
        body = f"({spots}) = values" if slots else "pass"
        exec(f"def take(): return ({spots})\ndef give(values): {body}", names)
        self.take, self.give = names["take"], names["give"]

    def fresh(self) -> State:
        """Return a new initial state."""
        if self.constant is not None:
            return self.constant
        return tuple(v if make is None else make(v) for make, v in self._initial)

    def copy(self, values: State) -> State:
        """Return an independent copy of a state."""
        return tuple(map(copied, values))

    def check(self, saved: object, fingerprint: int) -> Saved:
        """Return the saved state if it belongs to this query, else raise an error that says so."""
        if not isinstance(saved, Saved):
            raise QueryError(f"load takes what save returned, got {type(saved).__name__}")
        if saved.query != fingerprint or len(saved.values) != self._count:
            raise QueryError("this state was saved by another query, or by another version of this one")
        return saved


def _initial(owner: Any, a: Any) -> tuple[Callable[[Any], Any] | None, Any]:
    if isinstance(a.default, FACTORY):
        return (a.default.factory, owner) if a.default.takes_self else (lambda _: a.default.factory(), owner)
    return None, a.default
