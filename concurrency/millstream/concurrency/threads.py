"""A worker that is a thread: requests in one queue, replies in another.

What threads are made of is a parameter (`Primitives`), so that tests can run them one step at a time, in an
order of their choice.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Any

from attrs import frozen

from .failures import CancelledError, Failure

#: makes, inside the worker, the function that answers requests
Factory = Callable[[], Callable[[Any], Any]]


@frozen
class Primitives:
    """What threads are made of: queues, locks and threads, with the methods of Python's own."""

    queue: Callable[[], Any] = SimpleQueue
    lock: Callable[[], Any] = Lock
    thread: Callable[..., Any] = Thread


REAL = Primitives()


class ThreadWorker:
    """A thread that answers requests, one after the other, until it is stopped.

    Belongs to one borrower at a time, who alone calls its methods.
    """

    def __init__(self, name: str, kind: str = "threads", primitives: Primitives = REAL) -> None:
        self._primitives = primitives
        #: "threads" or "interpreters"
        self.kind = kind
        #: (factory or None, request); the borrower writes, the thread reads
        self._inbox: SimpleQueue[tuple[Factory | None, Any] | None] = primitives.queue()
        #: (worker, reply); the thread writes, the borrower reads; replaced only while no reply is expected
        self.outbox: SimpleQueue[tuple[Any, Any]] = primitives.queue()
        #: what the worker was last told to serve; written by the borrower
        self.serves: Any = None
        #: requests without a reply so far; written by the borrower
        self.pending = 0
        #: whether it is starting or ending a subinterpreter; both write, read when the worker is stopped
        self._moving = False
        #: a number that only grows; requests of an earlier one are skipped; written by the borrower
        self._epoch = 0
        self._thread = primitives.thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def serve(self, factory: Factory, wrap: Callable[[Factory], Factory] | None = None) -> None:
        """From now on answer requests with what this factory makes, wrapped if need be."""
        if self.serves is not factory:
            self._moving = self.kind == "interpreters"
            self._inbox.put((factory if wrap is None else wrap(factory), None))
            self.serves = factory

    def send(self, request: Any) -> None:
        """Take a request; its reply comes out of the outbox."""
        self.pending += 1
        self._inbox.put((None, (self._epoch, request)))

    def receive(self) -> Any:
        """Wait for the next reply; raise it if it is a failure."""
        _, reply = self.outbox.get()
        self.pending -= 1
        return reply.throw() if isinstance(reply, Failure) else reply

    @property
    def has_reply(self) -> bool:
        """Return whether `receive` would not wait."""
        return not self.outbox.empty()

    @property
    def is_alive(self) -> bool:
        """Return whether the worker can take requests."""
        return True

    def cancel(self) -> bool:
        """Give up all requests, and return whether the worker can be used again."""
        self._epoch += 1
        if self.pending:
            self.outbox, self.pending = self._primitives.queue(), 0
        return True

    def stop(self) -> None:
        """Let the worker end when it has finished what it is doing; whoever waits for a reply is told."""
        for _ in range(self.pending):
            self.outbox.put((self, Failure(CancelledError("the worker was stopped before it had answered"))))
        self.cancel()
        self._inbox.put(None)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until a stopped worker has ended, and return whether it has.

        The timeout is for the borrower's work: a subinterpreter that is starting or ending is waited for.
        """
        if self._thread is not current_thread():
            self._thread.join(timeout)
            if self._moving:
                self._thread.join()
        return not self._thread.is_alive()

    def _work(self) -> None:
        function: Callable[[Any], Any] = _unprepared
        while (message := self._inbox.get()) is not None:
            factory, given = message
            if factory is not None:
                function = _made(factory)
                self._moving = False
                continue
            epoch, request = given
            outbox = self.outbox
            if epoch == self._epoch:
                outbox.put((self, _answer(function, request)))
        if hasattr(function, "close"):
            self._moving = self.kind == "interpreters"
            function.close()


def _unprepared(request: Any) -> Any:
    raise RuntimeError("a worker was sent a request before it was told what to serve")


def _made(factory: Factory) -> Callable[[Any], Any]:
    """Return what a factory makes; if it fails, so will every request."""
    try:
        return factory()
    except Exception as error:
        failure = error

        def fail(request: Any) -> Any:
            raise failure

        return fail


def _answer(function: Callable[[Any], Any], request: Any) -> Any:
    try:
        return function(request)
    except BaseException as error:
        return Failure(error)
