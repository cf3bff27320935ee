"""Synchronisation: three methods side by side, from few streams to 1500, and the growth of ours.

Nothing here asserts a time: run with ``-s`` to see the ratios; the outputs are checked.
"""

from time import process_time

import pytest

from millstream.lab.papers.synchronisation import METHODS, events_of, figures_4_and_5, growth
from millstream.palettes.timesync import SyncCore, Synchronizer
from millstream.processors import X

pytestmark = [
    pytest.mark.bench,
    pytest.mark.benchmark(timer=process_time, disable_gc=True, min_rounds=3, warmup=False),
]
EVENTS = 5000


def synchronised(method, streams, arrivals):
    core = SyncCore.of(range(streams), method)
    out = [event for k, t in arrivals for event in core.arrive(k, t, t) or ()]
    return out + core.flush()


@pytest.mark.parametrize("delays", [(), (500.0, 500.0)], ids=["no delay", "delays"])
@pytest.mark.parametrize("streams", [2, 64, 1500])
@pytest.mark.parametrize("method", METHODS)
def test_synchronisation_speed(benchmark, method, streams, delays):
    benchmark.group = f"{streams} streams, {'delays' if delays else 'no delay'}"
    arrivals = events_of(streams, EVENTS, delays)
    assert benchmark(synchronised, method, streams, arrivals) == list(range(EVENTS))


@pytest.mark.parametrize("streams", [2, 1500])
def test_synchronizer_speed_as_a_processor(benchmark, streams):
    arrivals = events_of(streams, EVENTS)
    query = Synchronizer(time=X[1], streams=range(streams), key=X[0])
    assert benchmark(lambda: list(query(arrivals))) == arrivals


def test_growth_with_the_number_of_streams_is_printed():
    rows = figures_4_and_5((4, 16, 64, 256, 1024, 1500), EVENTS)
    print("\nheads, us an event:", {row["streams"]: row["heads us"] for row in rows})
    print("ratios from row to row (streams x4 each):", growth(rows))
    print("times faster than method 1:", {row["streams"]: row["times faster"] for row in rows})
