"""One long trace on several tasks: partitions are summed up, and the summaries folded in order of time.

A finite monitor can be asked what a stretch of the trace does to each of its states, without knowing the
state before it. So every partition is computed at the same time; a second pass gives the verdict after each
event. Queries that cannot be summed up run in one task, and a warning says why.

::

    df ──> ranges of t ──┬──> what it does to every state ──┐
                         ├──> what it does to every state ──┼──> in order ──> verdict
                         └──> what it does to every state ──┘

Prints:
the last request is open: PRESUMABLY_FALSE
verdicts: 40000 PRESUMABLY_FALSE, 20000 PRESUMABLY_TRUE
largest backlog: 999
Window(mean, 3) runs in one task
"""

import warnings
from statistics import fmean

from millstream.palettes.ltl import Monitor
from millstream.palettes.spark import local_session, monitor_trace
from millstream.palettes.windows import Window
from millstream.processors import Apply, Cumulate, E

ANSWERED = Monitor("G (asked -> F answered)", semantics="rv-ltl")
EVENTS = 60_000


def main() -> None:
    """Monitor a trace that is stored in no particular order."""
    spark = local_session(2)
    columns = ["id as t", "id % 3 = 1 as asked", "id % 3 = 0 as answered", "id * 7919 % 1000 as backlog"]
    df = spark.range(1, EVENTS + 1).selectExpr(*columns)
    trace = df.where(f"t < {EVENTS}").repartition(4)
    print("the last request is open:", monitor_trace(trace, ANSWERED, order_by="t"))
    every = monitor_trace(df.repartition(4), ANSWERED, order_by="t", every=True)
    counts = sorted((row["output"], row["count"]) for row in every.groupBy("output").count().collect())
    print("verdicts:", ", ".join(f"{count} {verdict}" for verdict, count in counts))
    print("largest backlog:", monitor_trace(df, Apply(E.backlog) | Cumulate(max), order_by="t"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", RuntimeWarning)
        monitor_trace(df.limit(100), Apply(E.backlog) | Window(fmean, 3), order_by="t")
    print("Window(mean, 3) runs in one task" if "one task" in str(said[-1].message) else "?")


if __name__ == "__main__":
    main()
