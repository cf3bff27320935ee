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


def accepted(trace: list[tuple[float, Any]], bound: float) -> tuple[list[Any], list[Any]]:
    """Return the events in order that are not late, and the late ones."""
    good, late = [], []
    for k, event in enumerate(trace):
        latest = max((t for t, _ in trace[:k]), default=event[0])
        (late if event[0] < latest - bound else good).append(event)
    return sorted(good, key=lambda e: e[0]), late


def sliding_time(inner: Any, trace: list[Any], span: float) -> list[Any]:
    """Return the output on the events less than `span` before each event of an ordered trace."""
    out, alone = [], Alone(inner)
    for k, (t, _) in enumerate(trace):
        out += alone([e for e in trace[: k + 1] if e[0] > t - span])
    return out


def aligned_time(inner: Any, trace: list[Any], span: int, every: int, partial: bool) -> list[Any]:
    """Return the output on each window [k * every, k * every + span) of an ordered trace."""
    if not trace:
        return []
    out, alone, last = [], Alone(inner), trace[-1][0]
    for k in range(-span - 1, last + 1):
        window = [e for e in trace if k * every <= e[0] < k * every + span]
        if window and (partial or k * every + span <= last):
            out += alone(window)
    return out


def sessions(trace: list[Any], gap: int, partial: bool) -> list[list[Any]]:
    """Return the stretches of an ordered trace without a pause longer than `gap`."""
    found: list[list[Any]] = []
    for event in trace:
        if found and event[0] - found[-1][-1][0] <= gap:
            found[-1].append(event)
        else:
            found.append([event])
    return found if partial else found[:-1]
