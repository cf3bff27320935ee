"""The program of a worker process: reads requests from a socket, writes replies to it, ends with it.

Frames are a length (eight bytes) and a pickle. When the other end of the socket is closed, for whatever
reason, the program ends, so that no process outlives its owner.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .failures import portable

LENGTH = struct.Struct("!Q")
#: set in the environment of a worker: managers in there lend nothing
MARK = "MILLSTREAM_WORKER"
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from millstream.concurrency.child import main; main(int(sys.argv[1]), sys.argv[3])"
)


def frame(message: Any) -> bytes:
    """Return a message as it is sent."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def main(descriptor: int, script: str) -> None:
    """Serve until the socket is closed or a None arrives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ[MARK] = "1"
    with (
        suppress(ConnectionError),
        socket.socket(fileno=descriptor) as connection,
        connection.makefile("rb") as incoming,
    ):
        _serve(connection, incoming, script)


def _serve(connection: socket.socket, incoming: Any, script: str) -> None:
    function: Callable[[Any], Any] | None = None
    broken: BaseException | None = RuntimeError("a request came before anything was to be served")
    while (body := _read(incoming)) is not None:
        try:
            if b"__main__" in body:
                _import_main(script)
            kind, content = pickle.loads(body)
        except BaseException as unreadable:
            kind, content = "unreadable", unreadable
        if kind == "stop":
            return
        if kind == "serve":
            function, broken = _made(content)
        else:
            connection.sendall(_reply(function, content, content if kind == "unreadable" else broken))


def _made(factory: Any) -> tuple[Any, BaseException | None]:
    try:
        return pickle.loads(factory)(), None
    except BaseException as error:
        return None, error


def _reply(function: Any, content: Any, broken: BaseException | None) -> bytes:
    if broken is not None:
        return frame(portable(broken))
    try:
        return frame(function(content))
    except BaseException as error:
        return frame(portable(error))


def _read(incoming: Any) -> bytes | None:
    head = incoming.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    size = LENGTH.unpack(head)[0]
    body: bytes = incoming.read(size)
    return body if len(body) == size else None


def _import_main(script: str) -> None:
    """Make what the owner's script defines known here as `__main__`, as `multiprocessing` does."""
    if script and getattr(sys.modules["__main__"], "__file__", None) != script:
        import runpy
        import types

        module = types.ModuleType("__mp_main__")
        module.__dict__.update(runpy.run_path(script, run_name="__mp_main__"))
        module.__file__ = script
        sys.modules["__main__"] = sys.modules["__mp_main__"] = module
