"""Streams that come, go, fall silent or are late: everything but the order itself."""

import pickle
from copy import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.timesync import SyncCore
from millstream.palettes.timesync.core import Method

METHODS: tuple[Method, ...] = ("heads", "method 1", "method 2")
each_method = pytest.mark.parametrize("method", METHODS)


@each_method
def test_added_stream_holds_back_only_later_arrivals(method):
    core = SyncCore.of(["a", "b"], method)
    assert core.arrive("a", 1, "a1") == []
    core.add("c")
    assert core.arrive("b", 2, "b2") == ["a1"]
    assert core.arrive("a", 3, "a3") == []
    assert core.arrive("c", 5, "c5") == ["b2"]


@each_method
def test_event_that_waits_for_an_added_stream_leaves_with_an_older_arrival_that_is_ready(method):
    core = SyncCore.of(["a", "b"], method)
    core.arrive("a", 10, "a10")
    core.add("c")
    core.arrive("b", 4, "b4")
    assert core.arrive("b", 12, "b12") == ["b4", "a10"]


@each_method
def test_removed_stream_releases_what_waited_for_it(method):
    core = SyncCore.of(["a", "b", "c"], method)
    assert core.arrive("a", 1, "a1") == core.arrive("b", 2, "b2") == []
    assert core.remove("c") == ["a1"]
    with pytest.raises(ValueError, match=r"unknown stream 'c' \(streams: 'a', 'b'\)"):
        core.arrive("c", 3, "c3")


@each_method
def test_removing_the_last_awaited_stream_releases_everything(method):
    core = SyncCore.of(["a", "b"], method)
    core.arrive("a", 1, "a1")
    core.arrive("a", 2, "a2")
    assert core.remove("b") == ["a1", "a2"]


@each_method
def test_event_that_waited_longer_than_max_delay_leaves_with_everything_older(method):
    core = SyncCore.of(["a", "b", "silent"], method, max_delay=5)
    assert core.arrive("a", 3, "a3", now=0) == core.arrive("b", 2, "b2", now=4) == []
    assert core.tick(5) == []
    assert core.tick(5.5) == ["b2", "a3"]
    assert core.timeouts == 1


@each_method
def test_next_arrival_is_a_processing_step_too(method):
    core = SyncCore.of(["a", "silent"], method, max_delay=5)
    core.arrive("a", 1, "a1", now=0)
    assert core.arrive("a", 2, "a2", now=6) == ["a1"]


@each_method
def test_stream_is_disabled_after_max_failures_and_enabled_by_a_newer_event(method):
    core = SyncCore.of(["a", "b"], method, max_delay=1, max_failures=2)
    assert core.arrive("a", 1, "a1", now=0) == []
    assert core.arrive("a", 2, "a2", now=2) == ["a1"]
    assert core.arrive("a", 3, "a3", now=4) == ["a2", "a3"], "b has failed twice"
    assert core.arrive("a", 4, "a4", now=4) == ["a4"], "b is not awaited"
    assert core.arrive("b", 3, "b3", now=4) is None, "late, and still disabled"
    assert core.arrive("a", 5, "a5", now=4) == ["a5"]
    assert core.arrive("b", 6, "b6", now=4) == [], "b is enabled again"
    assert core.arrive("a", 7, "a7", now=4) == ["b6"]
    assert core.streams.failures == [0, 0]


def test_blame_producer_charges_the_stream_of_the_event_as_the_paper_words_it():
    core = SyncCore.of(["a", "b"], max_delay=1, max_failures=1, blame="producer")
    core.arrive("a", 1, "a1", now=0)
    assert core.tick(2) == ["a1"]
    assert core.streams.failures == [1, 0]
    assert not core.streams.is_active(0)


@each_method
def test_event_older_than_the_latest_one_sent_is_late_and_counted(method):
    core = SyncCore.of(["a", "b"], method, max_delay=1)
    core.arrive("a", 5, "a5", now=0)
    assert core.tick(2) == ["a5"]
    assert core.arrive("b", 4, "b4", now=2) is None
    assert core.arrive("b", 5, "b5", now=2) == ([] if method != "heads" else ["b5"])
    assert core.late == 1


def test_unknown_stream_and_time_going_backwards_are_clear_errors():
    core = SyncCore.of(["a"])
    with pytest.raises(ValueError, match=r"unknown stream 'x' \(streams: 'a'\)"):
        core.arrive("x", 1, None)
    core.arrive("a", 5, None)
    with pytest.raises(
        ValueError, match=r"stream 'a' went backwards: 4 after 5 \(put Reorder\(bound\) in front"
    ):
        core.arrive("a", 4, None)
    with pytest.raises(ValueError, match="went backwards: nan after 5"):
        core.arrive("a", float("nan"), None)
    with pytest.raises(ValueError, match="stream 'a' was added twice; remove it first"):
        core.add("a")
    with pytest.raises(ValueError, match=r"'0', '1', .*'7' and 22 more\); send AddStream first"):
        SyncCore.of(map(str, range(30))).arrive("x", 1, None)


