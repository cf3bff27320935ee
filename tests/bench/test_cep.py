"""Composite events: per key, as the history grows, and in proportion to what is found.

Nothing here asserts a time: run with ``-s`` to see the ratios; the outputs are checked.
"""

from random import Random
from time import process_time

import pytest

from millstream.lab.measure import best, rate
from millstream.palettes.cep import Detector, Mode, before, both
from millstream.palettes.slicer import Slice
from millstream.processors import X

pytestmark = [
    pytest.mark.bench,
    pytest.mark.benchmark(timer=process_time, disable_gc=True, min_rounds=3, warmup=False),
]
READ = {"time": X[1], "kind": X[0]}


def keyed(number, keys, alternating):
    """Return (kind, time, key): A and B at random, or in turn for each key."""
    random, last, out = Random(1), {}, []
    for time in range(number):
        key = random.randrange(keys)
        kind = ("A" if last.get(key) != "A" else "B") if alternating else random.choice("AB")
        last[key] = kind
        out.append((kind, time, key))
    return out


def by_hand(events):
    """Match A before B per key, written for this one purpose."""
    waiting, found = {}, 0
    for event in events:
        kind, time, key = event
        queue = waiting.setdefault(key, [])
        if kind == "A":
            queue.append(event)
        elif queue and queue[0][1] < time:
            queue.pop(0)
            found += 1
    return found


def count(query, events):
    found = [0]

    def sink(_):
        found[0] += 1

    run = query.into(sink)
    run.push_all(events)
    run.end()
    return found[0]


@pytest.mark.parametrize("alternating", [True, False], ids=["in turn", "at random"])
@pytest.mark.parametrize("keys", [100, 10_000])
@pytest.mark.parametrize("form", ["by hand", "Slice of Detector"])
def test_chronicle_per_key(benchmark, form, keys, alternating):
    events = keyed(200_000, keys, alternating)
    benchmark.group = f"A before B, {keys} keys, {'in turn' if alternating else 'at random'}"
    query = Slice(X[2], Detector(before("A", "B"), **READ))
    found = benchmark(by_hand, events) if form == "by hand" else benchmark(count, query, events)
    assert found == by_hand(events)


@pytest.mark.parametrize("mode", [Mode.CHRONICLE, Mode.RECENT], ids=lambda m: m.name)
def test_cost_per_event_as_the_history_grows_is_printed(mode):
    for make in (before, both):
        query = Detector(make("A", "B"), mode, **READ)
        # three A for each B: what waits grows with the history
        sizes = {n: [("AAAB"[t % 4], t) for t in range(n)] for n in (10_000, 100_000, 1_000_000)}
        times = {
            n: best([lambda q=query, e=e: count(q, e)], repetitions=2)[0] / n * 1e6 for n, e in sizes.items()
        }
        print(f"\n{make.__name__} {mode.name}, us an event:", {n: round(t, 2) for n, t in times.items()})


def test_cost_of_all_in_proportion_to_results_is_printed():
    for width in (10, 100, 1000):
        events = [("AB"[t % 2], t) for t in range(20_000)]
        query = Detector(before("A", "B").within(width), Mode.ALL, **READ)
        seconds, found = best([lambda q=query, e=events: count(q, e)], repetitions=2)[0], count(query, events)
        print(f"\nALL within {width}: {found} results, {rate(found / seconds)} results a second")
