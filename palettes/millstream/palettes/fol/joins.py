"""Conditions that join two tables without a loop in Python: sets that meet, sets less what an index gives."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

from .clauses import clauses
from .core import Exists, Node, Not, Old

if TYPE_CHECKING:
    from .conditions import Conditions, Values


def is_plain(emitter: Conditions, leaf: Node) -> bool:
    """Return whether a leaf is a table kept as a set."""
    if not isinstance(leaf, Old) or leaf.parts[1]:
        return False
    table = emitter.tables[leaf.parts[0]]
    return table.bounds is None and table.product is None


def unknown(emitter: Conditions, leaf: Node, values: Values) -> list[Any]:
    """Return the arguments of a leaf that have no value."""
    return [a for a in leaf.parts[2:] if not emitter.knows(a, values)]


def meeting(emitter: Conditions, leaf: Node, other: Node, leaves: list[Node], values: Values) -> str | None:
    """Return the condition that two tables have a common value, or one a value that the other lacks."""
    negative = isinstance(other, Not)
    twin = other.parts[0] if negative else other
    if not is_plain(emitter, leaf) or not is_plain(emitter, twin) or len(unknown(emitter, twin, values)) != 1:
        return None
    leaves.remove(other)
    mine, theirs = emitter.row_set(leaf, values), emitter.row_set(twin, values)
    return f"not {mine} <= {theirs}" if negative else f"not {mine}.isdisjoint({theirs})"


def without(emitter: Conditions, leaf: Node, rest: list[Node], values: Values) -> str:
    """Return the source that takes all rows out of a set that meet a known set; drop that condition.

    "y such that no x has a(x) and b(x, y)" is the set of y less those that an index of b gives for the x
    of a.
    """
    open_ = unknown(emitter, leaf, values)
    if len(open_) != 1 or not is_plain(emitter, leaf):
        return ""
    for other in rest:
        if not (isinstance(other, Not) and isinstance(other.parts[0], Exists)):
            continue
        found = clauses(other.parts[0], emitter.implied)
        for a, b in permutations(found[0]) if len(found) == 1 and len(found[0]) == 2 else ():
            if text := _less(emitter, a, b, open_[0], values):
                rest.remove(other)
                return text
    return ""


def _less(emitter: Conditions, a: Node, b: Node, wanted: Any, values: Values) -> str:
    """Return the source of "less the rows that b joins to a", or nothing if a and b are not of that form."""
    if not is_plain(emitter, a) or not is_plain(emitter, b):
        return ""
    first, second = unknown(emitter, a, values), unknown(emitter, b, values)
    if len(first) != 1 or first[0] is wanted or len(second) != 2 or set(second) != {wanted, first[0]}:
        return ""
    name = emitter.new("v")
    joined = emitter.rows(b, {**values, first[0]: name})
    return f".difference(*[{joined} for {name} in {emitter.rows(a, values)}])"
