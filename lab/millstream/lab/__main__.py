"""The main job: `python -m millstream.lab` shows a first query and how fast queries run here."""

from __future__ import annotations

import sys
from operator import add

from millstream.processors import Cumulate, Filter, X

from .measure import best, rate, table
from .workloads import Workload, numbers, workloads

EVENTS = 200_000
REPETITIONS = 5
HEADER = ("events per second", "naive", "push", "pull", "push/naive", "pull/naive")


def first_query() -> str:
    """Show a query and its output.

    >>> print(first_query())
    query   Filter(X % 2 == 0) | Cumulate(add)
    input   1 2 3 4 5 6
    output  2 6 12
    """
    query, events = Filter(X % 2 == 0) | Cumulate(add), [1, 2, 3, 4, 5, 6]
    lines = (("query", repr(query)), ("input", shown(events)), ("output", shown(query(events))))
    return "\n".join(f"{name:6}  {text}" for name, text in lines)


def shown(events: object) -> str:
    """Write a stream on one line."""
    return " ".join(map(str, events))  # type: ignore[call-overload]


def measured(workload: Workload, events: list[int], repetitions: int) -> tuple[str, ...]:
    """Measure one workload after checking that all its forms agree; give its row of the table."""
    forms = (workload.run_naive, workload.run_push, workload.run_pull)
    expected, *others = (form(events) for form in forms)
    if any(other != expected for other in others):
        raise AssertionError(f"{workload.name}: the forms of this workload give different outputs")
    times = best([lambda form=form: form(events) for form in forms], repetitions)  # type: ignore[misc]
    naive, push, pull = (len(events) / time for time in times)
    return (workload.name, *map(rate, (naive, push, pull)), f"{push / naive:.1f}", f"{pull / naive:.1f}")


def benchmark(events: list[int], repetitions: int = REPETITIONS) -> str:
    """Measure all workloads, with a progress line; give the table."""
    rows: list[tuple[str, ...]] = [HEADER]
    every = list(workloads())
    for k, workload in enumerate(every, 1):
        progress(f"measuring {k}/{len(every)}: {workload.name}")
        rows.append(measured(workload, events, repetitions))
    progress("")
    return table(rows)


def progress(text: str) -> None:
    """Rewrite the progress line, if someone watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run the main job."""
    print(first_query())
    print(
        f"\n{EVENTS:,} events, best of {REPETITIONS} repetitions in CPU time, Python {sys.version.split()[0]}"
    )
    print(benchmark(numbers(EVENTS)))


if __name__ == "__main__":
    main()
