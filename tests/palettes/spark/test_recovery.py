"""A stream on a real cluster whose worker, then driver, are killed: nothing lost, nothing doubled."""

import subprocess
import sys
from pathlib import Path

import pytest

from .cluster import Cluster, Process
from .stream_job import windows
from .streams import deliver, results
from .test_stream import batches, expected

JOB = Path(__file__).with_name("stream_job.py")


class Job(Process):
    """The streaming job, in a driver of its own; tells which micro-batches are done."""

    def __init__(self, master: str, folder: Path) -> None:
        command = [sys.executable, "-u", JOB, master, folder]
        super().__init__(command, folder / "driver.log", stdout=subprocess.PIPE)

    def until(self, word: str) -> None:
        """Wait until it prints a line."""
        for line in self.process.stdout:
            if line.strip() == word:
                return
        pytest.fail(f"the job ended before it said {word!r}: {(self.log.name)}")


@pytest.mark.slow
@pytest.mark.cluster
def test_a_stream_survives_the_death_of_a_worker_and_of_the_driver(spark, tmp_path):
    parts = batches(chance=11, count=16, size=150)
    for number, rows in enumerate(parts):
        deliver(tmp_path / "in", number, rows)
    with Cluster(tmp_path / "cluster", workers=2) as cluster:
        job = Job(cluster.url, tmp_path)
        job.until("batch 3")
        cluster.workers[0].kill()
        job.until("batch 6")
        cluster.workers[0] = cluster.start_worker(0)
        job.until("batch 9")
        job.kill()
        job = Job(cluster.url, tmp_path)
        job.until("done")
        job.kill()
    outputs, late = results(spark, tmp_path)
    accepted = [row for part in parts for row in part if row[2] >= 0]
    assert outputs == expected(windows(), accepted, 100)
    assert not late
