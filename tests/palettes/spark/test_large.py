"""What takes long: an executor killed during a batch job, a million keys, a key with half of all events."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from millstream.palettes.ltl import Monitor
from millstream.palettes.spark import monitor
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, E

from .cluster import Cluster

pytestmark = pytest.mark.slow


@pytest.fixture(params=["standalone", "local-cluster"])
def cluster_url(request, tmp_path):
    """A master with two workers, as processes of their own or as Spark's own kind for tests."""
    if request.param == "local-cluster":
        yield "local-cluster[2,1,600]"
        return
    with Cluster(tmp_path / "cluster", workers=2) as cluster:
        yield cluster.url


@pytest.mark.cluster
def test_executor_killed_during_a_batch_job_loses_and_doubles_nothing(cluster_url, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    script = Path(__file__).with_name("batch_job.py")
    done = subprocess.run(
        [sys.executable, script, cluster_url, tmp_path],
        capture_output=True, text=True, env=environment, timeout=600, check=False, cwd=tmp_path,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines == ["outputs: 40000", "as local: True", "killed: True"], done.stderr[-3000:]


def memory(batches):
    """Let batches through, and give at the end the greatest memory that this worker has had."""
    import pyarrow as pa

    for _ in batches:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield pa.RecordBatch.from_pydict({"kilobytes": [peak]})


def peak_of(df):
    """Compute a DataFrame in its workers, and return the greatest memory of one of them in megabytes."""
    return max(r.kilobytes for r in df.mapInArrow(memory, "kilobytes long").collect()) / 1024


@pytest.mark.parametrize("way", ["states", "runs"])
def test_a_million_keys_pass_with_bounded_memory(spark, way):
    df = spark.range(3_000_000).selectExpr("id as t", "id * 7919 % 1000000 as user", "id % 3 = 0 as ok")
    got = monitor(df, Apply(lambda e: e["ok"]) | Count(), key="user", order_by="t", way=way, partitions=8)
    counts = got.groupBy("output").count().collect()
    assert {r.output: r["count"] for r in counts} == {1: 1_000_000, 2: 1_000_000, 3: 1_000_000}
    assert peak_of(got) < 700


def test_key_with_half_of_all_events_passes_with_bounded_memory(spark):
    user = F.when(F.col("id") % 2 == 0, F.lit(0)).otherwise(F.col("id") % 5000)
    df = spark.range(2_000_000).select(
        F.col("id").alias("t"), user.alias("user"), (F.col("id") % 7).alias("n")
    )
    query = {"last": Apply(E.n) | Window(sum, 10), "safe": Monitor("G (n < 7)")}
    got = monitor(df, query, key="user", order_by="t", partitions=8)
    assert got.where("user = 0 and safe = 'UNKNOWN'").count() == 1_000_000
    assert peak_of(got) < 700
