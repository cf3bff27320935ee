"""Two streams, one order: events of several sources brought into the order in which they happened.

Each stream is in order by itself, but one arrives late. The synchroniser sends an event as soon as every
stream has shown one at least as new; a stream that stays silent for too long is not waited for any more.

::

    doors ────┐
              ├──> Synchronizer(max_delay=10) ──> Apply(story) ──> out
    cameras ──┘

Prints:
   3 s  1 front opens
   3 s  2 hall: a person
   5 s  4 front closes
   6 s  6 hall: empty
  20 s  7 back opens
  21 s  8 garden: a cat
"""

from millstream.palettes.timesync import Synchronizer, Tick
from millstream.processors import Apply, VirtualClock, X

ARRIVALS = [
    (0, ("door", 1, "front opens")), (1, ("door", 4, "front closes")), (3, ("camera", 2, "hall: a person")),
    (5, ("camera", 6, "hall: empty")), (6, ("door", 7, "back opens")), (20, None),
    (21, ("camera", 8, "garden: a cat")),
]  # fmt: skip


def main() -> None:
    """Play the arrivals on a clock that waits for nobody."""
    clock = VirtualClock()
    merged = Synchronizer(time=X[1], streams=["door", "camera"], key=X[0], max_delay=10, clock=clock.now)
    story = Apply(lambda e: f"{clock.now():4.0f} s  {e[1]} {e[2]}")
    run = (merged | story).into(print)
    for time, event in ARRIVALS:
        clock.sleep(time - clock.now())
        run.push(Tick() if event is None else event)
    run.end()


if __name__ == "__main__":
    main()
