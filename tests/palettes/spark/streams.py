"""Small streams for the tests: files that come one after the other, and what a query made of them."""

import json
import os
from collections import defaultdict
from pathlib import Path

SCHEMA = "user string, t double, n bigint"


def deliver(folder: Path, number: int, rows) -> None:
    """Write a micro-batch of (user, t, n) as a file; Spark takes files in the order of their ages."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number:03}.json"
    path.write_text(
        "".join(json.dumps(dict(zip(("user", "t", "n"), row, strict=True))) + "\n" for row in rows)
    )
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def stream(spark, folder: Path, schema: str = SCHEMA):
    """The files as a stream, one a micro-batch."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(folder))


def run(frame, folder: Path):
    """Run all there is, into files that are written exactly once; return the streaming query."""
    writer = frame.writeStream.format("json").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.outputMode("append").trigger(availableNow=True).start(str(folder / "out"))
    query.awaitTermination()
    return query


def results(spark, folder: Path):
    """What was written: for each user the (t, output), and the late (t, n)."""
    schema = "user string, t double, output bigint, late struct<user: string, t: double, n: bigint>"
    outputs, late = defaultdict(list), defaultdict(list)
    for row in spark.read.schema(schema).json(str(folder / "out")).collect():
        if row.late is None:
            outputs[row.user].append((row.t, row.output))
        else:
            late[row.user].append((row.late.t, row.late.n))
    return {user: sorted(rows) for user, rows in outputs.items()}, dict(late)
