"""Things that report late: sums per ten seconds of event time, although events arrive out of order.

Events may be up to 6 seconds late and are waited for that long; what comes later still leaves by a second
output instead of being lost. Then the same by hand: Reorder sorts, and any other query can follow.

::

    in ──> TimeWindow(sum, 10, every=10, bound=6, late="side") ──┬──> sums
                                                                └──> too late

    in ──> Reorder(bound=6) ──> Apply(E.time) ──> in order

Prints:
arrived: 1
arrived: 4
arrived: 12
arrived: 8
arrived: 9
arrived: 15
arrived: 21
  ten seconds: 12
arrived: 18
arrived: 2
  too late: 2
arrived: 27
  ten seconds: 13
arrived: 33
arrived: 30
arrived: 45
  ten seconds: 8
end of trace
  ten seconds: 9
  ten seconds: 4
in order: 1 4 8 9 12 15 18 21 27 30 33 45
"""

from operator import add
from typing import Any

from millstream.palettes.timesync import Reorder
from millstream.palettes.windows import TimeWindow
from millstream.processors import Apply, Cumulate, E

ARRIVALS = [1, 4, 12, 8, 9, 15, 21, 18, 2, 27, 33, 30, 45]
EVENTS: list[dict[str, Any]] = [{"time": t, "litres": t % 7 + 1} for t in ARRIVALS]

sums = TimeWindow(
    Apply(E.litres) | Cumulate(add), 10, every=10, time=E.time, bound=6, late="side", partial=True
)
in_order = Reorder(bound=6, time=E.time, late="drop") | Apply(E.time)


def main() -> None:
    """Push the arrivals one by one, and watch when a window closes."""
    run = sums.into(lambda total: print("  ten seconds:", total), lambda e: print("  too late:", e["time"]))
    for event in EVENTS:
        print("arrived:", event["time"])
        run.push(event)
    print("end of trace")
    run.end()
    print("in order:", *in_order(EVENTS))


if __name__ == "__main__":
    main()
