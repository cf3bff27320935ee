"""A batch job on a cluster whose first executor kills itself in the middle; run by test_killed.

Prints how many outputs there were, whether they equal those of the local run, and how many executors died.
"""

import os
import signal
import sys
from collections import Counter
from pathlib import Path

from pyspark.sql import SparkSession

from millstream.palettes.spark import monitor
from millstream.processors import Apply, Count

EVENTS, KEYS = 40_000, 37


def executor() -> int:
    """Return the process number of the executor that this task runs on."""
    pid = os.getpid()
    while "CoarseGrainedExecutorBackend" not in Path(f"/proc/{pid}/cmdline").read_text():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


def deadly(folder: str):
    """Return a function of events that kills its executor once, at an event in the middle."""

    def take(event):
        if event["t"] == EVENTS // 2 and "executors" in os.listdir(folder):
            try:
                os.rename(f"{folder}/executors", f"{folder}/killed")
            except FileNotFoundError:  # another task was faster
                return event
            os.kill(executor(), signal.SIGKILL)
        return event

    return take


def main(url: str, folder: str) -> None:
    """Run the job, and compare."""
    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m",
        "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "4",
    }  # fmt: skip
    spark = SparkSession.builder.master(url).config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    Path(folder, "executors").mkdir()
    df = spark.range(EVENTS).selectExpr("id as t", f"id % {KEYS} as user")
    query = Apply(deadly(folder)) | Count() | Apply(lambda n: n * 10)
    rows = monitor(df, query, key="user", order_by="t", returns=int).collect()
    events = [{"t": t, "user": t % KEYS} for t in range(EVENTS)]
    seen: Counter = Counter()
    expected = []
    for e in events:
        seen[e["user"]] += 1
        expected.append((e["user"], e["t"], seen[e["user"]] * 10))
    print("outputs:", len(rows))
    print("as local:", sorted(map(tuple, rows)) == sorted(expected))
    print("killed:", Path(folder, "killed").is_dir())
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
