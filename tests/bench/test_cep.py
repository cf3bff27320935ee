"""Composite events: per key, as the history grows, and in proportion to what is found.

Nothing here asserts a time: run with ``-s`` to see the ratios; the outputs are checked.
"""

from random import Random
from statistics import median
from time import perf_counter, process_time, sleep

import pytest

from millstream.lab.measure import best, rate
from millstream.palettes.cep import Detector, Mode, before, both, on
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


def busy(event):
    """Take about a millisecond of computing."""
    total = 0
    for k in range(30_000):
        total += k
    return total >= 0


def waits(event):
    """Wait for about a millisecond, as for an answer from elsewhere."""
    sleep(0.001)
    return True


def busy_a(event):
    return busy(event) and event[0] == "A"


def busy_b(event):
    return busy(event) and event[0] == "B"


def waits_a(event):
    return waits(event) and event[0] == "A"


def waits_b(event):
    return waits(event) and event[0] == "B"


def gains(actions, rounds=5):
    """Return how much faster actions are than the first one, by medians of rounds in which all take turns."""
    times = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            begun = perf_counter()
            action()
            times[name].append(perf_counter() - begun)
    first = median(next(iter(times.values())))
    return {name: round(first / median(t), 2) for name, t in times.items()}


class Alone:
    """Makes, in a worker, a sequential detector that counts what it finds in the events of a request."""

    def __init__(self, query):
        self.query = query

    def __call__(self):
        return lambda events: count(self.query, events)


def measured(workers, tree, events, names, **options):
    """Return the gains of strategies on two workers, and that of two independent detectors on half each."""
    concurrency = pytest.importorskip("millstream.concurrency")
    plain, half = Detector(tree, **options), len(events) // 2
    expected = count(plain, events)

    def run(name):
        assert count(Detector(tree, strategy=name, manager=manager, **options), events) == expected

    def independent():
        with concurrency.Crew(manager, alone, 2) as crew:
            crew.send(0, events[:half])
            crew.send(1, events[half:])
            return crew.receive(), crew.receive()

    alone = Alone(plain)
    with concurrency.ThreadManager(2, workers) as manager:
        actions = {name: lambda name=name: run(name) for name in ("sequential", *names)}
        return gains(actions | {"two independent": independent})


@pytest.mark.parametrize(
    ("workers", "a", "b"),
    [("processes", busy_a, busy_b), ("processes", waits_a, waits_b), ("threads", waits_a, waits_b)],
    ids=["busy", "waits", "threads"],
)
def test_gain_of_two_workers_is_printed(workers, a, b):
    """Predicates of about a millisecond; other programs that use a core spoil the figure for processes."""
    events = [("AB"[t % 2], t) for t in range(512)]
    names = ("pps", "heartbeat", "ups", "hybrid", "auto")
    print(
        f"\ntwo {workers}, 1 ms predicates:",
        measured(workers, before(on(a), on(b)), events, names, time=X[1]),
    )


def alike(a, b):
    """A condition across constituents that takes some hundred microseconds."""
    return sum(range(6000)) > 0


def test_gain_of_a_shared_join_is_printed():
    events = [("AB"[t % 2], t) for t in range(400)]
    tree, names = before("A", "B").within(50).where(alike), ("pps", "ups", "hybrid")
    print("\nA before B in ALL:", measured("processes", tree, events, names, mode=Mode.ALL, **READ))


def test_auto_with_trivial_predicates_is_printed():
    concurrency = pytest.importorskip("millstream.concurrency")
    events = [("AB"[t % 2], t) for t in range(100_000)]
    with concurrency.ThreadManager(2) as manager:

        def make(strategy):
            return Detector(both("A", "B"), strategy=strategy, manager=manager, **READ)

        def check(query):
            assert count(query, events) == 50_000

        faster = gains({n: lambda n=n: check(make(n)) for n in ("sequential", "auto")})
        run = make("auto").into()
        run.push_all(events)
        assert isinstance(run.processors[0].memory, list)
    print("\ntrivial predicates:", faster)
