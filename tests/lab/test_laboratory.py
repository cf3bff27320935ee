"""Runs: clean processes, every way in which they end, stopping, and surviving kill -9."""

import os
import signal
import sqlite3
import subprocess
import sys
from threading import Thread

import psutil
import pytest

from millstream.lab import Laboratory
from millstream.lab.store import Store

from .conftest import FILE


def statuses(lab, run) -> list[str]:
    return [result.status for result in lab.store.results(run.id)]


def end_of(lab, how: str):
    """Run one point of `ends`; return its result."""
    run = lab.store.run(lab.store.begin([("ends", {"how": how})], quick=False, seed=1, machine={"cores": 2}))
    lab.perform(run)
    return lab.store.results(run.id)[0]


def test_run_keeps_the_rows_of_every_point(lab):
    run = lab.run(["waits"])
    assert statuses(lab, run) == ["done"] * 4
    assert [(row["n"], row["part"], row["square"]) for row in lab.rows(run, "waits")][-2:] == [
        (3, 1, 9),
        (3, 2, 9),
    ]
    assert [c.outcome for c in lab.claims(run)["waits"]] == ["confirmed"]


def test_quick_run_takes_the_quick_points_only(lab):
    assert len(lab.rows(lab.run(["waits"], quick=True), "waits")) == 2


def test_measures_are_throughput_load_memory_and_latency(lab):
    (row,) = lab.rows(lab.run(["measures"]), "measures")
    assert row["Hz"] > 0
    assert row["best Hz"] >= row["Hz"]
    assert 0 <= row["own load"] <= 1
    assert 0 <= row["load"] <= 1
    assert 5 < row["memory MB"] < 2000
    assert 0 < row["p50 us"] <= row["p90 us"] <= row["p99 us"] <= row["p99.9 us"] <= row["max us"]


def test_seed_decides_the_input(lab):
    firsts = [lab.rows(lab.run(["measures"], seed=s), "measures")[0]["first"] for s in (1, 1, 2)]
    assert firsts[0] == firsts[1] != firsts[2]


def test_what_an_experiment_prints_is_no_figure(lab):
    result = end_of(lab, "print")
    assert (result.status, list(result.figures)) == ("done", ["memory MB"])


def test_failure_is_kept_with_its_traceback_and_what_was_printed(lab):
    result = end_of(lab, "raise")
    assert result.status == "failed"
    assert "ValueError: on purpose" in result.error
    assert "it printed:\njust before" in result.error


def test_wrong_result_is_no_figure(lab):
    result = end_of(lab, "wrong")
    assert (result.status, result.error) == ("wrong", "one and one make three")


def test_skipped_point_says_why(lab):
    result = end_of(lab, "skip")
    assert (result.status, result.error) == ("skipped", "no Java here")


def test_process_that_dies_is_a_failure(lab):
    result = end_of(lab, "die")
    assert (result.status, result.error) == ("failed", "its process ended with status 3 before it was done\n")


def test_processes_that_an_experiment_leaves_behind_are_ended(lab):
    result = end_of(lab, "offspring")
    assert result.status == "done"
    left = [psutil.Process(pid) for pid in [result.figures["offspring"]] if psutil.pid_exists(pid)]
    assert psutil.wait_procs(left, timeout=30)[1] == []


def test_point_over_its_limit_is_given_up(lab, door):
    os.mkfifo(door / "door")
    lab.experiments["ends"].limit = 0.5
    try:
        result = end_of(lab, "late")
    finally:
        lab.experiments["ends"].limit = 3600
    assert (result.status, result.error) == ("timed out", "given up after 0.5 s")


def test_stopped_run_continues_where_it_was(lab, door):
    os.mkfifo(door / "door1")
    run = lab.plan(["waits"])
    thread = Thread(target=lab.perform, args=(run,))
    thread.start()
    with (door / "door1").open("wb"):  # opens when the point waits on the other side
        lab.stop()
        thread.join()
    assert statuses(lab, run) == ["done", "stopped", "waiting", "waiting"]
    (door / "door1").unlink()
    assert lab.resume() == run
    assert statuses(lab, run) == ["done"] * 4


