"""What an execution takes from the machine: CPU load, CPU time and memory, of all its processes.

The load is the one of Hallé, Khoury and Gaboury, *Event Stream Processing with Multiple Threads*, Section
5.1: with f_i(t) the load of core i, the integral of all f_i over the execution, divided by its length and by
the number of cores. The paper approximates f_i by rectangles of one second; the operating system's counters
of busy time are its integral, so we take their difference. As in the paper it includes all other programs on
the machine; `own` is the same for the processes of the experiment alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import psutil
from attrs import frozen

T = TypeVar("T")
#: counters of time in which a core does nothing
IDLE = ("idle", "iowait")


def busy() -> list[float]:
    """Return the seconds that each core has been busy since the machine started."""
    return [
        sum(getattr(core, name) for name in core._fields if name not in (*IDLE, "guest", "guest_nice"))
        for core in psutil.cpu_times(percpu=True)
    ]


def tree(root: psutil.Process | None = None) -> list[psutil.Process]:
    """Return a process (this one) and all that descend from it; nothing when it is gone.

    All processes of the machine are looked through for it, so it is worth keeping.
    """
    root = root or psutil.Process()
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """Return the CPU time of processes, and of those of their children that have ended."""
    return sum(sum(found) for found in _of_each(processes, lambda process: process.cpu_times()[:4]))


def memory(processes: Iterable[psutil.Process]) -> float:
    """Return the megabytes of memory that processes have."""
    return sum(_of_each(processes, lambda process: process.memory_info().rss)) / 1e6


def _of_each(processes: Iterable[psutil.Process], look: Callable[[psutil.Process], T]) -> Iterator[T]:
    """Yield what is seen of each process that is still there."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            yield look(process)


def peak_memory() -> float:
    """Return the most megabytes that this process itself has had.

    Linux's ``ru_maxrss`` survives exec, so it may be that of whoever started us; ``VmHWM`` does not.
    """
    if sys.platform == "win32":
        return psutil.Process().memory_info().peak_wset / 1e6
    if sys.platform == "linux":
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


@frozen
class Moment:
    """The counters at one moment."""

    clock: float
    busy: float
    own: float

    @classmethod
    def now(cls) -> Moment:
        """Read all counters."""
        return cls(perf_counter(), sum(busy()), cpu_seconds(tree()))


@frozen
class Usage:
    """What was used between two moments, as shares of all cores.

    >>> before = Moment(clock=10.0, busy=100.0, own=4.0)
    >>> Usage.between(before, Moment(clock=12.0, busy=102.0, own=5.0), cores=4)
    Usage(seconds=2.0, cpu=1.0, load=0.25, own=0.125)
    """

    seconds: float
    cpu: float
    load: float
    own: float

    @classmethod
    def between(cls, begin: Moment, end: Moment, cores: int | None = None) -> Usage:
        """Return the usage from one moment to another."""
        seconds, cpu = end.clock - begin.clock, end.own - begin.own
        whole = seconds * (cores or psutil.cpu_count() or 1)
        share = (end.busy - begin.busy) / whole if whole else 0.0
        return cls(seconds, cpu, min(1.0, share), min(1.0, cpu / whole) if whole else 0.0)
