"""Brute-force twins: windows cut out of the whole trace, the inner query run alone on each."""

from typing import Any

from millstream.palettes.windows import AfterCount, Pane
from millstream.processors import Query


class Alone:
    """The last output of a query run on its own, or a function's value, in a list; [] if there is none."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.out = inner, list[Any]()
        self.run = inner.into(self.out) if isinstance(inner, Query) else None

    def __call__(self, events: list[Any], ended: bool = True) -> list[Any]:
        if self.run is None:
            return [self.inner(tuple(events))] if events else []
        self.out.clear()
        self.run.reset()
        self.run.push_all(events)
        if ended:
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


class Speaker:
    """When a window speaks early: given the times of its events since it may speak, and its beginning."""

    def __init__(self, early: Any) -> None:
        self.early, self.times, self.said = early, list[Any](), list[Any]()

    def speaks(self, begin: Any, time: Any) -> bool:
        """Return whether it speaks after one more event."""
        self.times.append(time)
        if isinstance(self.early, AfterCount):
            return len(self.times) % self.early.events == 0
        if time - max([begin, *self.said]) < self.early.span:
            return False
        self.said.append(time)
        return True


def early_time(inner: Any, trace: list[Any], span: int, every: int, partial: bool, early: Any) -> list[Pane]:
    """Return the panes of aligned windows; the oldest one that an event is in may speak early."""
    numbers = range(-span - 1, max((t for t, _ in trace), default=0) + 1)
    out, alone = list[Pane](), Alone(inner)
    still, speakers = list(numbers), {k: Speaker(early) for k in numbers}

    def pane(k: int, count: int, closed: bool) -> None:
        begin, end = k * every, k * every + span
        window = [e for e in trace[:count] if begin <= e[0] < end]
        if window:
            out.extend(Pane(begin, end, y, not closed) for y in alone(window, closed))

    for count, (t, _) in enumerate(trace, 1):
        while still and still[0] * every + span <= t:
            pane(still.pop(0), count, closed=True)
        if still and still[0] * every <= t and speakers[still[0]].speaks(still[0] * every, t):
            pane(still[0], count, closed=False)
    for k in still if partial else ():
        pane(k, len(trace), closed=True)
    return out


def early_sessions(
    inner: Any, trace: list[Any], gap: Any, max_count: Any, max_span: Any, partial: bool, early: Any
) -> list[Pane]:
    """Return the panes of sessions: each event is in the session of the one before, unless that is over."""
    found: list[list[Any]] = []
    for event in trace:
        session = found[-1] if found else []
        over = (
            not session
            or (gap is not None and event[0] - session[-1][0] > gap)
            or (max_count is not None and len(session) == max_count)
            or (max_span is not None and event[0] - session[0][0] >= max_span)
        )
        if over:
            found.append([event])
        else:
            session.append(event)
    out, alone = list[Pane](), Alone(inner)
    for number, session in enumerate(found):
        begin, speaker = session[0][0], Speaker(early)
        for count, (t, _) in enumerate(session, 1):
            if count != max_count and early is not None and speaker.speaks(begin, t):
                out += [Pane(begin, t, y, True) for y in alone(session[:count], False)]
        if partial or number < len(found) - 1 or len(session) == max_count:
            out += [Pane(begin, session[-1][0], y) for y in alone(session)]
    return out
