"""A streaming job that is killed in `test_recovery.py`: `python stream_job.py master folder`.

Reads the files in folder/in one a micro-batch, and writes to folder/out; prints the number of each
micro-batch that is done. Started again, it goes on from its checkpoint.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from millstream.palettes.spark import monitor_stream
from millstream.palettes.spark.session import ROCKSDB
from millstream.palettes.windows import TimeWindow
from millstream.processors import Count, E

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.executor.memory": "512m",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.minBatchesToRetain": "100",
}


def windows():
    """The query: how many events a user has in each ten seconds."""
    return TimeWindow(Count(), 10, every=10, time=E.t)


def main(master: str, folder: Path) -> None:
    spark = SparkSession.builder.master(master).config(map=SETTINGS).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    reader = spark.readStream.schema("user string, t double, n bigint").option("maxFilesPerTrigger", 1)
    outputs = monitor_stream(
        reader.json(str(folder / "in")),
        windows(),
        key="user",
        time="t",
        watermark="15 seconds",
        returns=int,
        timeout=100,
        order_by="n",
    )
    writer = outputs.writeStream.format("json").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "out"))
    told = -1
    while not query.awaitTermination(0.2):
        for progress in query.recentProgress:
            if progress.batchId > told:
                told = progress.batchId
                print("batch", told, flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
