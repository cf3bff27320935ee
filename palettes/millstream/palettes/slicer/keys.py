"""What a key function may return besides a key: `ALL`, `Keys`, or None."""

from __future__ import annotations

from enum import Enum
from typing import Any

from millstream.processors.errors import shorten


class All(Enum):
    """The type of `ALL`."""

    ALL = "ALL"

    def __repr__(self) -> str:
        return "ALL"


#: the event goes to every existing slice, and makes none
ALL = All.ALL


class Keys(tuple[Any, ...]):
    """Several keys: the event goes to the slice of each.

    >>> Keys("a", "b")
    Keys('a', 'b')
    """

    __slots__ = ()

    def __new__(cls, *keys: Any) -> Keys:
        return super().__new__(cls, keys)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"Keys({', '.join(map(repr, self))})"


def several(key: Any, existing: dict[Any, Any]) -> list[Any] | None:
    """Return the keys that stand behind `ALL`, `Keys` or None; None if it is an ordinary key.

    >>> several(Keys("b", "a", "b"), {}), several(ALL, {"c": 1}), several("a", {})
    (['b', 'a'], ['c'], None)
    """
    if key is None:
        return []
    if key is ALL:
        return list(existing)
    if key.__class__ is not Keys:
        return None
    if ALL in key:
        raise ValueError(f"ALL cannot be one of several keys, got {key!r}")
    return [k for k in dict.fromkeys(key) if k is not None]


def unhashable(key: Any) -> TypeError:
    """Return the error for a key that cannot be one."""
    return TypeError(
        f"by gave an unhashable key, {shorten(key, 60)} (a {type(key).__name__}); "
        "let it give a string, a number or a tuple of such"
    )
