"""Bursts wait in an ordinary queue, and the engine's pump feeds what comes behind (Section IV.D)."""

from concurrent.futures import ThreadPoolExecutor
from queue import Queue, SimpleQueue
from typing import Any

from millstream.palettes.timesync import Synchronizer
from millstream.processors import FromQueue, Passthrough, Pump, X


def test_burst_waits_in_a_queue_until_it_is_pumped():
    seen: list[Any] = []
    burst: SimpleQueue[Any] = SimpleQueue()
    run = Synchronizer(time=X, streams="ab").into(burst.put)
    run.push_all([1, 2, 3], 0)
    assert burst.qsize() == 0
    run.push(9, 1)
    assert burst.qsize() == 3
    pump = Pump(FromQueue(burst), Passthrough().into(seen))
    assert (pump(limit=2), pump(limit=1)) == (2, 1)
    assert seen == [1, 2, 3]


def test_pump_on_a_thread_hands_on_everything_in_order_through_a_small_queue():
    seen: list[Any] = []
    burst: Queue[Any] = Queue(maxsize=3)
    with ThreadPoolExecutor(1) as threads:
        pumped = threads.submit(Pump(FromQueue(burst), Passthrough().into(seen)))
        run = Synchronizer(time=X, streams="ab").into(burst.put)
        run.push_all(range(500), 0)
        run.push_all(range(500), 1)
        run.end()
        burst.put(None)
        assert pumped.result() == 1000
    assert seen == sorted([*range(500), *range(500)])
