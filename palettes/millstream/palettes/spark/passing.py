"""Which processors of a query act on the passing of time, and their clocks brought to the stream's.

A window that stands behind a function sees other events than the stream's rows, so its time cannot be told
from the stream's: only processors that take the rows themselves (perhaps filtered) are let know that time has
passed. Their clocks may count otherwise than the column (in seconds, from another moment on); since a clock
is a line, two of its values say how it counts.

Inside a `Slice` no time passes by itself. In a local run what a slice has due comes with its next event,
behind what other slices have given in between; told in time, it would come before them, and a processor
behind the `Slice` would compute something else than locally.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from attrs import define

from millstream.processors import (
    Filter,
    Fork,
    Passthrough,
    Query,
    Run,
    Tap,
    Timed,
    Trim,
    Uniform,
    as_function,
)
from millstream.processors.graph import flatten

from .durations import TimeColumn

#: processors that hand on the events they get
SAME = (Filter, Fork, Passthrough, Tap, Trim)
#: two times, in seconds of a column of numbers or in microseconds, to look at clocks with
LOOKS = 1_000_000_000, 2_000_000_000


def timed_nodes(query: Query) -> tuple[list[int], list[int]]:
    """Return the numbers of the processors that keep time: those that take the rows themselves, the others.

    >>> from millstream.palettes.windows import TimeWindow
    >>> from millstream.processors import E
    >>> window = TimeWindow(len, 10, every=10)
    >>> timed_nodes(Filter(E.n > 0) | window), timed_nodes((lambda e: e) | window)
    (([1], []), ([], [1]))
    """
    flat, _ = flatten(query.graph)
    feeds = {e.target: e.source[0] for e in flat.edges}
    direct: set[int] = set()
    for n, node in enumerate(flat.nodes):
        source = feeds.get((n, 0))
        if node.arity[0] and (source is None or (source in direct and isinstance(flat.nodes[source], SAME))):
            direct.add(n)
    keeping = [n for n, node in enumerate(flat.nodes) if isinstance(node, Timed) and node.time is not None]
    if any(node.arity[0] > 1 for node in flat.nodes):
        # an output of its own would meet the wrong one where streams meet, event by event
        direct -= {n for n in keeping if isinstance(flat.nodes[n], Uniform)}
    return [n for n in keeping if n in direct], [n for n in keeping if n not in direct]


@define
class Part:
    """A processor that keeps time, and how its clock counts: value = begin + (time - LOOKS[0]) * rate."""

    node: Timed
    read: Callable[[Any], Any]
    begin: Any
    rate: Any

    def due(self) -> Any:
        """Return when the processor is due, in the stream's time; None if it is not."""
        due = self.node.due()
        if due is None:
            return None
        low, high = LOOKS
        if self.read(low) == low and self.read(high) == high:
            return due
        time = low + math.floor((due - self.begin) / self.rate)
        while self.read(time) < due:
            time += 1
        return time

    def pass_time(self, time: Any) -> None:
        """Let time pass."""
        self.node.pass_time(self.read(time))


class Passing:
    """The parts of a run that keep time."""

    def __init__(self, run: Run, nodes: Sequence[int], column: TimeColumn, names: Sequence[str]) -> None:
        self.parts = [_part(run.processors[n], column, names) for n in nodes]

    def due(self) -> Any:
        """Return the earliest time at which a processor is due, None if there is none."""
        return min((d for part in self.parts if (d := part.due()) is not None), default=None)

    def pass_time(self, time: Any) -> None:
        """Let time pass for all of them."""
        for part in self.parts:
            part.pass_time(time)


def _part(node: Any, column: TimeColumn, names: Sequence[str]) -> Part:
    clock = as_function(node.time)

    def read(time: Any) -> Any:
        return clock({**dict.fromkeys(names), column.name: column.value(time)})

    low, high = map(read, LOOKS)
    span = high - low
    rate = span / (LOOKS[1] - LOOKS[0])
    if isinstance(low, datetime):
        # microseconds exactly, where timedeltas would be rounded to whole ones
        rate = span // (LOOKS[1] - LOOKS[0])
    return Part(node, read, low, rate)
