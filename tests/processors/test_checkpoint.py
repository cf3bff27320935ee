"""Checkpoints: killed at any moment, a job goes on with nothing lost and nothing doubled."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from millstream.processors import (
    Apply,
    Checkpoint,
    Count,
    Cumulate,
    FileSink,
    ParameterError,
    QueryError,
    StateError,
    StreamError,
    Trim,
    X,
)
from millstream.processors.metrics import RunCollector

SCRIPT = Path(__file__).with_name("killing.py")


@pytest.fixture
def job(tmp_path):
    return Checkpoint(tmp_path / "job.state", every=3)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.txt"


def lines(path):
    return path.read_text().split()


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def killing(*arguments):
    """What the program that kills jobs tells."""
    command = [sys.executable, SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="the job is forked, and its end waited for")
def test_checkpoint_killed_in_one_way_goes_on_in_another(tmp_path):
    told = killing(tmp_path, "8", "24", "ways")
    assert sum(told["kills"].values()) >= 24
    expected = (tmp_path / "whole plain" / "sums.jsonl").read_text()
    assert expected.count("\n") == 5 * 266
    others = [f"whole {way}" for way in ("threads", "processes", "columns")]
    for folder in (*others, *map(str, range(told["jobs"]))):
        assert (tmp_path / folder / "sums.jsonl").read_text() == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the job is forked, so that killing it is quick")
def test_checkpoint_killed_at_100_points_loses_and_doubles_nothing(tmp_path):
    told = killing(tmp_path, "7", "100")
    assert told["kills"] >= 100
    assert {"_commit", "__call__", "sync"} <= set(told["places"])
    whole = tmp_path / "whole"
    whole.mkdir()
    code = f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import killing, pathlib; "
    code += f"killing.job(pathlib.Path({str(whole)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())
    for name, least in (("slices.jsonl", 396), ("verdicts.txt", 400)):
        expected = (whole / name).read_text()
        assert expected.count("\n") == least
        for number in range(told["jobs"]):
            assert (tmp_path / str(number) / name).read_text() == expected


def test_checkpoint_goes_on_after_a_failure(job, out):
    def inverse(x):
        return 1 / x

    with pytest.raises(StreamError, match="ZeroDivisionError"):
        job.run([1, 2, 4, 5, 0], Apply(inverse), FileSink(out))
    assert lines(out) == ["1.0", "0.5", "0.25", "0.2"]  # everything before it is delivered
    assert job.run([1, 2, 4, 5, 8], Apply(inverse), FileSink(out)) == 5
    assert lines(out) == ["1.0", "0.5", "0.25", "0.2", "0.125"]


def test_checkpoint_that_has_ended_does_nothing_more(job, out):
    assert job.run("abcd", Count(), FileSink(out)) == 4
    assert job.run("abcdef", Count(), FileSink(out)) == 4
    assert lines(out) == ["1", "2", "3", "4"]


def test_checkpoint_without_end_goes_on_with_what_was_added(job, out):
    assert job.run(range(4), Cumulate(max), FileSink(out), ends=False) == 4
    assert job.run(range(6), Cumulate(max), FileSink(out), ends=False) == 6
    assert lines(out) == list("012345")


def test_checkpoint_asks_a_source_for_its_position(job, out):
    asked = []

    class Seeking:
        def from_position(self, n):
            asked.append(n)
            return range(n, 5)

    job.run(range(4), Count(), FileSink(out), ends=False)
    job.run(Seeking(), Count(), FileSink(out))
    assert asked == [4]
    assert lines(out) == list("12345")


def test_checkpoint_commits_by_time(tmp_path, out):
    job = Checkpoint(tmp_path / "job.state", every=timedelta(microseconds=1))
    seen = []

    def look(x):
        seen.append((tmp_path / "job.state").stat().st_mtime_ns)
        return x

    job.run(range(4), Apply(look), FileSink(out))
    assert len(set(seen)) > 1


def test_checkpoint_allows_classes_of_events(tmp_path, out):
    job = Checkpoint(tmp_path / "job.state", every=2, allow=[Path])
    events = [Path("b"), Path("a"), Path("c")]
    kept = Cumulate(max)
    job.run(events[:2], kept, FileSink(out), ends=False)
    with pytest.raises(StateError, match=r"job\.state: the state holds pathlib\.[\w.]+, which is not"):
        Checkpoint(tmp_path / "job.state").run(events, kept, FileSink(out))
    allowed = Checkpoint(tmp_path / "job.state", allow=[Path, type(Path())])
    allowed.run(events, kept, FileSink(out))
    assert lines(out) == ["b", "b", "c"]


def test_checkpoint_refuses_another_query(job, out):
    job.run("abc", Trim(3), FileSink(out), ends=False)
    with pytest.raises(
        StateError, match=r"job\.state: saved by another query: 'Trim\(3\)', not by Trim\(2\)"
    ):
        job.run("abc", Trim(2), FileSink(out))


def test_checkpoint_refuses_a_shorter_source(job, out):
    job.run("abc", Count(), FileSink(out), ends=False)
    with pytest.raises(QueryError, match=r"has 2 events, but .*job\.state was committed after 3"):
        job.run("ab", Count(), FileSink(out))


def test_checkpoint_refuses_other_files(job, out, tmp_path):
    job.run("abc", Count(), FileSink(out), ends=False)
    with pytest.raises(StateError, match=r"wrote to \['out\.txt'\], now it is to write to \['other\.txt'\]"):
        job.run("abc", Count(), FileSink(tmp_path / "other.txt"))


def test_checkpoint_refuses_an_output_that_has_shrunk(job, out):
    job.run("abc", Count(), FileSink(out), ends=False)
    out.write_text("1\n")
    with pytest.raises(QueryError, match=r"has 2 bytes, but 6 were committed"):
        job.run("abcd", Count(), FileSink(out))


def test_checkpoint_does_not_overwrite_a_file_that_is_not_its_own(job, out):
    out.write_text("precious")
    with pytest.raises(QueryError, match="is there already, but no checkpoint for it"):
        job.run("abc", Count(), FileSink(out))
    assert out.read_text() == "precious"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: b"something else", "not a checkpoint of millstream"),
        (lambda data: data[:-1], "damaged; take an older copy"),
        (lambda data: data.replace(b'"outputs"', b'"outbuts"'), "first line is damaged: KeyError"),
        (lambda data: data.replace(b'{"format": 1', b'{"format": 8', 1), "written in format 8"),
        (
            lambda data: b'millstream checkpoint {"format": 2}\nother',
            "written in format 2, .* finish the job",
        ),
        (lambda data: data[: data.index(b"{")] + b"[" * 60000 + b"\n", "first line is damaged"),
    ],
)
def test_checkpoint_refuses_damaged_files(job, out, change, said):
    job.run("abc", Count(), FileSink(out), ends=False)
    job.path.write_bytes(change(job.path.read_bytes()))
    with pytest.raises(StateError, match=said):
        job.run("abc", Count(), FileSink(out))


def test_checkpoint_refuses_two_jobs_at_once(job, out, tmp_path):
    pytest.importorskip("fcntl")

    def again(x):
        with pytest.raises(QueryError, match=r"another job is running on .*job\.state"):
            job.run("abc", Count(), FileSink(tmp_path / "other.txt"))
        return x

    job.run("a", Apply(again), FileSink(out))
    assert lines(out) == ["a"]


def test_checkpoint_tells_what_its_run_does(job):
    assert job.statistics().positions == ()
    seen = []
    job.run("abc", Apply(lambda x: seen.append(job.statistics().positions) or x), ends=False, counting=True)
    assert seen == [(1,), (2,), (3,)]
    (flow,) = job.statistics().processors
    assert (flow.place, flow.taken, flow.emitted) == ("0:Apply", 3, 3)


def test_checkpoint_tells_prometheus_what_its_run_does(job):
    registry = pytest.importorskip("prometheus_client").CollectorRegistry()
    registry.register(RunCollector(job, "letters"))
    job.run("abc", Count())
    assert registry.get_sample_value("millstream_events_total", {"input": "0", "query": "letters"}) == 3


def test_checkpoint_needs_one_input(job):
    with pytest.raises(QueryError, match="has 2 inputs; merge the sources into one stream"):
        job.run("abc", Count() & Count())


@pytest.mark.parametrize("every", [0, -1, True, 1.5, timedelta(0)])
def test_checkpoint_period_is_checked(every):
    with pytest.raises(ParameterError, match="Checkpoint: every must be a positive number of events"):
        Checkpoint("x", every=every)


def test_checkpoint_other_sinks_get_outputs_again(job, out):
    found = []
    with pytest.raises(StreamError):
        job.run([1, 2, 3, 4, "x"], Apply(X + 0), found)
    job.run([1, 2, 3, 4, 5], Apply(X + 0), found)
    assert found == [1, 2, 3, 4, 4, 5]  # since the last commit, after 3
