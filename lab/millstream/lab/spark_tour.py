"""A short look at Spark, for the lab's main job: one query, locally and over a DataFrame, same outputs."""

from __future__ import annotations

import time
from importlib.util import find_spec
from random import Random

from rich.console import Console

from millstream.palettes.ltl import Monitor, Verdict
from millstream.palettes.slicer import Slice
from millstream.processors import E, MillstreamError

USERS, EVENTS = 50, 5_000


def tour(console: Console) -> None:
    """Run a monitor per user on Spark and compare it with the local run; say what is missing, if so."""
    if find_spec("pyspark") is None:
        console.print(
            "Spark: not shown, pyspark is not installed (pip install 'millstream[spark]')", markup=False
        )
        return
    from millstream.palettes.spark import find_java

    try:
        find_java()
    except MillstreamError as error:
        console.print(f"Spark: not shown. {error}", markup=False)
        return
    console.print(compared(), highlight=False, markup=False, soft_wrap=True)


def compared() -> str:
    """Return what the same query finds locally and on Spark."""
    from millstream.palettes.spark import explain, local_session, monitor

    safe = Monitor("!(kind == 'read') W (kind == 'login')")
    log = events()
    here = {user for user, verdict in Slice(E.user, safe)(log) if verdict == Verdict.FALSE}
    begun = time.perf_counter()
    spark = local_session(2)
    try:
        df = spark.createDataFrame([tuple(e.values()) for e in log], "user string, t long, kind string")
        verdicts = monitor(df, safe, key="user", order_by="t", output="verdict")
        there = {row.user for row in verdicts.where("verdict = 'FALSE'").select("user").distinct().collect()}
        way = explain(df, safe, key="user", order_by="t").splitlines()[0]
    finally:
        spark.stop()
    same = "the same" if here == there else "NOT the same"
    return (
        f"Spark: {safe!r} for each of {USERS} users, {EVENTS} events\n"
        f"  users who read before they logged in: {len(here)} locally, {len(there)} on Spark, {same}\n"
        f"  {way}; {time.perf_counter() - begun:.1f} s with starting Spark"
    )


def events() -> list[dict[str, object]]:
    """Return a log of users who log in, read and log out."""
    random = Random(9)
    kinds = ["login", "read", "logout"]
    return [
        {"user": f"u{random.randrange(USERS)}", "t": t, "kind": random.choice(kinds)} for t in range(EVENTS)
    ]
