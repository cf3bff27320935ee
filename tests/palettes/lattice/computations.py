"""Random distributed computations, and the lattice by brute force: every combination, checked one by one."""

from itertools import product
from typing import Any

from hypothesis import strategies as st

#: the computation of Figure 1(a): the clocks of both processes' states
FIRST = [(0, 0), (1, 3), (2, 3), (3, 3), (4, 4), (5, 4)]
SECOND = [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (5, 5)]
#: the order of arrival in Figure 3
FIGURE_3 = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4), (0, 5)]


def figure_3():
    """The states of Figure 3 as (process, clock), in order of arrival."""
    return [(k, (FIRST, SECOND)[k][number]) for k, number in FIGURE_3]


@st.composite
def computations(draw, max_processes=4, max_events=24):
    """A distributed computation as its checker sees it: (process, clock), in order within each process."""
    n = draw(st.integers(1, max_processes))
    clocks = [[0] * n for _ in range(n)]
    states = [[tuple(clock)] for clock in clocks]
    messages: list[Any] = []
    for _ in range(draw(st.integers(0, max_events))):
        k = draw(st.integers(0, n - 1))
        mine = [m for m in messages if m[0] == k]
        if mine and draw(st.booleans()):
            message = draw(st.sampled_from(mine))
            messages.remove(message)
            clocks[k] = [max(a, b) for a, b in zip(clocks[k], message[1], strict=True)]
        clocks[k][k] += 1
        states[k].append(tuple(clocks[k]))
        if n > 1 and draw(st.booleans()):
            messages.append((draw(st.integers(0, n - 1)), tuple(clocks[k])))
    arrivals = []
    while any(states):
        k = draw(st.sampled_from([k for k, rest in enumerate(states) if rest]))
        arrivals.append((k, states[k].pop(0)))
    return arrivals


def processes(arrivals):
    return len(arrivals[0][1])


def in_window(arrivals, widths):
    """The clocks of the newest states of each process, oldest first."""
    clocks = [[c for k, c in arrivals if k == process] for process in range(len(widths))]
    return [c if w is None else c[-w:] for c, w in zip(clocks, widths, strict=True)]


def brute_force(windows):
    """All consistent global states of some windows, as vectors of state numbers."""
    found = set()
    for clocks in product(*windows):
        numbers = tuple(clock[k] for k, clock in enumerate(clocks))
        if all(known <= here for clock in clocks for known, here in zip(clock, numbers, strict=True)):
            found.add(numbers)
    return found


def above(state):
    return [(*state[:k], state[k] + 1, *state[k + 1 :]) for k in range(len(state))]


def paths(states):
    """Every path from the least to the greatest state."""
    top = max(states, key=sum)
    todo = [[min(states, key=sum)]]
    while todo:
        path = todo.pop()
        if path[-1] == top:
            yield path
        todo += [[*path, step] for step in above(path[-1]) if step in states]
