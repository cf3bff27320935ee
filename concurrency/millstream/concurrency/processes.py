"""A worker that is a process: a program of its own at the other end of a socket.

No fork, so that threads of the owner do no harm and no descriptors are inherited; no import of the owner's
script, unless something in it has to be unpickled. A reply is read whenever a request cannot be written, so
that large messages both ways do not block each other. A process that dies is noticed: its socket is closed.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from millstream.processors.errors import QueryError, shorten

from .child import BOOT, LENGTH, MARK, frame
from .failures import Failure, WorkerDiedError
from .threads import Factory


class ProcessWorker:
    """A process that answers requests; belongs to one borrower at a time, who alone calls its methods."""

    kind = "processes"

    def __init__(self, name: str) -> None:
        self.serves: Any = None
        self.pending = 0
        #: replies that have arrived and were not asked for yet
        self.replies: deque[Any] = deque()
        self._name = name
        self._buffer = bytearray()
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = _start(theirs.fileno())
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """Return what to wait for when a reply is expected."""
        return self._socket.fileno()

    @property
    def is_alive(self) -> bool:
        """Return whether the worker can take requests."""
        return self._process.poll() is None

    def serve(self, factory: Factory, wrap: object = None) -> None:
        """From now on answer requests with what this factory makes."""
        if self.serves is not factory:
            self._write(frame(("serve", _pickled(factory))))
            self.serves = factory

    def send(self, request: Any) -> None:
        """Take a request; its reply is put with the others, see `read`."""
        data = _pickled(("do", request))
        data = LENGTH.pack(len(data)) + data
        self.pending += 1
        self._write(data)

    def _write(self, data: bytes) -> None:
        """Write all of it, reading whatever comes meanwhile; a closed socket is noticed when reading."""
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                self.read() if self._wait() else None
            except OSError:
                return

    def _wait(self) -> bool:
        readable, _, _ = select.select([self._socket], [self._socket], [])
        return bool(readable)

    def read(self) -> None:
        """Take what has arrived; the end of the process fails all that is pending."""
        try:
            data = self._socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._buffer += data
            self._split()
        else:
            self._fail()

    def receive(self) -> Any:
        """Wait for the next reply; raise it if it is a failure."""
        while not self.replies:
            select.select([self._socket], [], [])
            self.read()
        self.pending -= 1
        reply = self.replies.popleft()
        return reply.throw() if isinstance(reply, Failure) else reply

    @property
    def has_reply(self) -> bool:
        """Return whether `receive` would not wait."""
        if not self.replies and select.select([self._socket], [], [], 0)[0]:
            self.read()
        return bool(self.replies)

    def _split(self) -> None:
        buffer = self._buffer
        while len(buffer) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(buffer)[0]
            if len(buffer) < end:
                return
            self.replies.append(_unpickled(bytes(buffer[LENGTH.size : end])))
            del buffer[:end]

    def _fail(self) -> None:
        code = self._process.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        missing = self.pending - len(self.replies)
        self.replies += [Failure(WorkerDiedError(f"{self._name} {how} before it had answered"))] * missing

    def cancel(self) -> bool:
        """Give up all requests, and return whether the worker can be used again."""
        if not self.pending and self.is_alive:
            return True
        self.replies.clear()
        self.pending = 0
        self._process.kill()
        return False

    def stop(self) -> None:
        """Let the process end: at once if it has work to do, which is then given up."""
        if self.cancel():
            self._write(frame(("stop", None)))
        self._socket.close()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until a stopped process has ended; one that takes too long is killed."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        return True

    def forget(self) -> None:
        """Leave the process to the one that started it: called in a fork."""
        self._socket.close()
        self._process.returncode = 0


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise QueryError(
            f"{shorten(value, 80)} cannot be sent to a process: {error}; define functions and classes "
            "at the top of a module, or use workers='threads'"
        ) from error


def _unpickled(body: bytes) -> Any:
    try:
        return pickle.loads(body)
    except Exception as error:
        return Failure(error)


def _start(descriptor: int) -> subprocess.Popen[bytes]:
    script = getattr(sys.modules["__main__"], "__file__", None) or ""
    path = json.dumps([os.path.abspath(p) for p in sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", BOOT, str(descriptor), path, os.path.abspath(script) if script else ""],
        pass_fds=[descriptor],
        env={**os.environ, MARK: "1"},
        stdin=subprocess.DEVNULL,
    )


def wait_for_any(workers: Sequence[ProcessWorker]) -> None:
    """Block until one of the workers has something to say, and take it."""
    poll = select.poll()
    by_descriptor = {w.fileno(): w for w in workers}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    for descriptor, _ in poll.poll():
        by_descriptor[descriptor].read()
