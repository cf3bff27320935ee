"""A fleet of sensors: an average over the last readings of each one, and those that run hot.

Slice keeps one state for each sensor, however many there are; the window inside computes its average in the
same time at any width.

::

    in ──> Filter(E.kind == "temp") ──> Slice(E.sensor, ...) ──> Filter(X[1] > 24) ──> out
                                              │
                                              └── Apply(E.celsius) ──> Window(fmean, 3)

Prints:
attic: 26.3
attic: 28.9
messages: {'attic': 13, 'cellar': 15, 'hall': 21, 'yard': 11}
"""

from random import Random
from statistics import fmean
from typing import Any

from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, E, Filter, X

hot = (
    Filter(E.kind == "temp")
    | Slice(E.sensor, Apply(E.celsius) | Window(fmean, 3))
    | Filter(X[1] > 24)
    | Apply(lambda pair: (pair[0], round(pair[1], 1)))
)
traffic = Slice(E.sensor, Count(), snapshot=True)


def readings(count: int) -> list[dict[str, Any]]:
    """Return seeded readings of four sensors; the one in the attic warms up."""
    chance = Random(5)
    events = []
    for t in range(count):
        sensor = chance.choice(["attic", "cellar", "hall", "yard"])
        celsius = round(chance.gauss(20, 2) + (t / 5 if sensor == "attic" else 0), 1)
        events.append({"sensor": sensor, "kind": chance.choice(["temp", "temp", "volt"]), "celsius": celsius})
    return events


def main() -> None:
    """Find the hot ones, then count the messages of each."""
    fleet = readings(60)
    for sensor, average in hot(fleet):
        print(f"{sensor}: {average}")
    *_, counts = traffic(fleet)
    print("messages:", dict(sorted(counts.items())))


if __name__ == "__main__":
    main()
