"""Buckets of keys: each key gets what it would get alone, whatever slots there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from millstream.palettes.spark.buckets import Bucket, Kept
from millstream.palettes.spark.durations import TimeColumn
from millstream.palettes.spark.hosts import dumped, loaded
from millstream.palettes.spark.keyed import Monitor
from millstream.palettes.spark.packets import arrivals, packet
from millstream.palettes.windows import TimeWindow
from millstream.processors import Apply, Count, E, MillstreamError

NAMES = ("user", "t")
WINDOWS = Monitor(TimeWindow(Count(), 7, every=7, time=E.t), NAMES, TimeColumn("t", T.LongType()), life=15)
KEYS = st.integers(-20, 20)
BATCHES = st.lists(st.lists(st.tuples(KEYS, st.integers(1, 60)), max_size=25), max_size=6)


def number(key):
    """Some hash with collisions; the number of buckets is 3."""
    return 3 * (key // 2)


def delivered(batches, room):
    """Run micro-batches through a bucket; return what each key gave, and the greatest number of slots."""
    slots, index, newest, most = Kept(), None, 0, 1
    bucket, got = Bucket(WINDOWS.start(), slots, 3, room), {}
    for rows in [*batches, None]:
        watermark = 10**9 if rows is None else newest * 1000
        packets = [packet({key: (number(key), [(key, t)])}) for key, t in rows or []]
        index, outcomes = bucket.turn(index, arrivals(packets), watermark)
        for key, *parts in outcomes:
            for kept, part in zip(got.setdefault(key, ([], [], [])), parts, strict=True):
                kept.extend(part)
        assert sorted(slots) == [n for n, size in enumerate(index.sizes) if size] if index else not slots
        index = index and loaded(dumped(index))
        assert index is None or index.wake is None or index.wake > watermark
        most = max(most, len(index.sizes) if index else 1)
        newest = max([newest, *(t - 10 for _, t in rows or [])])
    return got, most


def alone(batches, key):
    keyed, record, newest, got = WINDOWS.start(), None, 0, ([], [], [])
    for rows in [*batches, None]:
        watermark = 10**9 if rows is None else newest * 1000
        record, outcome = keyed.step(record, [row for row in rows or [] if row[0] == key], watermark)
        for kept, part in zip(got, (outcome.times, outcome.outputs, outcome.late), strict=True):
            kept.extend(part)
        newest = max([newest, *(t - 10 for _, t in rows or [])])
    return got


@pytest.mark.parametrize("room", [1, 3, None])
@given(batches=BATCHES)
def test_bucket_gives_each_key_what_it_gets_alone(room, batches):
    got, most = delivered(batches, room)
    keys = {key for rows in batches for key, _ in rows}
    assert got == {key: result for key in keys if any(result := alone(batches, key))}
    assert room is not None or most == 1


def test_bucket_has_more_slots_when_there_are_more_keys():
    rows = [(key, 1) for key in range(100)]
    got, most = delivered([rows], 4)
    assert most == 32
    assert {key: outputs for key, (_, outputs, _) in got.items()} == {key: [1] for key in range(100)}


def test_bucket_names_the_key_that_fails():
    monitor = Monitor(Apply(lambda e: 1 // e["t"]), NAMES, TimeColumn("t", T.LongType()))
    bucket = Bucket(monitor.start(), Kept(), 1)
    arrived = {"ann": (1, [("ann", 1)]), "bob": (2, [("bob", 0)])}
    index, _ = bucket.turn(None, arrived, 0)
    with pytest.raises(MillstreamError, match=r"key 'bob': Apply.* failed on {'user': 'bob', 't': 0}"):
        bucket.turn(index, {}, 2000)
