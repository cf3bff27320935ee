"""How parameters print: the same in every process, because saved states are recognised by it."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from .errors import shorten


def describe(value: Any) -> str:
    """Return how a parameter prints, the same in every process: functions by name, without addresses.

    >>> from functools import partial
    >>> describe(partial(pow, 2))
    'partial(pow, 2)'
    """
    name = getattr(value, "__qualname__", None)
    if name is not None and callable(value):
        return str(name).replace("<locals>.", "").rpartition(".")[2]
    if isinstance(value, partial):
        named = (f"{k}={describe(v)}" for k, v in value.keywords.items())
        return f"partial({', '.join([*map(describe, (value.func, *value.args)), *named])})"
    if isinstance(value, set | frozenset) and value:
        value = Ordered(value)
    return re.sub(r" at 0x[0-9a-f]+", "", shorten(value, 80))


class Ordered:
    """Prints a set in order."""

    def __init__(self, items: set[Any] | frozenset[Any]) -> None:
        self.items = items

    def __repr__(self) -> str:
        text = "{" + ", ".join(sorted(map(repr, self.items))) + "}"
        return f"frozenset({text})" if isinstance(self.items, frozenset) else text
