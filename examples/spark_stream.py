"""Sessions that are not closed in time, found in a stream by Spark: state per user, events out of order.

Whoever opens a session must close it within 30 seconds. Events come in micro-batches (files, here), in any
order up to 20 seconds. The verdict on an opening comes when the user closes, or when the watermark says that
it is too late: no further event of that user is needed. Started again, it would go on from its checkpoint.

::

    stream ──(by user, in order)──> Verdicts(open -> F[0,30] close) ──> Filter(not ok) ──> user, t, output

Prints:
ann broke the rule, as seen at 12:00:40
eve broke the rule, as seen at 12:01:35
late events: 1
"""

import os
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from millstream.palettes.ltl import Verdicts
from millstream.palettes.spark import local_session, monitor_stream
from millstream.processors import E, Filter

NOON = datetime(2026, 1, 1, 12)
RULE = Verdicts(
    "open -> F[0,30] close",
    atoms={"open": E.what == "open", "close": E.what == "close"},
    time=lambda e: e["t"].timestamp(),
)
BATCHES = [
    [("bob", 15, "open"), ("ann", 10, "open"), ("bob", 5, "close")],
    [("bob", 30, "close"), ("ann", 62, "close"), ("ann", 61, "open")],
    [("eve", 65, "open"), ("ann", 12, "close")],  # ann's comes too late: 12 is before 62 - 20
    [("zoe", 500, "open")],
]


def deliver(folder: Path, number: int) -> None:
    """Write a micro-batch as a file."""
    rows = [f"{user},{NOON + timedelta(seconds=s)},{what}\n" for user, s, what in BATCHES[number]]
    path = folder / f"{number}.csv"
    path.write_text("".join(rows))
    os.utime(path, (number + 1, number + 1))  # Spark takes files in the order of their ages


def main() -> None:
    """Run the stream on all micro-batches."""
    spark = local_session(2)
    folder = Path(tempfile.mkdtemp())
    (folder / "in").mkdir()
    for number in range(len(BATCHES)):
        deliver(folder / "in", number)
    lines = spark.readStream.schema("user string, t timestamp, what string").option("maxFilesPerTrigger", 1)
    stream = lines.csv(str(folder / "in"))
    rule = RULE | Filter(lambda ok: not ok)
    broken = monitor_stream(stream, rule, key="user", time="t", watermark="20 seconds", returns=bool)
    writer = broken.writeStream.format("json").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "out"))
    query.awaitTermination()
    found = spark.read.schema("user string, t timestamp").json(str(folder / "out"))
    for row in found.orderBy("t").collect():
        print(f"{row.user} broke the rule, as seen at {row.t:%H:%M:%S}")
    print("late events:", sum(p.observedMetrics["monitor_stream"].late for p in query.recentProgress))


if __name__ == "__main__":
    main()
