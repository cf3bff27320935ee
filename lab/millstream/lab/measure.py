"""Measuring: the best of several repetitions, in CPU time of this process.

Other programs on the machine can only make a repetition slower, so the fastest one says most about the code.
The repetitions of different candidates take turns, so that a slow moment does not fall on one of them alone.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import process_time
from typing import Any

Candidate = Callable[[], Any]


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from running while something is measured."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(candidate: Candidate) -> float:
    """Run a candidate once, with the garbage collector at rest; give its CPU time in seconds.

    >>> seconds(lambda: sum(range(1000))) >= 0
    True
    """
    with collector_at_rest():
        begun = process_time()
        candidate()
        return process_time() - begun


def best(
    candidates: Sequence[Candidate], repetitions: int = 5, progress: Callable[[], Any] = lambda: None
) -> list[float]:
    """Give the shortest CPU time of each candidate; `progress` is called after each single measurement.

    >>> len(best([list, dict], repetitions=2))
    2
    """
    times = [float("inf")] * len(candidates)
    for _ in range(repetitions):
        for k, candidate in enumerate(candidates):
            times[k] = min(times[k], seconds(candidate))
            progress()
    return times


def rate(per_second: float) -> str:
    """Write a rate in three significant digits.

    >>> rate(1_234_567), rate(45_600), rate(12), rate(23_400_000)
    ('1.23M', '45.6k', '12', '23.4M')
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if per_second >= unit:
            value = per_second / unit
            return f"{value:.{max(0, 2 - (value >= 10) - (value >= 100))}f}{name}"
    return f"{per_second:.0f}"


def table(rows: Iterable[Sequence[str]]) -> str:
    """Align rows of text in columns: the first column to the left, all others to the right.

    >>> print(table([("query", "push"), ("x + 1", "18M")]))
    query  push
    x + 1   18M
    """
    rows = [*rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            text.rjust(w) if k else text.ljust(w) for k, (text, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
