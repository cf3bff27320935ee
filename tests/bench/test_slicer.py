"""Slices: events per second and bytes per key; all figures of one table are of one run.

Nothing here asserts a time: the figures are printed beside the goals, and the results are checked.
"""

import random
import tracemalloc
from collections import Counter, deque

import pytest

from millstream.lab.measure import best, rate, table
from millstream.palettes.slicer import ALL, Slice
from millstream.processors import Count, X

pytestmark = pytest.mark.bench
EVENTS = 300_000


def keys(count):
    return random.Random(count).choices(range(count), k=EVENTS)


def drain(query, events):
    deque(query(events), maxlen=0)


def push(query, events):
    query.into(deque(maxlen=0).append).push_all(events)


def naive(events):
    """The loop that one would write for this one query."""
    counts, out = {}, deque(maxlen=0)
    for key in events:
        counts[key] = counts.get(key, 0) + 1
        out.append((key, counts[key]))
    return counts


def test_slices_at_10k_and_200k_keys(capsys):
    query, rows = Slice(X, Count()), [("keys (goal 3.5M/s at 10k)", "push", "pull", "by hand")]
    for count in (10_000, 200_000):
        events = list(range(count)) + keys(count)
        assert dict(query(events)) == Counter(events)
        times = best(
            [lambda e=events, f=f: f(query, e) for f in (push, drain)] + [lambda e=events: naive(e)], 4
        )
        rows.append((str(count), *(rate(len(events) / t) for t in times)))
    with capsys.disabled():
        print("\n" + table(rows))


def warm(count, events):
    """Return a run in which all slices exist, about to take events."""
    run = Slice(X, Count()).into(deque(maxlen=0).append)
    run.push_all(range(count))
    return lambda: run.push_all(events)


def test_slices_time_per_event_once_all_slices_exist(capsys):
    """Random keys miss the caches of the machine, whatever the program; hence the loop by hand."""
    rows = [("200k/10k keys (goal 2)", "Slice", "by hand")]
    for name, choose in (("in turn", lambda n: [k % n for k in range(EVENTS)]), ("at random", keys)):
        few, many = choose(10_000), choose(200_000)
        forms = [warm(10_000, few), warm(200_000, many), lambda e=few: naive(e), lambda e=many: naive(e)]
        times = best(forms, 4)
        rows.append((name, f"{times[1] / times[0]:.2f}", f"{times[3] / times[2]:.2f}"))
    with capsys.disabled():
        print("\n" + table(rows))


def test_slices_bytes_per_key(capsys):
    run = Slice(X, Count()).into(deque(maxlen=0).append)
    events = list(range(200_000)) * 2
    tracemalloc.start()
    try:
        run.push_all(events)
        used = tracemalloc.get_traced_memory()[0] / 200_000
    finally:
        tracemalloc.stop()
    with capsys.disabled():
        print(f"\nstate of a counter at 200k keys: {used:.0f} bytes a key (goal 120)")


def test_slices_snapshots_and_collections(capsys):
    events = list(range(10_000)) + keys(10_000)[:100_000]
    shapes = {
        "snapshot (goal 500k/s)": {"snapshot": True},
        "collect=max": {"collect": max},
        "until": {"until": X > 50},
        "ttl": {"ttl": 20_000},
        "least recently used": {"max_slices": 5000, "full": "drop"},
    }
    times = best([lambda o=o: drain(Slice(X, Count(), **o), events) for o in shapes.values()], 3)
    with capsys.disabled():
        print("\n" + table([(name, rate(len(events) / t)) for name, t in zip(shapes, times, strict=True)]))


def test_slices_broadcast_costs_in_proportion_to_live_slices(capsys):
    rows = [("live slices", "time per broadcast and slice, ns")]
    for count in (10, 1000, 100_000):
        run = Slice(lambda x: ALL if x < 0 else x, Count()).into(deque(maxlen=0).append)
        run.push_all(range(count))
        (time,) = best([lambda r=run, n=200_000 // count: r.push_all([-1] * n)], 3)
        rows.append((str(count), f"{time / (200_000 // count * count) * 1e9:.0f}"))
    with capsys.disabled():
        print("\n" + table(rows))
