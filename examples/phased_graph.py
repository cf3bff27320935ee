"""A correlation graph in phases: only what changed is computed, and silence is information.

A model of power demand expects a certain temperature. The sensor reports every hour, but a message goes on
only when the expectation is off by more than two degrees; in all other phases the price model keeps its last
forecast without being asked. Several phases are under way at a time, with the results of one after another.

::

    temperature ──> surprise ──> forecast ──┐
    wind ───────────────────────────────────┴──> price ──> out

Prints:
hour 0: {'price': 94}
hour 1: no news
hour 2: {'price': 108}
hour 3: no news
hour 4: {'price': 104}
hour 5: {'price': 118}
the same with workers: True
"""

from millstream.concurrency import PhasedGraph, ThreadManager, by_time
from millstream.processors import MISSING

EXPECTED = {0: 15, 1: 15, 2: 16, 3: 17, 4: 19, 5: 20}
TEMPERATURE = [(0, 15), (1, 14), (2, 10), (3, 16), (4, 24), (5, 20)]
WIND = [(0, 3), (2, 8), (5, 1)]


class Surprise:
    """Tell by how much a reading is off what was expected for its hour, if it is much."""

    def __init__(self) -> None:
        self.hour = -1

    def __call__(self, reading: int) -> object:
        self.hour += 1
        off = reading - EXPECTED[self.hour]
        return off if abs(off) > 2 else MISSING


def graph() -> PhasedGraph:
    """Return the graph; a vertex names what it reads."""
    made = PhasedGraph()
    made.add("temperature")
    made.add("wind")
    made.add("surprise", Surprise(), "temperature")
    made.add("forecast", lambda off: 100 + 4 * abs(off), "surprise", initial=0)
    made.add("price", lambda demand, wind: demand - 2 * wind, "forecast", "wind", initial=100)
    return made


def main() -> None:
    """Run the phases one after another, then with two workers."""
    streams = {"temperature": TEMPERATURE, "wind": WIND}
    alone = [(phase.time, dict(phase.values)) for phase in graph().run(by_time(streams))]
    for time, values in alone:
        print(f"hour {time}: {values or 'no news'}")
    with ThreadManager(2) as manager:
        together = [(phase.time, dict(phase.values)) for phase in graph().run(by_time(streams), manager)]
    print("the same with workers:", together == alone)


if __name__ == "__main__":
    main()
