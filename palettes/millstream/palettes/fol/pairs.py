"""Reading tables of pairs that are kept as two times (see `lower.Product`).

``F`` has the position at which each row of the first side came, in that order, ``R`` the same rows as a
list, and ``L`` the last position of each row of the other side. A pair is in the table if the first came,
``depth`` positions or more before the other's last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .core import Node, Not, Old
from .lower import Product

if TYPE_CHECKING:
    from .conditions import Conditions, Values


def row(parts: list[str]) -> str:
    """Return the source of a row: bare if it is one value."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _product(emitter: Conditions, leaf: Node) -> Product:
    product: Product | None = emitter.tables[leaf.parts[0]].product
    assert product is not None
    emitter.timed.add(product.first)
    emitter.needs.add("N")
    return product


def limit(emitter: Conditions, leaf: Node, values: Values) -> str:
    """Return the last position at which the first side may have come, for a known other side."""
    product = _product(emitter, leaf)
    key = row([emitter.term(a, values) for a in leaf.parts[2 + product.split :]])
    return f"L{leaf.parts[0]}.get({key}, NEVER)" + (f" - {product.depth}" if product.depth else "")


def member(emitter: Conditions, leaf: Node, values: Values) -> str:
    """Return the condition that a known pair is in the table."""
    product = _product(emitter, leaf)
    key = row([emitter.term(a, values) for a in leaf.parts[2 : 2 + product.split]])
    return f"F{product.first}.get({key}, INF) <= {limit(emitter, leaf, values)}"


def settled(
    emitter: Conditions, leaf: Node, shared: list[Node], leaves: list[Node], values: Values
) -> str | None:
    """Return the condition that a pair exists whose other side is known, if it takes no search.

    If the first side is to be outside a table that only grows, the earliest row outside decides. Rows found
    inside stay inside, so each is passed over once in the whole trace.
    """
    product = _product(emitter, leaf)
    first, last = leaf.parts[2 : 2 + product.split], leaf.parts[2 + product.split :]
    if not all(emitter.knows(a, values) for a in last) or any(a in values for a in first) or len(shared) > 1:
        return None
    n = product.first
    if not shared:
        return f"(R{n} and F{n}[R{n}[0]] <= {limit(emitter, leaf, values)})"
    other = shared[0].parts[0]
    if not (isinstance(shared[0], Not) and isinstance(other, Old) and other.parts[2:] == first):
        return None
    if not emitter.tables[other.parts[0]].once or emitter.tables[other.parts[0]].product is not None:
        return None
    leaves.remove(shared[0])
    emitter.whole.add(other.parts[0])
    cursor = emitter.cursor(n, other.parts[0])
    outside = f"outside({cursor}, R{n}, T{other.parts[0]}, F{n})"
    return f"{outside} <= {limit(emitter, leaf, values)}"


def outside(cursor: list[int], rows: list[object], inside: set[object], first: dict[object, int]) -> float:
    """Return when the earliest row came that is not inside."""
    i, n = cursor[0], len(rows)
    while i < n and rows[i] in inside:
        i += 1
    cursor[0] = i
    return first[rows[i]] if i < n else float("inf")


def scan(emitter: Conditions, leaf: Node, values: Values, out: list[str], at: int) -> tuple[list[str], int]:
    """Write loops over the pairs; return conditions on them and the indentation."""
    product = _product(emitter, leaf)
    first, last = leaf.parts[2 : 2 + product.split], leaf.parts[2 + product.split :]
    tests: list[str] = []
    if not all(emitter.knows(a, values) for a in last):
        out.append("    " * at + f"for {_names(emitter, last, values, tests)} in L{leaf.parts[0]}:")
        at += 1
    if all(emitter.knows(a, values) for a in first):
        return [*tests, member(emitter, leaf, values)], at
    when = emitter.new("f")
    out.append(
        "    " * at + f"for {_names(emitter, first, values, tests)}, {when} in F{product.first}.items():"
    )
    out.append("    " * (at + 1) + f"if {when} > {limit(emitter, leaf, values)}:")
    out.append("    " * (at + 2) + "break")
    return tests, at + 1


def _names(emitter: Conditions, args: tuple[Node, ...], values: Values, tests: list[str]) -> str:
    names = []
    for arg in args:
        names.append(emitter.new("v"))
        if arg in values or not emitter.knows(arg, values):  # type: ignore[arg-type, comparison-overlap]
            if arg in values:  # type: ignore[comparison-overlap]
                tests.append(f"{names[-1]} == {values[arg]}")  # type: ignore[index]
            else:
                values[arg] = names[-1]  # type: ignore[index]
        else:
            tests.append(f"{names[-1]} == {emitter.term(arg, values)}")  # type: ignore[arg-type]
    return row(names)