def test_core_refuses_an_unknown_method_and_repeated_streams():
    with pytest.raises(ValueError, match="method must be 'heads' or 'method 1' or 'method 2', got 'tree'"):
        SyncCore.of(["a"], "tree")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"streams must differ, got \['a', 'a'\]"):
        SyncCore.of(["a", "a"])


@each_method
def test_tables_do_not_grow_while_streams_come_and_go(method):
    core = SyncCore.of(["a", "silent"], method, max_delay=2)
    for t in range(300):
        core.add(t)
        core.arrive("a", t, t, now=t)
        core.arrive(t, t, t, now=t)
        core.remove(t)
    assert len(core.streams.names) <= 8
    assert len(core) <= 8
    assert len(core.pending) <= 8


@each_method
def test_memory_of_long_streams_is_that_of_what_waits(method):
    def size_after(events):
        core = SyncCore.of("abc", method, max_delay=5)
        for t in range(events):
            core.arrive("abc"[t % 3], t, t, now=t)
        return len(pickle.dumps(core))

    assert size_after(3000) < 1.2 * size_after(300)


@each_method
def test_new_stream_under_a_used_number_is_awaited_by_later_events_only(method):
    core = SyncCore.of(["a", "b", "old"], method)
    assert core.arrive("a", 1, "a1") == []
    core.remove("old")
    core.add("new")
    assert core.streams.numbers["new"] == 2
    assert core.arrive("b", 2, "b2") == ["a1"], "it arrived before the new stream was there"
    assert core.arrive("a", 3, "a3") == []
    assert core.arrive("new", 5, "new5") == ["b2"]


def test_number_of_a_removed_stream_is_used_again_only_when_its_events_have_left():
    core = SyncCore.of(["a", "old"])
    core.arrive("old", 9, "old9")
    core.remove("old")
    core.add("b")
    assert core.streams.numbers == {"a": 0, "b": 2}
    core.arrive("b", 9, "b9")
    assert core.arrive("a", 9, "a9") == ["old9", "b9", "a9"]
    core.add("c")
    assert core.streams.numbers == {"a": 0, "b": 2, "c": 1}


def test_a_stream_that_has_gone_is_not_blamed():
    core = SyncCore.of(["a", "b"], max_delay=1, max_failures=1, blame="producer")
    core.arrive("a", 1, "a1", now=0)
    core.remove("a")
    core.add("c")
    assert core.tick(5) == ["a1"]
    assert core.streams.failures == [0, 0, 0]


commands = st.lists(
    st.tuples(st.sampled_from(["event", "add", "remove", "wait"]), st.integers(0, 4), st.integers(0, 4)),
    max_size=60,
)


@given(commands, st.sampled_from(METHODS))
def test_whatever_happens_output_is_sorted_and_every_event_is_sent_once_or_late(script, method):
    core = SyncCore.of([0, 1], method, max_delay=6, max_failures=2)
    clock, now, out, late, sent = [0] * 5, 0, [], [], []
    for position, (what, k, by) in enumerate(script):
        present = k in core.streams.numbers
        if what == "wait":
            now += by
            out += core.tick(now)
        elif what == "add" and not present:
            core.add(k)
        elif what == "remove" and present:
            out += core.remove(k)
        elif what == "event" and present:
            clock[k] += by
            event = (clock[k], position)
            sent.append(event)
            released = core.arrive(k, clock[k], event, now)
            late += [event] if released is None else []
            out += released or []
    out += core.flush()
    assert [t for t, _ in out] == sorted(t for t, _ in out)
    assert sorted(out + late) == sorted(sent)
    assert core.late == len(late)


@given(commands)
def test_no_event_waits_longer_than_max_delay_after_a_processing_step(script):
    for method in METHODS:
        core = SyncCore.of([0, 1, 2], method, max_delay=3)
        clock, now, waiting = [0] * 3, 0, {}
        for position, (_, k, by) in enumerate(script):
            now += by
            clock[k % 3] += by
            waiting[position] = now
            released = core.arrive(k % 3, clock[k % 3], position, now)
            for event in [position, *core.tick(now)] if released is None else released:
                del waiting[event]
            assert all(now - arrival <= 3 for arrival in waiting.values())


@given(commands)
def test_methods_agree_on_what_is_sent_when_streams_are_added_and_removed(script):
    outputs = []
    for method in METHODS:
        core, clock, out = SyncCore.of([0, 1], method), 0, []
        for what, k, by in script:
            present = k in core.streams.numbers
            clock += by
            if what == "remove" and present:
                out += core.remove(k)
            elif what == "add" and not present:
                core.add(k)
            elif present:
                out += core.arrive(k, clock, clock) or []
        outputs.append(out + core.flush())
    assert outputs[0] == outputs[1] == outputs[2]


@given(commands)
def test_copy_is_independent(script):
    for method in METHODS:
        core, clock = SyncCore.of(range(5), method, max_delay=4), [0] * 5
        for _, k, by in script:
            clock[k] += by
            core.arrive(k, clock[k], (k, clock[k]), now=sum(clock))
        twin = copy(core)
        assert twin == core
        rest = core.flush()
        assert twin.flush() == rest
