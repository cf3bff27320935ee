"""Phased graphs on real workers: always what one phase at a time gives."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.concurrency import PhasedGraph, PhasedState, RemoteTraceback, ThreadManager
from millstream.concurrency.phased_crew import Dispatch
from millstream.processors import QueryError, StreamError

from .servants import Mixing, nonzero, work
from .test_manager import KINDS
from .test_phased_graph import outcome
from .test_phases import graphs


def diamond(rounds=10):
    """A source, four branches with state, two that join them."""
    graph = PhasedGraph()
    graph.add("x")
    for k in range(4):
        graph.add(f"work{k}", work(rounds), "x")
        graph.add(f"mix{k}", Mixing(k, 3), f"work{k}")
    graph.add("left", Mixing(5, 4), "mix0", "mix1", initial=0)
    graph.add("right", Mixing(6, 5), "mix2", "mix3", initial=0)
    graph.add("both", Mixing(7, 6), "left", "right", initial=0)
    return graph


PHASES = [(k, {"x": k * k % 17} if k % 5 else {}) for k in range(60)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_workers_give_what_one_phase_at_a_time_gives(kind, limit):
    expected = list(diamond().run(PHASES))
    with ThreadManager(limit, kind) as manager:
        assert list(diamond().run(PHASES, manager)) == expected
        assert list(diamond().run(PHASES, manager, ahead=2)) == expected
        assert manager.statistics().running == 0


@settings(max_examples=25)
@given(graph=graphs(), changes=st.integers(2, 4), limit=st.integers(1, 3), ahead=st.integers(1, 5))
def test_random_graphs_on_threads(graph, changes, limit, ahead):
    vertices, edges = graph

    def make():
        made = PhasedGraph()
        for v in vertices:
            made.add(f"v{v}", Mixing(v, changes), *(f"v{a}" for a, b in edges if b == v), initial=0)
        return made

    expected = outcome(make().run(20))
    with ThreadManager(limit) as manager:
        assert outcome(make().run(20, manager, ahead)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_failure_in_a_worker_comes_after_all_earlier_phases(kind):
    graph = PhasedGraph()
    graph.add("x")
    graph.add("inverse", nonzero, "x")
    with ThreadManager(2, kind) as manager:
        run = graph.run([(k, {"x": 3 - k}) for k in range(10)], manager)
        assert [next(run).values for _ in range(3)] == [{"inverse": 20}, {"inverse": 30}, {"inverse": 60}]
        with pytest.raises(StreamError, match="place vertex 'inverse': ZeroDivisionError") as failed:
            next(run)
        assert failed.value.position == 3
        cause = failed.value.__cause__
        assert isinstance(cause, ZeroDivisionError)
        assert kind == "threads" or isinstance(cause.__cause__, RemoteTraceback)
        assert manager.statistics().running == 0


def test_run_that_is_abandoned_gives_its_workers_back():
    with ThreadManager(2) as manager:
        run = diamond().run(PHASES, manager)
        next(run)
        assert manager.statistics().running == 2
        run.close()
        assert manager.statistics().running == 0


def test_function_that_does_not_pickle_is_refused_by_processes():
    graph = PhasedGraph()
    graph.add("t", lambda t: t)
    with (
        ThreadManager(1, "processes") as manager,
        pytest.raises(QueryError, match=r"cannot be sent to a process: .*; define functions and classes at"),
    ):
        list(graph.run(1, manager))


@given(st.data(), st.integers(1, 3))
def test_dispatch_gives_every_task_once_and_pinned_ones_to_their_owner(data, members):
    graph = PhasedGraph()
    for k in range(6):
        graph.add(f"v{k}", nonzero)
    state = PhasedState(graph.plan)
    dispatch = Dispatch(members, pinned={1, 2, 3})
    given_tasks, owners, taken = [], {}, []
    for _ in range(data.draw(st.integers(1, 8))):
        tasks = state.start(0, {})
        given_tasks += tasks
        dispatch.add(tasks)
        member = data.draw(st.integers(0, members - 1))
        for task in dispatch.take(member):
            taken.append(task)
            given_tasks += (new := state.done(task, 1))
            dispatch.add(new)
            if task.vertex <= 3:
                assert owners.setdefault(task.vertex, member) == member
    for member in range(members):
        while chunk := dispatch.take(member):
            taken += chunk
    assert sorted(t.pair for t in taken) == sorted(t.pair for t in given_tasks)
