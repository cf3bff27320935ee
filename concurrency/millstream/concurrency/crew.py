"""Several workers that serve the same thing, and one place where their replies come in."""

from __future__ import annotations

from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from .failures import Failure
from .manager import ThreadManager, Worker
from .processes import ProcessWorker, wait_for_any
from .threads import REAL, Factory


class Crew:
    """As many workers as a manager lends, up to a number; none at all is possible, and up to the caller.

    The replies of each worker come in the order of its requests; those of different workers in any order.

    >>> with ThreadManager(2) as manager, Crew(manager, lambda: len, 3) as crew:
    ...     for member in range(crew.size):
    ...         crew.send(member, "ab" * member)
    ...     print(sorted(crew.receive() for _ in range(crew.size)))
    [(0, 0), (1, 2)]
    """

    def __init__(
        self, manager: ThreadManager | None, factory: Factory, most: int, cost: float | None = None
    ) -> None:
        self._manager = manager
        self._workers: list[Worker] = []
        self._outbox: SimpleQueue[tuple[Any, Any]] = (manager.primitives if manager else REAL).queue()
        while manager is not None and len(self._workers) < most:
            worker = manager.request(factory, cost)
            if worker is None:
                break
            self._workers.append(worker)
            if not isinstance(worker, ProcessWorker):
                worker.outbox = self._outbox
        self._members = {worker: k for k, worker in enumerate(self._workers)}
        self._processes = [w for w in self._workers if isinstance(w, ProcessWorker)]

    @property
    def size(self) -> int:
        """Return the number of workers."""
        return len(self._workers)

    def send(self, member: int, request: Any) -> None:
        """Give a request to a worker, by its number."""
        self._workers[member].send(request)

    def pending(self, member: int) -> int:
        """Return how many requests a worker has not answered."""
        return self._workers[member].pending

    @property
    def is_busy(self) -> bool:
        """Return whether a reply is expected."""
        return any(w.pending for w in self._workers)

    def receive(self) -> tuple[int, Any]:
        """Wait for a reply, and return it with the number of the worker; raise it if it is a failure."""
        member, reply = self.receive_any()
        return member, (reply.throw() if isinstance(reply, Failure) else reply)

    def receive_any(self) -> tuple[int, Any]:
        """Wait for a reply, and return it with the number of the worker; a failure is returned as such."""
        worker, reply = self._next_of_processes() if self._processes else self._outbox.get()
        worker.pending -= 1
        return self._members[worker], reply

    def _next_of_processes(self) -> tuple[ProcessWorker, Any]:
        while True:
            for worker in self._processes:
                if worker.replies:
                    return worker, worker.replies.popleft()
            wait_for_any([w for w in self._processes if w.pending])

    def close(self) -> None:
        """Give the workers back; what they have not answered is given up."""
        workers, self._workers = self._workers, []
        for worker in workers:
            assert self._manager is not None
            self._manager.dispose(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()
