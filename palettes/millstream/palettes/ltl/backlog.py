"""Pending positions when there are many runs: each distinct state is stepped once, runs only refer to it.

An event costs as many steps as there are distinct states (a property of the formula), whatever the number of
runs; a run is created and popped once. All of it is built-in containers, so that it can be saved.
"""

from __future__ import annotations

from collections import deque

from .configs import Config, config
from .machine import Machine, Spots, State

#: (past, class -> state, class -> class it was melted into, runs of [class, length], next class)
Backlog = tuple[Spots, dict[int, State], dict[int, int], deque[list[int]], list[int]]


def open_backlog(row: Config, starts: list[int], n: int) -> Backlog:
    """Return the backlog of a config's runs, ``n`` being the position of the next event."""
    ends = [*starts[1:], n]
    classes = {s: k for k, s in enumerate(dict.fromkeys(row.runs))}
    states = {k: s for s, k in classes.items()}
    runs = deque([classes[s], b - a] for s, a, b in zip(row.runs, starts, ends, strict=True))
    return row.past, states, {}, runs, [len(states)]


def advance(m: Machine, log: Backlog, valuation: int) -> tuple[Backlog, list[tuple[bool, int]]]:
    """Read one event; return the backlog and the verdicts that leave, as runs."""
    past, states, melted, runs, counter = log
    fresh = m.start(past).step(valuation)
    seen: dict[State, int] = {}
    for k, s in list(states.items()):
        following = s.step(valuation)
        if following in seen:
            melted[k] = seen[following]
            del states[k]
        else:
            seen[following] = k
            states[k] = following
    k = seen.get(fresh, counter[0])
    if fresh not in seen:
        states[k] = fresh
        counter[0] += 1
    if runs and find(melted, runs[-1][0]) == k:
        runs[-1][1] += 1
    else:
        runs.append([k, 1])
    past = m.tableau.step(past, valuation)
    return (past, states, melted, runs, counter), _leave(states, melted, runs)


def _leave(
    states: dict[int, State], melted: dict[int, int], runs: deque[list[int]]
) -> list[tuple[bool, int]]:
    out: list[tuple[bool, int]] = []
    while runs:
        verdict = states[find(melted, runs[0][0])].verdict
        if verdict is None:
            break
        out.append((verdict, runs.popleft()[1]))
    if not runs:
        states.clear()
        melted.clear()
    return out


def find(melted: dict[int, int], k: int) -> int:
    """Return the class that a class has been melted into, shortening the way."""
    root = k
    while root in melted:
        root = melted[root]
    while k != root:
        melted[k], k = root, melted[k]
    return root


def close_backlog(m: Machine, log: Backlog, n: int) -> tuple[Config, list[int]] | None:
    """Return config and beginnings, ``n`` being the position of the next event, if the runs are few again."""
    past, states, melted, runs, _ = log
    if len(runs) > 2:
        return None
    row = tuple(states[find(melted, k)] for k, _ in runs)
    starts: list[int] = []
    for _, length in reversed(runs):
        n -= length
        starts.insert(0, n)
    if len(row) == 2 and row[0] is row[1]:
        row, starts = row[:1], starts[:1]
    return config(m, past, row), starts


def pending(log: Backlog) -> list[tuple[State, int]]:
    """Return the states of the pending positions, as runs."""
    _, states, melted, runs, _ = log
    return [(states[find(melted, k)], length) for k, length in runs]
