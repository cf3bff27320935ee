"""What workers gain, and what handing over costs: run with ``-s`` to see the figures; no time is asserted.

Every gain is printed beside the ideal of the same moment: how much faster two independent processes are than
one, which on a shared machine is often far from two.
"""

import subprocess
import sys
from operator import add
from random import Random
from time import perf_counter, process_time

import pytest

from millstream.concurrency import (
    NonBlockingProcessor,
    ParallelSlice,
    PhasedGraph,
    Phases,
    Pipeline,
    PullGroup,
    ThreadManager,
    number,
    parallelize,
)
from millstream.concurrency.manager import gil_is_enabled
from millstream.palettes.slicer import Slice
from millstream.processors import Apply, Cumulate, X

pytestmark = pytest.mark.bench
KIND = "processes" if gil_is_enabled() else "threads"
SPIN = "import time\nt=time.perf_counter()\nfor k in range(3000000): k & 3\nprint(time.perf_counter() - t)"


def busy(rounds, x):
    for k in range(rounds):
        k & x
    return x


class Work:
    """A function that takes about so many microseconds."""

    def __init__(self, microseconds):
        begun = process_time()
        busy(200_000, 3)
        self.rounds = int(microseconds * 1e-6 * 200_000 / (process_time() - begun))

    def __call__(self, x):
        return busy(self.rounds, x)


def ideal():
    """How much faster two processes are than one, now."""

    def run(count):
        programs = [
            subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE) for _ in range(count)
        ]
        return max(float(p.communicate()[0]) for p in programs)

    return 2 * run(1) / run(2)


def seconds(function):
    begun = perf_counter()
    result = function()
    return perf_counter() - begun, result


def compare(name, plain, parallel, warm):
    warm()
    one, expected = seconds(plain)
    other, got = seconds(parallel)
    assert got == expected
    print(f"\n{name}: {one / other:.2f}x (two independent processes: {ideal():.2f}x)")


@pytest.mark.parametrize("microseconds", [10, 100])
def test_gain_of_wrappers(microseconds):
    work = Apply(Work(microseconds))
    events = list(range(400_000 // microseconds))
    with ThreadManager(2, KIND) as manager:
        for plain, parallel in (
            (work, Pipeline(work, manager)),
            (work | work, PullGroup(work, manager) | work),
            (
                Slice(X % 50, work | Cumulate(add)),
                ParallelSlice(Slice(X % 50, work | Cumulate(add)), manager),
            ),
        ):
            name = f"{microseconds} us an event, {parallel!r:.30}"
            compare(name, lambda p=plain: list(p(events)), lambda p=parallel: list(p(events)),
                    lambda p=parallel: list(p(events[:50])))  # fmt: skip


def test_gain_of_copies():
    work = Apply(Work(200))
    with ThreadManager(2, KIND) as manager:

        def copies(query):
            out = []
            run = query.into(out)
            states = [run.fresh() for _ in range(10)]
            for event in range(100):
                states = list(run.each((s, event) for s in states))
            return out

        fast = NonBlockingProcessor(work, manager)
        compare("10 copies, 200 us each", lambda: copies(work), lambda: copies(fast), lambda: copies(fast))


@pytest.mark.parametrize("microseconds", [100, 300])
def test_gain_of_phased_graph(microseconds):
    graph = PhasedGraph()
    graph.add("x")
    work = Work(microseconds)
    for k in range(8):
        graph.add(f"a{k}", work, "x")
        graph.add(f"b{k}", work, f"a{k}")
    phases = [(k, {"x": k}) for k in range(30_000 // microseconds)]
    with ThreadManager(2, KIND) as manager:
        compare(
            f"phased graph, {microseconds} us a vertex",
            lambda: list(graph.run(phases)),
            lambda: list(graph.run(phases, manager)),
            lambda: list(graph.run(phases[:3], manager)),
        )


def test_cost_of_the_scheduler():
    random, size = Random(1), 1000
    edges = {(random.randrange(max(0, k - 50), k), k) for k in range(20, size) for _ in range(3)}
    numbering = number(range(size), edges)
    after = [[] for _ in range(size + 1)]
    for a, b in edges:
        after[numbering.index[a]].append(numbering.index[b])
    phases, ready, count = Phases(numbering.m), [], 100_000
    begun = process_time()
    for _ in range(count):
        while phases.in_flight < 64:
            ready += phases.start()
        v, p = ready.pop()
        ready += phases.finish(v, p, after[v])
    print(f"\nscheduler: {(process_time() - begun) / count * 1e6:.2f} us a vertex, 1000 vertices, 64 phases")
    assert phases.completed > 0


def test_cost_of_a_refusal_and_of_handing_over():
    events, plain = range(1_000_000), Apply(X + 1)
    with ThreadManager(0) as manager:
        begun = process_time()
        for _ in range(100_000):
            manager.request(list)
        print(f"\nrefusal: {(process_time() - begun) / 1e5 * 1e9:.0f} ns")
    times = []
    with ThreadManager(1, KIND) as manager:
        for query in (plain, PullGroup(plain, manager)):
            begun = process_time()
            assert sum(1 for _ in query(events)) == len(events)
            times.append((process_time() - begun) / len(events) * 1e9)
    print(f"an event: {times[0]:.0f} ns plain, {times[1]:.0f} ns for the caller of a PullGroup ({KIND})")


def test_planner_leaves_cheap_queries_alone():
    query, events = Apply(X + 1) | Cumulate(add), range(300_000)
    with ThreadManager(2, KIND) as manager:
        fast = parallelize(query, manager, sample=range(1000))
        times = [min(seconds(lambda q=q: sum(q(events)))[0] for _ in range(5)) for q in (query, fast)]
    print(f"\na cheap query, parallelized: {times[0] / times[1]:.2f}x\n{fast.plan()}")
    assert fast.query is query
