"""The problems on Spark give the verdicts that are stated."""

import pytest

from millstream.lab.crv import PROBLEMS

pytestmark = pytest.mark.spark

#: one of each way: parts (first, at the end, one only), pieces, messages
CHOSEN = {
    "auction": (None, "twice", "unsold"),
    "candidates": (None, "member"),
    "fifo": ("ending",),
    "injection": (None, "derived"),
    "bashing": ("stubborn", "endless"),
    "creation": ("conjured",),
    "turnaround": (None, "pusher"),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_spark_gives_the_stated_verdict(name, spark, tmp_path):
    problem, path = PROBLEMS[name], tmp_path / "trace"
    for fault in CHOSEN[name]:
        trace = problem.trace(120 if "text" in problem.versions else 600, 2, fault)
        trace.write(path)
        assert problem.verdict("spark", path, spark=spark) == trace.violation, fault


def test_every_problem_has_a_version_for_spark():
    assert all("spark" in problem.versions for problem in PROBLEMS.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_spark_finds_every_fault(name, spark, tmp_path):
    problem, path = PROBLEMS[name], tmp_path / "trace"
    for fault in (None, *problem.faults):
        trace = problem.trace(300 if "text" in problem.versions else 20_000, 2, fault)
        trace.write(path)
        assert problem.verdict("spark", path, spark=spark) == trace.violation, fault
