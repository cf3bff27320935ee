"""Brute-force twins: windows cut out of the whole trace, the inner query run alone on each."""

from typing import Any

from millstream.processors import Query


class Alone:
    """The last output of a query run on its own, or a function's value, in a list; [] if there is none."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.out = inner, list[Any]()
        self.run = inner.into(self.out) if isinstance(inner, Query) else None

    def __call__(self, events: list[Any]) -> list[Any]:
        if self.run is None:
            return [self.inner(tuple(events))] if events else []
        self.out.clear()
        self.run.reset()
        self.run.push_all(events)
        self.run.end()
        return self.out[-1:]


def windows(inner: Any, trace: list[Any], width: int, step: int = 1, partial: bool = False) -> list[Any]:
    """Return the output on each window of a number of events."""
    out, alone = [], Alone(inner)
    for k in range(0, len(trace), step):
        if partial or k + width <= len(trace):
            out += alone(trace[k : k + width])
    return out
