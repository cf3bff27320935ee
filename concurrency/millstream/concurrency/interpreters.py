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
from threading import local
from typing import Any

from .failures import Failure, portable
from .threads import Factory

#: what the current subinterpreter serves; every subinterpreter has a module of its own, and with it this list
_serving: list[Callable[[Any], Any]] = []


def are_available() -> bool:
    """Return whether this Python has subinterpreters that a program can use."""
    return sys.version_info >= (3, 14)


def inside(factory: Factory) -> Factory:
    """Return a factory that does the same in the subinterpreter of the thread that calls it."""
    return _Inside(pickle.dumps(factory))


class _Inside:
    def __init__(self, factory: bytes) -> None:
        self.factory = factory

    def __call__(self) -> Callable[[Any], Any]:
        home: _Home | None = getattr(_here, "home", None)
        if home is None:
            home = _here.home = _Home()
        home.failure = pickle.loads(home.interpreter.call(_prepare, self.factory))
        return home


class _Home:
    """The subinterpreter of a thread, as a function that answers requests."""

    def __init__(self) -> None:
        interpreters: Any = import_module("concurrent.interpreters")
        self.interpreter = interpreters.create()
        #: why there is nothing to answer with
        self.failure: Failure | None = None
        self.interpreter.exec(f"import sys; sys.path[:] = {sys.path!r}")

    def __call__(self, request: Any) -> Any:
        if self.failure is not None:
            self.failure.throw()
        reply = pickle.loads(self.interpreter.call(_handle, pickle.dumps(request)))
        return reply.throw() if isinstance(reply, Failure) else reply

    def close(self) -> None:
        """End the subinterpreter; called by its thread, last."""
        self.interpreter.close()


_here = local()


def _prepare(factory: bytes) -> bytes:
    from millstream.concurrency import interpreters as here

    try:
        here._serving[:] = [pickle.loads(factory)()]
    except Exception as error:
        return pickle.dumps(portable(error))
    return pickle.dumps(None)


def _handle(request: bytes) -> bytes:
    from millstream.concurrency import interpreters as here

    try:
        return pickle.dumps(here._serving[0](pickle.loads(request)))
    except BaseException as error:
        return pickle.dumps(portable(error))
