"""Figures of others, to stand beside ours."""

from __future__ import annotations

from typing import Final, NamedTuple


class Published(NamedTuple):
    """Throughput in events per second and CPU load."""

    hz: float
    load: float


#: Hallé, Khoury, Gaboury: *Event Stream Processing with Multiple Threads*, Table 1; without SQL injection,
#: which the paper did not try with threads.
#:
#: Its text says that the impact is dramatic "in some cases, such as the Auction property", because of nested
#: quantifiers; in the table that is Candidate selection (4.4 times), and Auction gains least but one (1.07).
#: It also says that the load of every problem has increased; in the table Auction's has fallen.
TABLE_1: Final[dict[str, dict[str, Published]]] = {
    "auction": {"None": Published(28_449.5, 0.601), "Multi-threaded": Published(30_487.8, 0.345)},
    "candidates": {"None": Published(28.8, 0.315), "Multi-threaded": Published(127.9, 0.906)},
    "bashing": {"None": Published(511.8, 0.374), "Multi-threaded": Published(742.5, 0.593)},
    "creation": {"None": Published(742.1, 0.308), "Multi-threaded": Published(782.4, 0.467)},
    "turnaround": {"None": Published(16.6, 0.353), "Multi-threaded": Published(30.9, 0.772)},
}

#: BeepBeep 3 on Java 17, one thread, on a machine like ours: events per second
JAVA: Final = {
    "auction": 1.0e6,
    "injection": 7.0e6,
    "candidates, verdict at the end, 100 voters": 186e3,
    "candidates, verdict at every event, 20 voters": 16e3,
    "bashing, from XML text, 20 characters": 46e3,
    "creation, from XML text, 20 characters": 77e3,
    "turnaround, from XML text, 10 characters": 126.0,
    "CSV average": 2.4e6,
}

#: seconds for about a million events, published by their authors on other machines
CHALLENGE: Final[dict[str, dict[str, str]]] = {
    "access": {"DejaVu": "14.1 s", "MonPoly": "16 h"},
    "file": {"DejaVu": "8.6 s"},
    "fifo": {"DejaVu": "4 min 23 s (10k events)", "MonPoly": "14 min 29 s (10k events)"},
    "locks": {"DejaVu": "7.7-10 s", "MonPoly": "30 s"},
    "cycles": {"DejaVu": "14-48 s", "MonPoly": "24 s"},
    "races": {"DejaVu": "6.7 s"},
}
