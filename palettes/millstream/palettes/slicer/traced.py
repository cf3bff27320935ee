"""Slices in runs that explain themselves: the inner query takes events that know where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from millstream.processors import as_function
from millstream.processors.lineage import OnValue, Traced, merged

from .snapshot import Snapshot


def on_value(function: Any) -> Any:
    """Return a function or expression of an event as one of a traced event."""
    return None if function is None else OnValue(as_function(function))


def pair(output: tuple[Any, Traced]) -> Traced:
    """Return a traced pair of key and output."""
    key, event = output
    return Traced((key, event.value), event.lineage)


@frozen
class Together:
    """A function of the last outputs of all slices, or of their snapshot, for traced ones."""

    function: Any
    limit: int

    def __call__(self, outputs: Iterable[Traced]) -> Traced:
        several = list(outputs)
        lineage = merged((e.lineage for e in several), self.limit)
        return Traced(self.function([e.value for e in several]), lineage)


@frozen
class Shown:
    """Makes a traced snapshot of a snapshot of traced outputs."""

    limit: int

    def __call__(self, shown: Snapshot) -> Traced:
        values = Snapshot((key, event.value) for key, event in shown.items())
        return Traced(values, merged((event.lineage for event in shown.values()), self.limit))
