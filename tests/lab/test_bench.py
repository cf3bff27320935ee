"""The lab runs micro-benchmarks and shows their figures."""

import pytest

from millstream.lab import Rows, Trial
from millstream.lab import bench as module
from millstream.lab.trial import CheckFailed

GOOD = """
def test_sum(benchmark):
    benchmark.extra_info["events"] = 100
    assert benchmark.pedantic(sum, (range(100),), rounds=3) == 4950

def test_prints():
    print("10 keys  3.5M")
"""


def run(tmp_path, monkeypatch, text: str) -> Rows:
    folder = tmp_path / "tests" / "bench"
    folder.mkdir(parents=True)
    (folder / "test_small.py").write_text(text)
    monkeypatch.setattr(module, "SOURCE", tmp_path)
    told = []
    module.bench.function(Trial(told.append), file="small")
    return Rows({"file": "small"} | message["figures"] for message in told)


def test_benchmarks_become_rows(tmp_path, monkeypatch):
    rows = run(tmp_path, monkeypatch, GOOD)
    tables = module.bench.made(rows)
    (measured,) = tables["Benchmarks"]
    assert (measured["benchmark"], measured["rounds"]) == ("sum", 3)
    assert measured["Hz"] == pytest.approx(100 / measured["us"] * 1e6)
    assert tables["What benchmarks print"] == [
        {"file": "small", "benchmark": "prints", "printed": "10 keys  3.5M"}
    ]


def test_benchmark_that_fails_is_wrong(tmp_path, monkeypatch):
    with pytest.raises(CheckFailed, match=r"pytest ended with status 1:[\s\S]*assert 1 == 2"):
        run(tmp_path, monkeypatch, "def test_wrong(): assert 1 == 2")


def test_every_file_of_benchmarks_is_a_point():
    assert {"engine", "slicer", "windows"} <= {point["file"] for point in module.bench.points()}
    assert module.bench.points(quick=True) == []
