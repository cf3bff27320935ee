"""Real workers, events that take all sorts of times, many repetitions: always what the plain query gives."""

import os
import signal
from operator import add

import pytest

from millstream.concurrency import (
    ChunkedMonitor,
    NonBlockingProcessor,
    ParallelSlice,
    PhasedGraph,
    Pipeline,
    PullGroup,
    ThreadManager,
    WorkerDiedError,
    parallelize,
)
from millstream.palettes.fsm import OTHERWISE, MooreMachine, On
from millstream.palettes.ltl import ForAll, Monitor
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, Cumulate, StreamError, X
from millstream.processors.testing import pushed

from .servants import Delays, Last, delayed_sum, domain, to_all
from .test_manager import KINDS

EVENTS = [k * k % 23 for k in range(60)]


def queries(seed, manager):
    """Pairs of a plain query and its parallel form."""
    slow = Apply(Delays(seed))
    summing, wrapped = slow | Cumulate(add), lambda q: NonBlockingProcessor(q, manager)
    flips = [On(0, Delays(seed), 1), On(0, OTHERWISE, 0), On(1, X > 9, 0), On(1, OTHERWISE, 1)]
    slices = Slice(to_all, summing)
    monitor = Monitor("G (a -> F b)", atoms={"a": Delays(seed), "b": X == 3})
    yield summing, PullGroup(summing, manager, size=1 + seed)
    yield slow | Last(), Pipeline(slow | Last(), manager, depth=1 + seed)
    yield slices, ParallelSlice(slices, manager)
    yield Window(summing, 4), Window(wrapped(summing), 4)
    yield Slice(to_all, summing), Slice(to_all, wrapped(summing))
    yield ForAll(domain, Apply(X[1]) | summing), ForAll(domain, wrapped(Apply(X[1]) | summing))
    yield monitor, ChunkedMonitor(monitor, manager)
    yield MooreMachine(0, flips), ChunkedMonitor(MooreMachine(0, flips), manager)
    yield slow | Count() | slow, parallelize(slow | Count() | slow, manager)


def phased():
    graph = PhasedGraph()
    graph.add("x")
    graph.add("y")
    for k in range(4):
        graph.add(f"a{k}", delayed_sum, "x")
        graph.add(f"b{k}", delayed_sum, f"a{k}", "y")
    graph.add("all", delayed_sum, "b0", "b1", "b2", "b3")
    return graph


PHASES = [(k, {"x": k} if k % 3 else {"x": k, "y": -k}) for k in range(30)]


def stress(kind, limit, seeds):
    graph = phased()
    expected = list(graph.run(PHASES))
    with ThreadManager(limit, kind) as manager, ThreadManager(1) as other:
        for seed in seeds:
            for plain, parallel in queries(seed, manager):
                assert list(parallel(EVENTS)) == list(plain(EVENTS)), f"{seed}: {parallel!r}"
                assert pushed(parallel, [EVENTS]) == pushed(plain, [EVENTS]), f"{seed}: {parallel!r}"
            both = PullGroup(Apply(Delays(seed)), manager) | PullGroup(Cumulate(add), other)
            assert list(both(EVENTS)) == list(Cumulate(add)(EVENTS))
            assert list(graph.run(PHASES, manager, ahead=1 + seed)) == expected
        assert manager.statistics().running == 0


@pytest.mark.parametrize("kind", KINDS)
def test_stress_for_a_moment(kind):
    stress(kind, 2, range(2))


@pytest.mark.parametrize("limit", [0, 1, 100])
def test_stress_at_any_limit(limit):
    stress("threads", limit, [limit])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [1, 2])
def test_stress_a_hundred_times(kind, limit):
    stress(kind, limit, range(50 * (limit - 1), 50 * limit))


def kill_one(manager):
    """Kill one of the worker processes of a manager, as the system might."""
    os.kill(next(iter(manager._alive))._process.pid, signal.SIGKILL)


def spread_copies(host, manager):
    return ForAll(host.domain, NonBlockingProcessor(host.inner, manager))


@pytest.mark.parametrize("wrap", ["group", "pipeline", "slice", "monitor", "copies"])
@pytest.mark.parametrize("at", [0, 40, 150])
def test_killed_worker_is_an_error_after_what_came_before(wrap, at):
    """Killed from outside, at some event: a clear error, in time, and nothing that came before it is lost."""
    slow, out = Apply(Delays(1)), []
    with ThreadManager(2, "processes") as manager:
        plain, make = {
            "group": (slow | Count(), PullGroup),
            "pipeline": (slow, Pipeline),
            "slice": (Slice(X % 5, slow | Count()), ParallelSlice),
            "monitor": (Monitor("G a", atoms={"a": Delays(1)}), ChunkedMonitor),
            "copies": (ForAll(domain, Apply(X[1]) | slow), spread_copies),
        }[wrap]
        run = make(plain, manager).into(out)
        events = EVENTS * 5
        run.push_all(events[:at])
        if not at:
            run.push(events[0])
        kill_one(manager)
        with pytest.raises(
            StreamError, match=r"WorkerDiedError: worker \d \(processes\) was killed by signal 9"
        ) as failed:
            run.push_all(events[max(at, 1) :]), run.end()
        assert isinstance(failed.value.__cause__, WorkerDiedError)
        assert f"it had events at {failed.value.position} to " in str(failed.value)
        del run
        assert out == list(plain(events))[: failed.value.position]
        again = list(make(plain, manager)(EVENTS))
        assert again == list(plain(EVENTS))


def test_killed_worker_of_a_phased_graph_is_an_error():
    graph, got = phased(), []
    with ThreadManager(2, "processes") as manager:
        phases = graph.run(PHASES * 10, manager)
        got += [next(phases) for _ in range(5)]
        kill_one(manager)
        with pytest.raises(WorkerDiedError, match="was killed by signal 9"):
            got += list(phases)
    assert got == list(graph.run(PHASES))[: len(got)]
