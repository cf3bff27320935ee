"""Figures as text: what stands in a cell of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .measure import rate
from .rows import Row, columns

#: shown when a row has no figure for a column
NOTHING = "–"


def cell(name: str, value: Any) -> str:
    """Write one figure: rates with a unit, loads as shares, other numbers with three digits that count.

    >>> cell("Hz", 1234567.0), cell("load", 0.5), cell("ratio", 12.3456), cell("n", 1200), cell("s", 0.00123)
    ('1.23M', '0.50', '12.3', '1,200', '0.00123')
    >>> cell("verdict", True), cell("paper", None), cell("counts", [30, 17])
    ('yes', '–', '30, 17')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, int | float) and (name == "Hz" or name.endswith(" Hz")):
        return rate(value)
    if isinstance(value, float):
        return f"{value:.2f}" if name.endswith("load") else number(value)
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(cell("", v) for v in value) if isinstance(value, list | tuple) else str(value)


def number(value: float) -> str:
    """Write a number with three digits that count, without exponent.

    >>> number(1234.5), number(12.345), number(2.0), number(0.0456), number(0.0), number(1e-7)
    ('1,234', '12.3', '2', '0.0456', '0', '1e-07')
    """
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    if digits > 8:
        return f"{value:.2g}"
    text = f"{value:,.{max(0, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def grid(rows: Iterable[Row]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the cells of a table.

    >>> grid([{"n": 2, "S": 9.0}, {"n": 10}])
    (['n', 'S'], [['2', '9'], ['10', '–']])
    """
    rows = list(rows)
    heads = columns(rows)
    return heads, [[cell(head, row.get(head)) for head in heads] for row in rows]


def numeric(cells: Iterable[str]) -> bool:
    """Tell whether a column is one of numbers, which are set to the right.

    >>> numeric(["1.2M", "–", "30, 17"]), numeric(["push", "1"])
    (True, False)
    """
    return all(
        text == NOTHING or text == "" or text.lstrip("-+<>~").startswith(tuple("0123456789"))
        for text in cells
    )
