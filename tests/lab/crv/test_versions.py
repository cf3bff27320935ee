"""All versions of a problem give the verdicts of its query (which is compared with the definition)."""

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream.concurrency import ThreadManager
from millstream.lab.crv import PROBLEMS, log_columns
from millstream.lab.crv.parts import in_workers
from millstream.lab.crv.pingus import write
from millstream.lab.crv.taint import Summary, fold, lines_of

from .strategies import TRACES

#: versions that run here, on any number of events
LOCAL = [(n, v) for n, p in PROBLEMS.items() for v in p.versions if v != "spark"]


@pytest.fixture(scope="module")
def manager():
    with ThreadManager(3, "threads") as manager:
        yield manager


def options(version, manager):
    return {"manager": manager} if version in ("workers", "pipeline") else {}


@pytest.mark.parametrize(("name", "version"), LOCAL)
def test_version_agrees_on_small_traces(name, version, tmp_path, manager):
    problem, path = PROBLEMS[name], tmp_path / "trace"

    @settings(max_examples=30, deadline=None)
    @given(TRACES[name])
    def compare(events):
        problem.format.write(path, events)
        assert problem.verdict(version, path, **options(version, manager)) == problem.check(events)

    compare()


@pytest.mark.parametrize("name", ["auction", "candidates", "injection"])
@pytest.mark.parametrize("size", [30, 75])
def test_columns_agree_whatever_the_blocks(name, size, tmp_path, monkeypatch):
    problem, path = PROBLEMS[name], tmp_path / "trace"
    monkeypatch.setattr(log_columns, "BLOCK", size)

    @settings(deadline=None)
    @given(TRACES[name])
    def compare(events):
        problem.format.write(path, events)
        assert problem.verdict("columns", path) == problem.check(events)

    compare()


@pytest.mark.parametrize(("name", "version"), LOCAL)
def test_version_agrees_on_longer_traces(name, version, tmp_path, manager):
    problem, path = PROBLEMS[name], tmp_path / "trace"
    for fault in (None, *problem.faults):
        trace = problem.trace(300 if "text" in problem.versions else 2000, 3, fault)
        trace.write(path)
        assert problem.verdict(version, path, **options(version, manager)) == trace.violation


@pytest.mark.parametrize("name", ["auction", "injection", "bashing"])
def test_version_runs_in_processes(name, tmp_path):
    problem, path = PROBLEMS[name], tmp_path / "trace"
    fault = next(iter(problem.faults))
    trace = problem.trace(500, 3, fault)
    trace.write(path)
    with ThreadManager(2, "processes") as manager:
        assert problem.verdict("workers", path, manager=manager) == trace.violation


def test_workers_read_packed_snapshots(tmp_path, manager):
    problem, path = PROBLEMS["bashing"], tmp_path / "game.xml.gz"
    trace = problem.trace(60, 3, "stubborn")
    with gzip.open(path, "wt") as file:
        file.write("".join(map(write, trace)))
    assert problem.verdict("workers", path, manager=manager) == trace.violation


@pytest.mark.parametrize("line", ["steal,i1", "bid", "bid,i1,x"])
def test_workers_name_a_line_that_is_wrong(line, tmp_path, manager):
    path = tmp_path / "log"
    path.write_text(f"create_auction,i1,10,2\n{line}\n")
    with pytest.raises(ValueError, match=f"line 2: expected .*, got '{line}'"):
        PROBLEMS["auction"].verdict("workers", path, manager=manager)


def test_parts_are_done_here_without_workers():
    with ThreadManager(0) as manager:
        assert in_workers(abs, 3, manager) == [0, 1, 2]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(TRACES["injection"], st.lists(st.integers(0, 14), max_size=3))
def test_summaries_of_pieces_fold_to_the_verdict(events, cuts):
    pieces, begin = [], 0
    for end in (*sorted(cuts), len(events)):
        pieces.append(Summary())
        pieces[-1].read(events[begin:end])
        begin = max(begin, end)
    assert fold(pieces) == PROBLEMS["injection"].check(events)


@given(st.lists(st.text("ab", max_size=5), max_size=8), st.integers(1, 5))
def test_every_line_is_in_one_piece(lines, pieces):
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
        found = [line.rstrip("\n") for k in range(pieces) for line in lines_of(file.name, k, pieces)]
    assert found == lines
