"""ThreadManager: lends a bounded number of workers, and says no at once when there is none.

Whoever is refused does the work itself: a limit of 0 makes everything sequential, and no answer ever has to
be waited for, so that nested requests cannot block each other. Workers live on when they are given back.

Hallé, Khoury and Gaboury, *Event Stream Processing with Multiple Threads*, Section 4.1.
"""

from __future__ import annotations

import os
import pickle
import sys
import weakref
from types import TracebackType
from typing import Any, Self

from attrs import frozen

from millstream.processors.errors import ParameterError

from . import interpreters
from .child import MARK
from .permits import Permits
from .processes import ProcessWorker
from .threads import REAL, Factory, Primitives, ThreadWorker

Worker = ThreadWorker | ProcessWorker
KINDS = ("threads", "processes", "interpreters", "auto")
#: seconds of work for an event below which no kind of worker pays
CHEAP = 1e-6
_managers: weakref.WeakSet[ThreadManager] = weakref.WeakSet()


@frozen
class ManagerStatistics:
    """What a manager has done so far, and what it is doing."""

    limit: int
    running: int
    idle: int
    granted: int
    refused: int
    started: int
    stopped: int


def cores() -> int:
    """Return how many processors this program may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gil_is_enabled() -> bool:
    """Return whether only one thread runs Python code at a time, now; some imports switch that on."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


