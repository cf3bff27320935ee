"""Work done in a subinterpreter (Python 3.14 and later), by the thread that asks for it.

A subinterpreter has a lock of its own, so that threads in different ones run at the same time. Nothing is
shared: what goes in and out is pickled, as for a process, but no process has to be started. Some extension
modules (NumPy among them) cannot be imported there.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .failures import Failure, portable
from .threads import Factory

#: what the current subinterpreter serves; every subinterpreter has a module of its own, and with it this list
_serving: list[Callable[[Any], Any]] = []


def are_available() -> bool:
    """Return whether this Python has subinterpreters that a program can use."""
    return sys.version_info >= (3, 14)


def inside(factory: Factory) -> Factory:
    """Return a factory that does the same in a subinterpreter of its own; used once for each worker."""
    return _Inside(pickle.dumps(factory))


class _Inside:
    def __init__(self, factory: bytes) -> None:
        self.factory = factory

    def __call__(self) -> Callable[[Any], Any]:
        interpreters: Any = import_module("concurrent.interpreters")
        interpreter = interpreters.create()
        server = _Server(interpreter)
        interpreter.exec(f"import sys; sys.path[:] = {sys.path!r}")
        interpreter.call(_prepare, self.factory)
        return server


class _Server:
    """Sends requests into a subinterpreter; it is closed with the last reference to this object."""

    def __init__(self, interpreter: Any) -> None:
        self.interpreter = interpreter

    def __call__(self, request: Any) -> Any:
        reply = pickle.loads(self.interpreter.call(_handle, pickle.dumps(request)))
        return reply.throw() if isinstance(reply, Failure) else reply

    def __del__(self) -> None:
        self.interpreter.close()


def _prepare(factory: bytes) -> None:
    from millstream.concurrency import interpreters as here

    here._serving[:] = [pickle.loads(factory)()]


def _handle(request: bytes) -> bytes:
    from millstream.concurrency import interpreters as here

    try:
        return pickle.dumps(here._serving[0](pickle.loads(request)))
    except BaseException as error:
        return pickle.dumps(portable(error))
