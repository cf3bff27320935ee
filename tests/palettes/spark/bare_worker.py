"""A job whose workers have neither millstream nor attrs; run by test_shipping in a process of its own.

Prints the outputs, once everything that is needed has been shipped.
"""

import json
import os
import stat
import sys
import sysconfig
from pathlib import Path

WITHOUT = ("attr", "attrs", "more_itertools", "millstream")


def bare_python(folder: Path) -> Path:
    """Make a Python that sees the installed packages, but neither ours nor what it needs."""
    packages = folder / "packages"
    packages.mkdir()
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if path.name.split("-")[0] not in WITHOUT and path.suffix != ".pth":
            (packages / path.name).symlink_to(path)
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\nexport PYTHONPATH="{packages}:$PYTHONPATH"\nexec "{sys.executable}" -S "$@"\n'
    )
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return python


def main(folder: Path, kind: str) -> None:
    """Show that the job fails without shipping, and works with it."""
    os.environ["PYSPARK_PYTHON"] = str(bare_python(folder))
    os.environ.pop("PYTHONPATH", None)
    from millstream.palettes.ltl import Monitor
    from millstream.palettes.spark import local_session, monitor, monitor_trace, monitor_udf, ship
    from millstream.processors import Apply, Count, E, Filter

    spark = local_session(1) if kind == "classic" else connected()
    if kind == "classic":
        spark.sparkContext.setLogLevel("OFF")
    df = spark.createDataFrame([("ann", 1, True), ("ann", 2, False), ("bob", 1, True)], ["user", "t", "ok"])
    query = Apply(lambda e: e) | Monitor("G ok")
    try:
        monitor(df, query, key="user", order_by="t").collect()
    except Exception as error:
        print("before:", "No module named 'millstream'" in str(error))
    ship(spark, "greetings")
    from greetings import polite

    print("after:", sorted(map(tuple, monitor(df, query, key="user", order_by="t").collect())))
    named = monitor(df, Filter(E.ok) | Apply(polite), key="user", order_by="t", returns=str)
    print("own:", sorted(r.output for r in named.collect()))
    print("trace:", monitor_trace(df, Filter(E.ok) | Count(), order_by=["t", "user"]))
    safe = monitor_udf(Monitor("G ok"), order_by="t")
    print("udf:", sorted(map(tuple, df.groupBy("user").agg(safe("t", "ok")).collect())))
    safe.register(spark, "safe")
    df.createOrReplaceTempView("log")
    sql = spark.sql("select user, safe(struct(*)) as verdict from log group by user")
    print("sql:", sorted(map(tuple, sql.collect())))
    try:
        print("stream:", streamed(spark, folder))
    except Exception as error:
        print("stream: without what was shipped", "No module named 'millstream'" in str(error))
    spark.stop()


def streamed(spark, folder: Path):
    """Run a stream of one file, with transformWithState where there is RocksDB."""
    from millstream.palettes.spark import monitor_stream
    from millstream.processors import Count

    (folder / "in").mkdir()
    rows = [("ann", 1.0), ("ann", 2.0), ("end", 99.0)]
    (folder / "in" / "a.json").write_text("".join(json.dumps({"user": u, "t": t}) + "\n" for u, t in rows))
    stream = spark.readStream.schema("user string, t double").json(str(folder / "in"))
    counts = monitor_stream(stream, Count(), key="user", time="t", watermark=1, returns=int)
    writer = counts.writeStream.format("json").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(str(folder / "out")).awaitTermination()
    made = spark.read.schema("user string, t double, output long").json(str(folder / "out"))
    return sorted(map(tuple, made.collect()))


def connected():
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    return SparkSession.builder.remote("local[1]").config(map=settings).getOrCreate()


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    main(Path(sys.argv[1]), sys.argv[2])
