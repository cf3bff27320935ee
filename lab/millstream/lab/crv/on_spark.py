"""The problems on Spark: the same queries over DataFrames (needs the extra ``spark``, and Java).

Logs whose property falls into parts are shuffled by part, with the events that concern everybody in all of
them. Of other traces, Spark reads the pieces side by side. Lines keep their order by numbers that grow with
their place in the file.
"""

from __future__ import annotations

import csv
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from millstream.palettes import ltl
from millstream.palettes.spark import local_session, monitor
from millstream.processors import Apply, Filter, KeepLast

from .logs import Log
from .problem import Event, Path, Verdict
from .taint import Summary, fold

if TYPE_CHECKING:
    from .parts import Parts
    from .spread import Messages

#: how many tasks run at once
TASKS = 2


def numbered(spark: SparkSession, path: Path, end: str) -> DataFrame:
    """Return the texts of a file up to each end, with numbers that grow from the first to the last."""
    lines = spark.read.option("lineSep", end).text(str(path)).where(F.trim("value") != "")
    return lines.withColumn("id", F.monotonically_increasing_id())


def place_of(lines: DataFrame, number: int | None) -> Verdict:
    """Return the position of the line with a number."""
    return None if number is None else int(lines.where(F.col("id") < number).count())


# Logs in parts


def parts_on_spark(parts: Parts, path: Path, spark: SparkSession | None = None) -> Verdict:
    """Return the verdict on a log, part by part."""
    lines = numbered(spark or local_session(TASKS), path, "\n")
    events = lines.withColumn("part", F.explode(parts_of_line(parts)))
    query = Apply(partial(event_of, parts.log)) | parts.query()
    run = partial(monitor, events, key="part", order_by="id", returns=bool)
    if parts.at_end:
        found = run(query | KeepLast() | Apply(parts.wrong))
        return lines.count() if found.where("output").count() else None
    found = run(query | Filter(parts.wrong) | Apply(parts.wrong))
    return place_of(lines, found.agg(F.min("id")).collect()[0][0])


def parts_of_line(parts: Parts) -> Column:
    """Return the parts to which a line belongs: one, or all."""
    whole = all(place is None for place in parts.keys.values())
    count = 1 if whole else TASKS
    everybody = F.array(*map(F.lit, range(count)))
    fields, chosen = F.split("value", ","), everybody
    for name, place in parts.keys.items():
        if place is not None:
            one = F.array((F.crc32(fields[place].cast("binary")) % count).cast("int"))
            chosen = F.when(fields[0] == name, one).otherwise(chosen)
    return chosen


def event_of(log: Log, row: Mapping[str, Any]) -> Event:
    """Return the event on a line."""
    return log.event(row["value"])


# A trace in pieces


def pieces_on_spark(path: Path, spark: SparkSession | None = None) -> Verdict:
    """Return the verdict on a log of dirty strings: each task sums up what it reads."""
    lines = (spark or local_session(TASKS)).read.text(str(path)).where(F.trim("value") != "")
    found = lines.mapInArrow(summaries, "piece int, summary binary").collect()
    return fold(pickle.loads(row.summary) for row in sorted(found, key=lambda row: row.piece))


def summaries(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the summary of a partition."""
    found, context = Summary(), TaskContext.get()
    found.read(row for batch in batches for row in csv.reader(batch.column(0).to_pylist()))  # type: ignore[misc]
    yield pa.record_batch(
        {
            "piece": pa.array([context.partitionId() if context else 0], pa.int32()),
            "summary": pa.array([pickle.dumps(found)], pa.binary()),
        }
    )


# Snapshots


def messages_on_spark(problem: Messages, path: Path, spark: SparkSession | None = None) -> Verdict:
    """Return the verdict on a game: tasks read the messages, and one follows what they say."""
    texts = numbered(spark or local_session(TASKS), path, "</message>")
    texts = texts.where(F.col("value").contains("<message"))
    read = texts.mapInArrow(partial(roles, problem.read), "id long, said binary")
    query = Apply(unpacked) | problem.query() | Apply(str)
    found = monitor(
        read.withColumn("game", F.lit(0)), query, key="game", order_by="id", returns=str, partitions=1
    )
    return problem.judge(map(said, (row.output for row in found.orderBy("id").collect())))


def roles(read: Callable[[str], Any], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what is read of each message."""
    for batch in batches:
        texts = batch.column("value").to_pylist()
        packed = [pickle.dumps(read(text[text.index("<message") :] + "</message>")) for text in texts]
        yield pa.record_batch({"id": batch.column("id"), "said": pa.array(packed, pa.binary())})


def unpacked(row: Mapping[str, Any]) -> Any:
    """Return what a task has read of a message."""
    return pickle.loads(row["said"])


def said(output: str) -> Any:
    """Return a truth value or a verdict for its name.

    >>> said("False"), said("UNKNOWN")
    (False, UNKNOWN)
    """
    return {"True": True, "False": False}.get(output, ltl.Verdict(output))
