"""Intrusion detection: composite conditions over several streams of noisy events.

Three patterns, each with its window, one of them made of another; the absence of an event counts as well as
its presence. Every source address has its own detector state. Equal parts of patterns are computed once.

::

    in ──> Slice(E.source, Detector(scan, break-in, silent)) ──> out

    scan      three refused connections within 30 s
    break-in  a scan, then a login within 60 s
    silent    a login, and no logout within 300 s

Prints:
10.0.0.7 scan at 15 (events at 0, 9, 15)
10.0.0.7 break-in at 40 (events at 0, 9, 15, 40)
10.0.0.7 silent at 340 (events at 40)
"""

from typing import Any

from millstream.palettes.cep import Detector, before, lacking, repeated
from millstream.palettes.slicer import Slice
from millstream.processors import E

LOG = [
    (0, "10.0.0.7", "refused"), (4, "10.0.0.9", "login"), (9, "10.0.0.7", "refused"),
    (15, "10.0.0.7", "refused"), (40, "10.0.0.7", "login"), (60, "10.0.0.8", "refused"),
    (70, "10.0.0.8", "refused"), (80, "10.0.0.9", "logout"), (130, "10.0.0.8", "refused"),
    (400, "10.0.0.8", "login"), (405, "10.0.0.7", "ping"), (410, "10.0.0.8", "logout"),
]  # fmt: skip
EVENTS: list[dict[str, Any]] = [{"at": t, "source": source, "what": what} for t, source, what in LOG]

detector = Detector(
    {
        "scan": repeated(3, "refused").within(30),
        "break-in": before("scan", "login").within(60),
        "silent": lacking("login", "logout", 300),
    },
    time=E["at"],
    kind=E.what,
)
alarms = Slice(E.source, detector)


def leaves(found: Any) -> list[Any]:
    """Return the plain events that a composite consists of."""
    if isinstance(found, dict):
        return [found]
    return [leaf for part in found.constituents for leaf in leaves(part)]


def main() -> None:
    """Print each alarm with the times of the events it is made of."""
    for source, found in alarms(EVENTS):
        times = ", ".join(str(event["at"]) for event in leaves(found))
        print(f"{source} {found.kind} at {found.time} (events at {times})")


if __name__ == "__main__":
    main()
