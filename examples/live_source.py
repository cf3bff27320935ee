"""A live source: another thread produces events, the query takes them as they come, and can be stopped.

A queue is a source, and a Pump moves events from a source into a run until it is told to stop; what has not
been moved is still there when it goes on.

::

    thread ──> Queue ──> Pump ──> Filter(E.level > 2) ──> Apply(E.text) ──> out

Prints:
moved 4 events until message 3
moved 4 more until message 7
moved 0 more: the source has ended
"""

from queue import Queue
from threading import Thread
from typing import Any

from millstream.processors import Apply, E, Filter, FromQueue, Pump

alarms = Filter(E.level > 2) | Apply(E.text)


def produce(events: "Queue[dict[str, Any] | None]") -> None:
    """Put events into the queue, and None at the end."""
    for k in range(8):
        events.put({"level": k % 4, "text": f"message {k}"})
    events.put(None)


def main() -> None:
    """Stop after the first alarm, then go on."""
    events: Queue[dict[str, Any] | None] = Queue(maxsize=2)
    seen: list[str] = []
    pump: Pump

    def stop_at(text: str) -> None:
        seen.append(text)
        pump.stop()

    pump = Pump(FromQueue(events), alarms.into(stop_at))
    producer = Thread(target=produce, args=(events,))
    producer.start()
    print("moved", pump(), "events until", seen[-1])
    print("moved", pump(), "more until", seen[-1])
    print("moved", pump(), "more: the source has ended")
    producer.join()


if __name__ == "__main__":
    main()
