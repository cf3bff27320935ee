"""One query on a laptop and on Spark: logins, key by key, over a DataFrame.

The query is an ordinary object: first it runs on a list, then `monitor` runs it on every user's events in
the order of time. Conditions at its head become SQL before anything is shuffled, the rest runs in workers.
Several queries share one shuffle, and a failing function is named with its key and event.

::

    df ──> where(kind <> 'ping') ──> by user, in order of t ──┬──> Monitor(...) ──> safe
                                                              └──> Count() ──> events

Prints:
here: [UNKNOWN, FALSE]
ann 1 UNKNOWN 1
ann 4 FALSE 2
bob 2 UNKNOWN 1
bob 3 TRUE 2
way: states (a state has a fixed size, so that each key keeps one and nothing is sorted by key)
key 'ann', on the event {'user': 'ann', 't': 1, 'kind': 'open'}: Apply(strict) failed
"""

import re
from typing import Any

from pyspark.errors import PySparkException

from millstream.palettes.ltl import Monitor
from millstream.palettes.spark import explain, local_session, monitor
from millstream.processors import Apply, Count, E, Filter

LOG = [("ann", 1, "open"), ("bob", 2, "ping"), ("bob", 2, "open"), ("bob", 3, "login"), ("ann", 4, "read")]
NO_PING = Filter(E.kind != "ping")
SAFE = NO_PING | Monitor("!(kind == 'read') U (kind == 'login')")


def strict(event: dict[str, Any]) -> str:
    """Refuse everything but logins."""
    if event["kind"] != "login":
        raise ValueError(f"not a login: {event['kind']}")
    return "fine"


def main() -> None:
    """Run the queries here and on Spark."""
    print("here:", list(SAFE([{"kind": kind} for user, _, kind in LOG if user == "ann"])))
    spark = local_session(2)
    spark.sparkContext.setLogLevel("OFF")
    df = spark.createDataFrame(LOG, ["user", "t", "kind"])
    both = monitor(df, {"safe": SAFE, "events": NO_PING | Count()}, key="user", order_by="t")
    for row in both.orderBy("user", "t").collect():
        print(*row)
    print(explain(df, SAFE, key="user", order_by="t").splitlines()[0])
    try:
        monitor(df.where("user = 'ann'"), Apply(strict), key="user", order_by="t", returns=str).collect()
    except PySparkException as error:
        print(re.findall("key 'ann'.* failed", str(error))[-1])


if __name__ == "__main__":
    main()
