"""The output queue takes bursts, the feeder hands them on."""

from typing import Any

import pytest

from millstream.palettes.timesync import Feeder, OutputQueue, Synchronizer
from millstream.processors import X


def test_burst_waits_in_the_queue_until_it_is_fed():
    seen: list[Any] = []
    queue = OutputQueue()
    run = Synchronizer(time=X, streams="ab").into(queue)
    run.push_all([1, 2, 3], 0)
    run.push(9, 1)
    assert (len(queue), queue.peak) == (3, 3)
    feeder = Feeder(queue, seen.append, batch=2)
    assert [feeder.feed(), feeder.feed(), feeder.feed()] == [2, 1, 0]
    assert seen == [1, 2, 3]


def test_feeder_on_a_thread_hands_on_everything_in_order_through_a_small_queue():
    seen: list[Any] = []
    queue = OutputQueue(capacity=3)
    with Feeder(queue, seen.append):
        run = Synchronizer(time=X, streams="ab").into(queue)
        run.push_all(range(500), 0)
        run.push_all(range(500), 1)
        run.end()
    assert seen == sorted([*range(500), *range(500)])
    assert queue.peak <= 3


def test_error_of_the_sink_comes_back_when_the_feeder_stops():
    queue = OutputQueue()
    feeder = Feeder(queue, lambda event: 1 // event).start()
    queue(0)
    with pytest.raises(ZeroDivisionError):
        feeder.stop()


def test_full_queue_can_refuse_or_drop_the_oldest():
    strict, loose = OutputQueue(capacity=1, full="raise"), OutputQueue(capacity=1, full="drop")
    strict("a")
    with pytest.raises(ValueError, match="OutputQueue: full, 1 events wait for the feeder"):
        strict("b")
    loose("a")
    loose("b")
    assert (loose.take(), loose.dropped) == (["b"], 1)


def test_queue_refuses_wrong_parameters_and_events_after_its_end():
    with pytest.raises(ValueError, match="OutputQueue: capacity must be at least 1, got 0"):
        OutputQueue(0)
    with pytest.raises(ValueError, match="OutputQueue: full must be 'wait' or 'drop' or 'raise', got 'grow'"):
        OutputQueue(full="grow")  # type: ignore[arg-type]
    queue = OutputQueue()
    queue.close()
    with pytest.raises(ValueError, match="OutputQueue: closed"):
        queue("a")
