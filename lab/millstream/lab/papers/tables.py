"""Tables of figures, and what became of a paper's claims, as text."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def show(title: str, rows: list[Row]) -> None:
    """Print rows as a table.

    >>> show("Sizes", [{"n": 2, "S": 9}, {"n": 10, "S": 34408}])
    Sizes
     n      S
     2      9
    10  34408
    <BLANKLINE>
    """
    print(title)
    texts = [[str(value) for value in row.values()] for row in rows]
    heads = list(rows[0])
    sizes = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    for line in (heads, *texts):
        print("  ".join(text.rjust(size) for text, size in zip(line, sizes, strict=True)))
    print()


def claim(what: str, paper: Any, ours: Any, holds: bool | None) -> Row:
    """Return the row of a claim: what the paper says, what we measure, whether that agrees (None: untried).

    >>> claim("size at w = 4", 27.23, 26.9, True)
    {'claim': 'size at w = 4', 'paper': 27.23, 'ours': 26.9, 'reproduced': 'yes'}
    """
    word = {True: "yes", False: "NO", None: "not tried"}[holds]
    return {"claim": what, "paper": paper, "ours": ours, "reproduced": word}


def near(ours: float, paper: float, share: float = 0.1) -> bool:
    """Tell whether a figure is that of the paper, up to a share of it."""
    return abs(ours - paper) <= share * paper
