"""Running queries: demand in pull, states in push, sinks, and what a run tells."""

import io
import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from itertools import count, islice
from operator import add

import pytest

from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    Decimate,
    DetectEnd,
    Filter,
    Fork,
    Freeze,
    KeepLast,
    Multiplex,
    Passthrough,
    Prefix,
    QueryError,
    StreamError,
    Trim,
    X,
    connect,
)


class Watched:
    """An endless source that tells how much was read."""

    def __init__(self):
        self.read = 0

    def __iter__(self):
        for x in count():
            self.read += 1
            yield x


def test_pull_reads_exactly_what_it_needs():
    left, right = Watched(), Watched()
    query = Filter(X % 100 == 0) & Passthrough() | Apply(lambda a, b: (a, b))
    assert list(islice(query(left, right), 3)) == [(0, 0), (100, 1), (200, 2)]
    assert (left.read, right.read) == (201, 3)


@pytest.mark.parametrize(
    ("query", "outputs", "read"),
    [
        (Prefix(3), [0, 1, 2], 3),
        (DetectEnd(X == 3), [0, 1, 2], 4),
        (Prefix(3) | Apply(X * 2) | KeepLast(), [4], 3),
        (Trim(2) | Prefix(2), [2, 3], 4),
        (Prefix(0), [], 0),
    ],
)
def test_pull_stops_reading_an_endless_source(query, outputs, read):
    source = Watched()
    assert list(query(source)) == outputs
    assert source.read == read


def test_pull_computes_nothing_before_it_is_asked():
    seen: list = []
    stream = Apply(lambda x: seen.append(x) or x)([1, 2, 3])
    assert seen == []
    assert next(stream) == 1
    assert seen == [1]


def test_outputs_of_a_fork_can_be_read_in_any_order():
    left, right = Fork(2)([1, 2, 3])
    assert next(right) == 1
    assert list(left) == [1, 2, 3]
    assert list(right) == [2, 3]


def test_fork_filter_sum_needs_no_queue():
    fork, even, keep, total = Fork(2), Apply(X % 2 == 0), Filter(), Cumulate(add)
    query = connect(
        fork.outputs[0] >> keep.inputs[0],
        fork.outputs[1] >> even.inputs[0],
        even.outputs[0] >> keep.inputs[1],
        keep.outputs[0] >> total.inputs[0],
    )
    run = query.into([])
    run.push_all(range(10))
    assert run.save().values == (20,)


def test_saved_state_is_small():
    run = (Filter(X % 2 == 0) | Cumulate(add) | Count()).into([])
    run.push_all(range(100))
    assert len(pickle.dumps(run.save())) < 200


def test_saved_state_of_another_query_is_refused():
    saved = Cumulate(add).into([]).save()
    with pytest.raises(QueryError, match="saved by another query"):
        Cumulate(max).into([]).load(saved)
    with pytest.raises(QueryError, match="load takes what save returned, got tuple"):
        Cumulate(max).into([]).load(())


FINGERPRINT = """
from millstream.processors import Apply, Filter, X, is_in
class Plus:
    def __call__(self, x): return x + 1
print((Filter(is_in(X, {"a", "bb", "ccc", "dddd"})) | Apply(Plus())).fingerprint)
"""


def test_state_of_the_same_query_is_recognised_in_another_process():
    """Neither addresses nor the order of sets of strings may tell two processes apart."""
    path = os.pathsep.join(sys.path)
    seen = set()
    for seed in ("1", "2", "3"):
        env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        seen.add(subprocess.check_output([sys.executable, "-c", FINGERPRINT], env=env))
    assert len(seen) == 1


def test_load_goes_back_and_keeps_the_saved_state_untouched():
    out: list = []
    run = Cumulate(add).into(out)
    run.push_all([1, 2])
    saved = run.save()
    for _ in range(2):
        run.load(saved)
        run.push(10)
    assert out == [1, 3, 13, 13]


def test_ended_state_loads_as_ended():
    out: list = []
    run = KeepLast().into(out)
    run.push(1)
    run.end()
    other = KeepLast().into(out)
    other.load(run.save())
    other.end()
    assert out == [1]


def test_context_manager_ends_the_run_unless_it_fails():
    out: list = []
    with KeepLast().into(out) as run:
        run.push_all([1, 2])
    assert out == [2]
    with pytest.raises(StreamError), KeepLast().into(out) as run:
        run.push_all([3, *Apply(1 // X)([0])])
    assert out == [2]


def test_sinks_of_every_kind_take_events():
    items: list = []
    last: deque = deque(maxlen=1)
    distinct: set = set()
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    file = io.StringIO()
    for sink in (items, last, distinct, waiting, file):
        Apply(X + 1).into(sink).push_all([1, 2])
    assert (items, list(last), distinct) == ([2, 3], [3], {2, 3})
    assert (waiting.get(), waiting.get()) == (2, 3)
    assert file.getvalue() == "2\n3\n"


def test_run_without_sinks_discards_outputs():
    run = Count().into()
    run.push_all("abc")
    assert run.positions == (3,)


def test_run_of_two_inputs_takes_events_by_port():
    out: list = []
    run = Apply(add).into(out)
    run.push(1)
    run.push(10, 1)
    run.push_all([2, 3])
    run.push_all([20], port=1)
    assert out == [11, 22]
    assert run.positions == (3, 2)
    with pytest.raises(Exception, match="has 2 inputs, there is no port 2"):
        run.push(1, 2)


def test_run_of_two_outputs_has_a_sink_for_each():
    left: list = []
    right: list = []
    run = Apply(lambda x: divmod(x, 3), outs=2).into(left, right)
    run.push_all([7, 8])
    assert (left, right) == ([2, 2], [1, 2])


def test_sink_may_save_the_run_in_the_middle_of_push_all():
    saved: list = []
    run = Cumulate(add).into(lambda y: saved.append(run.save()))
    run.push_all([1, 2, 3])
    assert [(s.positions, s.values) for s in saved] == [((1,), (1,)), ((2,), (3,)), ((3,), (6,))]


def test_merge_behind_a_fork_keeps_the_order_of_arrival_in_push():
    query = Fork(2) | (Decimate(2) & Freeze()) | Multiplex(2)
    out: list = []
    query.into(out).push_all([1, 2, 3])
    assert out == [1, 1, 1, 3, 1]


def test_processors_of_a_run_can_be_looked_at():
    run = (Cumulate(add) | Count()).into([])
    run.push_all([5, 6])
    total, seen = run.processors
    assert (total.value, seen.seen) == (11, 2)


def test_push_takes_the_port_of_an_only_input():
    run = Count().into(out := [])
    run.push("a", 0)
    run.push("b", port=0)
    assert out == [1, 2]
    with pytest.raises(QueryError, match="there is no port 1"):
        run.push("c", 1)