class ThreadManager:
    """A bounded pool of workers.

    Parameters
    ----------
    limit
        How many workers may run at one time; 0 makes everything sequential. May be changed at any time.
    workers
        ``"threads"``, ``"processes"``, ``"interpreters"`` (Python 3.14 and later), or ``"auto"``: whoever
        asks first measures what an event takes; cheap events get no worker, others a thread where threads
        run at the same time, else a process if the task can be pickled, else nothing.

    Examples
    --------
    >>> with ThreadManager(1) as manager:
    ...     worker = manager.request(lambda: len)
    ...     print(manager.request(lambda: len))
    ...     worker.send("abc")
    ...     print(worker.receive())
    ...     manager.dispose(worker)
    ...     print(manager.statistics().idle)
    None
    3
    1
    """

    def __init__(self, limit: int, workers: str = "threads", *, primitives: Primitives = REAL) -> None:
        if workers not in KINDS:
            raise ParameterError(f"ThreadManager: workers must be one of {', '.join(KINDS)}, got {workers!r}")
        if workers == "interpreters" and not interpreters.are_available():
            version = ".".join(map(str, sys.version_info[:2]))
            raise ParameterError(
                f"ThreadManager: workers='interpreters' needs Python 3.14 or later, this is {version}"
            )
        self.workers = workers
        #: what threads are made of; others than Python's own are for tests
        self.primitives = primitives
        #: guards everything below; held for a few instructions only, never while a worker starts or stops
        self._lock = primitives.lock()
        self._permits = Permits(limit)
        self._idle: list[Worker] = []
        #: all workers that have not ended, so that they can be stopped when the manager is collected
        self._alive: set[Worker] = set()
        self._granted = self._refused = self._started = self._stopped = 0
        self._closed = MARK in os.environ
        self._finalizer = weakref.finalize(self, _stop_all, self._alive)
        _managers.add(self)

    @property
    def limit(self) -> int:
        """How many workers may run at one time."""
        return self._permits.limit

    @limit.setter
    def limit(self, limit: int) -> None:
        with self._lock:
            excess = self._permits.change(limit)
            leaving, self._idle = self._idle[:excess], self._idle[excess:]
        self._stop(leaving)

    def request(self, factory: Factory, cost: float | None = None) -> Worker | None:
        """Return a worker that serves what the factory makes, or None; give it back with `dispose`.

        Parameters
        ----------
        factory
            Called in the worker (pickled, for processes), it returns the function that answers requests.
        cost
            Seconds that an event takes, if known: with ``"auto"`` workers, cheap ones are refused.
        """
        permits = self._permits
        if permits.lent >= permits.limit or self._closed:
            with self._lock:
                self._refused += 1
            return None
        kind = self.workers if self.workers != "auto" else _fitting(factory, cost)
        with self._lock:
            answer = self._permits.request() if kind is not None else None
            if answer is None or kind is None:
                self._refused += 1
                return None
            self._granted += 1
            worker, unfit = self._reused(kind, factory) if answer == "reuse" else (None, [])
        try:
            self._stop(unfit)
            worker = worker or self._start(kind)
            if isinstance(worker, ThreadWorker):
                worker.outbox = self.primitives.queue()
            worker.serve(factory, interpreters.inside if kind == "interpreters" else None)
        except BaseException:
            self._lose(worker)
            raise
        return worker

    def _reused(self, kind: str, factory: Factory) -> tuple[Worker | None, list[Worker]]:
        """Return an idle worker, one that serves the same if possible; or one that has to make room."""
        fitting = [w for w in self._idle if w.kind == kind and w.is_alive]
        worker = next((w for w in fitting if w.serves is factory), fitting[-1] if fitting else None)
        if worker is None:
            return None, [self._idle.pop(0)]
        self._idle.remove(worker)
        return worker, []

    def _start(self, kind: str) -> Worker:
        self._started += 1
        name = f"worker {self._started} ({kind})"
        worker = ProcessWorker(name) if kind == "processes" else ThreadWorker(name, kind, self.primitives)
        with self._lock:
            self._alive.add(worker)
        return worker

    def dispose(self, worker: Worker) -> None:
        """Take a worker back; requests that it has not answered are given up."""
        if not worker.cancel():
            self._lose(worker)
            return
        with self._lock:
            kept = self._permits.give_back() == "keep" and not self._closed
            if kept:
                self._idle.append(worker)
        if not kept:
            self._stop([worker])

    def _lose(self, worker: Worker | None) -> None:
        with self._lock:
            self._permits.lose()
        if worker is not None:
            self._stop([worker])

    def _stop(self, workers: list[Worker]) -> None:
        if not workers:
            return
        _stop_all(workers)
        with self._lock:
            self._alive.difference_update(workers)
            self._stopped += len(workers)

    def statistics(self) -> ManagerStatistics:
        """Return what the manager has done so far, and what it is doing."""
        permits = self._permits
        return ManagerStatistics(
            limit=permits.limit,
            running=permits.lent,
            idle=len(self._idle),
            granted=self._granted,
            refused=self._refused,
            started=self._started,
            stopped=self._stopped,
        )

    def close(self) -> None:
        """Stop all workers and refuse all further requests; work that is under way is given up."""
        with self._lock:
            self._closed = True
            workers, self._idle = list(self._alive), []
        self._stop(workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ThreadManager({self.limit}, {self.workers!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _same_or_new, (os.getpid(), id(self), self.limit, self.workers)

    def _forget(self) -> None:
        """Begin anew in a fork: the workers belong to the process that started them."""
        self._finalizer.detach()
        for worker in self._alive:
            if isinstance(worker, ProcessWorker):
                worker.forget()
        self._lock = self.primitives.lock()
        self._permits, self._idle, self._alive = Permits(self._permits.limit), [], set()
        self._finalizer = weakref.finalize(self, _stop_all, self._alive)


def _same_or_new(process: int, identity: int, limit: int, workers: str) -> ThreadManager:
    """Return an unpickled manager: itself where it lives, elsewhere one with the same parameters."""
    here = (m for m in list(_managers) if id(m) == identity and process == os.getpid())
    return next(here, None) or ThreadManager(limit, workers)


def _fitting(factory: Factory, cost: float | None) -> str | None:
    """Return the kind of worker that pays for a task, as far as its cost and its kind can tell."""
    if cost is not None and cost < CHEAP:
        return None
    if not gil_is_enabled():
        return "threads"
    try:
        pickle.dumps(factory)
    except Exception:
        return None
    return "processes"


def _stop_all(workers: Any) -> None:
    workers = list(workers)
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(5)


def _after_fork() -> None:
    for manager in list(_managers):
        manager._forget()


os.register_at_fork(after_in_child=_after_fork)
