"""The mixture of the soak: bounded, and everything in it speaks."""

import subprocess
import sys
from itertools import islice
from random import Random
from threading import Event, Thread

import psutil
import pytest

from millstream.lab.rows import Rows
from millstream.lab.soak import SAMPLES, Kept, events, flat, left_behind, queries, sample


@pytest.mark.parametrize("name", queries())
def test_soak_query_is_bounded_and_speaks(name):
    query, kept = queries()[name], Kept()
    assert not query.memory()
    query.into(kept.sink(name)).push_all(sorted(islice(events(Random(1)), 10_000), key=lambda e: e["time"]))
    assert kept.counts[name]


def test_soak_users_do_not_come_back():
    seen = [event["user"] for event in islice(events(Random(1)), 60_000)]
    assert not set(seen[:1000]) & set(seen[-1000:])


@pytest.mark.parametrize(("growth", "holds"), [(0, True), (0.05, True), (2, False)])
def test_soak_finds_memory_that_grows(growth, holds):
    found = flat(Rows([{"memory": 300 + growth * k, "seconds": k + 1, "events": k} for k in range(SAMPLES)]))
    assert found.holds is holds


def test_soak_finds_what_is_left_behind(tmp_path):
    before = sample(psutil.Process())
    assert left_behind(before, sample(psutil.Process())) == []
    done = Event()
    thread = Thread(target=done.wait)
    thread.start()
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE),
        open(tmp_path / "a", "w"),
    ):
        after = sample(psutil.Process())
    done.set()
    thread.join()
    assert left_behind(before, after) == ["processes", "threads", "files"]
