"""The three methods against each other, against sorting, and against the definition of readiness."""

from copy import copy

from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.timesync import SyncCore
from millstream.palettes.timesync.core import Method
from millstream.palettes.timesync.methods import AddThenProcess

METHODS: tuple[Method, ...] = ("heads", "method 1", "method 2")

#: Figure 2: which stream an event belongs to; events are named by their timestamps
FIGURE_2 = {0: 2, 1: 2, 2: 2, 4: 2, 9: 2, 6: 1, 7: 1, 11: 1, 3: 3, 5: 3, 8: 3, 10: 4, 12: 4}
#: an order of arrival that builds the tree of Figure 3, with event 4 coming ninth
ARRIVALS = (0, 6, 3, 7, 1, 5, 2, 8, 4, 9, 10, 11, 12)


@st.composite
def arrivals(draw, streams=4):
    """A merge of in-order streams: (stream, time) in order of arrival."""
    queues = [sorted(draw(st.lists(st.integers(0, 30), max_size=8)), reverse=True) for _ in range(streams)]
    merged = []
    while any(queues):
        k = draw(st.sampled_from([k for k, queue in enumerate(queues) if queue]))
        merged.append((k, queues[k].pop()))
    return merged


def run(method, events, streams):
    core = SyncCore.of(range(streams), method)
    steps = [core.arrive(k, t, (k, t, i)) for i, (k, t) in enumerate(events)]
    return steps, core.flush()


def flat(steps):
    return [event for step in steps for event in step]


def by_time(events):
    return sorted(((k, t, i) for i, (k, t) in enumerate(events)), key=lambda e: (e[1], e[2]))


def test_figure_2_nothing_leaves_before_every_stream_has_shown_an_event():
    for method in METHODS:
        core = SyncCore.of([1, 2, 3, 4], method)
        steps = [core.arrive(FIGURE_2[t], t, t) for t in ARRIVALS]
        assert steps[:10] == [[]] * 10
        assert steps[10:] == [[0, 1, 2, 3, 4, 5, 6, 7], [8], []]
        assert core.flush() == [9, 10, 11, 12]


def test_figure_3_tree_has_the_shape_and_readiness_tables_of_the_figure():
    core = SyncCore.of([1, 2, 3, 4], "method 1")
    for t in ARRIVALS[:10]:
        core.arrive(FIGURE_2[t], t, t)
    assert isinstance(core.buffer, AddThenProcess)
    tree = core.buffer.tree
    rows, level = [], [tree.root]
    while level:
        rows.append([(tree.entry[n][0], tree.table[n]) for n in level])
        level = [n for parent in level for n in (tree.left[parent], tree.right[parent]) if n]
    assert [[time for time, _ in row] for row in rows] == [[0], [6], [3, 7], [1, 5, 8], [2, 4, 9]]
    assert rows[0] == [(0, 0b0111)]  # only the fourth stream has not shown anything newer


@given(arrivals())
def test_every_method_sends_a_sorted_prefix_at_every_moment_and_all_of_it_in_the_end(events):
    for method in METHODS:
        steps, rest = run(method, events, 4)
        assert flat(steps) + rest == by_time(events)


@given(arrivals())
def test_heads_release_an_event_with_the_arrival_that_makes_it_ready(events):
    steps, _ = run("heads", events, 4)
    last, waiting = [-1] * 4, []
    for i, (k, t) in enumerate(events):
        last[k] = t
        waiting.append((k, t, i))
        ready = sorted((e for e in waiting if e[1] <= min(last)), key=lambda e: (e[1], e[2]))
        waiting = [e for e in waiting if e not in ready]
        assert steps[i] == ready


@given(arrivals())
def test_tree_methods_never_release_earlier_than_heads(events):
    heads, _ = run("heads", events, 4)
    for method in METHODS[1:]:
        steps, _ = run(method, events, 4)
        for i in range(len(events)):
            assert len(flat(steps[: i + 1])) <= len(flat(heads[: i + 1]))


@given(arrivals(streams=1))
def test_one_stream_passes_through_at_once(events):
    for method in METHODS:
        steps, rest = run(method, events, 1)
        assert steps == [[(k, t, i)] for i, (k, t) in enumerate(events)]
        assert rest == []


def test_equal_times_keep_their_order_of_arrival():
    for method in METHODS:
        steps, rest = run(method, [(1, 5), (0, 5), (2, 5), (3, 6)], 4)
        assert flat(steps) + rest == [(1, 5, 0), (0, 5, 1), (2, 5, 2), (3, 6, 3)]


def test_method_2_looks_at_no_more_nodes_than_method_1():
    events = [(i % 20, i) for i in range(400)]
    cores = [SyncCore.of(range(20), method) for method in METHODS[1:]]
    for core in cores:
        for k, t in events:
            core.arrive(k, t, t)
    assert cores[1].buffer.visited <= cores[0].buffer.visited


def test_a_degenerate_tree_of_many_nodes_is_flushed_and_copied_without_recursion():
    core = SyncCore.of(["busy", "silent"], "method 1")
    for t in range(3000):
        core.arrive("busy", t, t)
    twin = copy(core)
    assert core.flush() == twin.flush() == list(range(3000))
