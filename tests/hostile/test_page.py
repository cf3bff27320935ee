"""What is sent to the lab's page: hosts, other sites' posts, paths that lead outside, bodies of any size."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterator
from threading import Thread

import pytest
import uvicorn

from millstream.lab import Laboratory
from millstream.lab.guard import LARGEST
from millstream.lab.server import Page, configuration

from .throwing import FEW, MEMORY, Target, inputs, peak, throw

MANY = 20_000
LOCAL = b"Host: localhost\r\n"
PATHS = (b"/", b"/state?run=1", b"/static/lab.css", b"/static/..%2fserver.py", b"/runs/1/plots/soak/0.svg",
         b"/static/%2e%2e%2f%2e%2e%2fpyproject.toml", b"/runs/99999999999999999999/export.zip")  # fmt: skip


def post(path: bytes, body: bytes, headers: bytes = LOCAL) -> bytes:
    length = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    return b"POST " + path + b" HTTP/1.1\r\n" + headers + length + body


GOOD = [
    *(b"GET " + path + b" HTTP/1.1\r\n" + LOCAL + b"\r\n" for path in PATHS),
    b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    post(b"/stop", b"{}"),
    post(b"/stop", b"{}", LOCAL + b"Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n"),
    post(b"/start", b'{"experiments": ["no such", "../soak"], "quick": true}'),
    post(b"/resume", b'{"run": 7}'),
    post(b"/start", b"[" * 30_000),
    post(b"/start", b" " * (LARGEST + 1)),
    b"POST /start HTTP/1.1\r\n" + LOCAL + b"Content-Type: application/json\r\n"
    b"Content-Length: 1000000000000\r\n\r\n{",
]  # fmt: skip


class Refused(ValueError):
    """An answer that says no, or none at all to what is not a request."""


class Troubles(logging.Handler):
    """Keeps what the server says went wrong in it."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record))


#: what is sent behind everything, so that the server knows that no more will come
LAST = (
    b"\r\n\r\nGET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"x" * 300 + b"\r\n\r\n"
)
#: how long to wait for an answer to a body that is longer than all that was sent
WAIT = 0.1


def ask(port: int, data: bytes) -> bytes:
    """Send bytes, say that no more will come, and return all that is answered."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as connection:
        try:
            connection.sendall(data + LAST)
            while got := connection.recv(65536):
                answer += got
        except (ConnectionError, TimeoutError):  # refused before all was sent, or more is expected
            pass
    return answer


@pytest.fixture(scope="module")
def target(tmp_path_factory) -> Iterator[Target]:
    """The page of a laboratory, served as `millstream lab serve` does."""
    lab = Laboratory(tmp_path_factory.mktemp("lab"))
    page, troubles = Page(lab), Troubles()
    config = configuration(page, "127.0.0.1", 0, ())
    logging.getLogger("uvicorn.error").addHandler(troubles)
    listening, server = config.bind_socket(), uvicorn.Server(config)
    listening.listen()
    port = listening.getsockname()[1]
    thread = Thread(target=server.run, args=([listening],))
    thread.start()

    def call(data: bytes) -> None:
        answer = ask(port, data)
        assert not troubles.said, troubles.said[0][-600:]
        assert not lab.store.runs(), "a run was begun"
        assert b"root:" not in answer
        assert b"[build-system]" not in answer
        statuses = [int(s) for s in re.findall(rb"^HTTP/1\.1 (\d+)", answer, re.M)]
        assert all(200 <= s < 500 for s in statuses), answer[:200]
        if not statuses or statuses[0] >= 400:
            raise Refused(f"refused with {statuses}")

    yield Target("page", call, GOOD, (Refused,), MANY)
    server.should_exit = True
    thread.join()
    logging.getLogger("uvicorn.error").removeHandler(troubles)
    listening.close()
    page.close()
    lab.close()


def test_hostile_requests_are_refused(target):
    for good in target.good:
        throw(target, iter([good]))
    taken, refused = throw(target, inputs(target, FEW, seed=11))
    assert taken
    assert refused


@pytest.mark.slow
def test_hostile_requests_in_great_number(target):
    before = peak()
    throw(target, inputs(target, target.many, seed=12))
    assert peak() - before < MEMORY
