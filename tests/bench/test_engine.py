"""The engine's speed on small queries, each against the naive form in the same run.

Nothing here asserts a time: the figures are printed, and the results are checked.
"""

from time import process_time

import pytest

from millstream.lab.workloads import numbers, workloads

EVENTS = numbers(50_000)
WORKLOADS = {workload.name: workload for workload in workloads()}
EXPECTED = {name: workload.run_naive(EVENTS) for name, workload in WORKLOADS.items()}

pytestmark = [
    pytest.mark.bench,
    pytest.mark.benchmark(timer=process_time, disable_gc=True, min_rounds=7, warmup=True),
]


@pytest.mark.parametrize("form", ["naive", "push", "pull"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_engine_speed(benchmark, name, form):
    benchmark.group = name
    benchmark.extra_info.update(form=form, events=len(EVENTS))
    assert benchmark(getattr(WORKLOADS[name], f"run_{form}"), EVENTS) == EXPECTED[name]