def test_database_survives_kill_9_and_the_run_continues(lab, door, tmp_path):
    os.mkfifo(door / "door2")
    script = (
        "import sys; from millstream.lab import Laboratory as L; L(sys.argv[1], sys.argv[2:]).run(['waits'])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    victim = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "lab"), FILE], env=environment)
    with (door / "door2").open("wb"):  # opens when the third point waits on the other side
        children = psutil.Process(victim.pid).children(recursive=True)
        kept = sqlite3.connect(tmp_path / "lab" / "lab.sqlite")
        while kept.execute("SELECT count(*) FROM row").fetchone() != (5,):
            assert victim.poll() is None
        kept.close()
        victim.send_signal(signal.SIGKILL)
        assert victim.wait() == -signal.SIGKILL
        # the process of the point ends with its laboratory
        assert psutil.wait_procs(children, timeout=30)[1] == []

    run = lab.store.run()
    before = lab.store.results(run.id)
    assert statuses(lab, run) == ["done", "done", "running", "waiting"]
    assert len(lab.rows(run, "waits")) == 4

    (door / "door2").unlink()
    lab.resume()
    after = lab.store.results(run.id)
    assert statuses(lab, run) == ["done"] * 4
    assert [r.begun for r in after][:2] == [r.begun for r in before][:2]  # what was done is not done again
    assert len(lab.rows(run, "waits")) == 8


def test_load_of_every_core_is_kept_over_time(lab, door):
    os.mkfifo(door / "door")
    lab.experiments["ends"].limit = 1.0
    try:
        samples = lab.store.samples(end_of(lab, "late").id)
    finally:
        lab.experiments["ends"].limit = 3600
    assert len(samples) >= 2
    assert {len(sample.loads) for sample in samples} == {os.cpu_count()}
    assert max(sample.memory for sample in samples) > 5


def test_run_of_another_machine_is_not_continued(lab):
    lab.store.begin([("waits", {"n": 0})], quick=False, seed=1, machine={"cores": 4096})
    with pytest.raises(ValueError, match="run 1 was begun on another machine"):
        lab.resume()


def test_unknown_experiment_is_named(lab):
    with pytest.raises(LookupError, match=r"no experiment matches 'wits'; there are: .*waits"):
        lab.run(["wits"])


def test_database_of_another_format_is_refused(tmp_path):
    db = sqlite3.connect(tmp_path / "lab.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(ValueError, match=r"was written by another version of the lab .its format is 99"):
        Store(tmp_path / "lab.sqlite")


def test_module_whose_requirements_are_missing_takes_only_itself_away(tmp_path):
    (tmp_path / "needy.py").write_text("import no_such_module\n")
    lab = Laboratory(tmp_path, [str(tmp_path / "needy.py"), FILE])
    assert "waits" in lab.experiments
    assert list(lab.absent.values()) == ["No module named 'no_such_module'"]
    lab.close()


def test_two_experiments_of_one_name_are_refused(tmp_path):
    (tmp_path / "again.py").write_text(
        "from millstream.lab import experiment\n@experiment('waits')\ndef f(trial): 'Again.'\n"
    )
    with pytest.raises(ValueError, match=r"two experiments are called 'waits'; the second is in .*again.py"):
        Laboratory(tmp_path, [FILE, str(tmp_path / "again.py")])


def test_second_process_in_the_same_folder_is_refused(lab, door, tmp_path):
    os.mkfifo(door / "door0")
    run = lab.plan(["waits"])
    thread = Thread(target=lab.perform, args=(run,))
    thread.start()
    with (door / "door0").open("wb"):
        other = Laboratory(tmp_path / "lab", [FILE])
        with pytest.raises(
            ValueError, match=r"another process runs experiments in .*: wait for it or stop it"
        ):
            other.resume()
        other.close()
        lab.stop()
        thread.join()
    (door / "door0").unlink()
    lab.resume()
    assert statuses(lab, run) == ["done"] * 4
