"""The manager: who gets a worker, and what becomes of workers, requests and failures."""

import os
import signal
import subprocess
import sys
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from millstream.concurrency import Crew, ThreadManager, WorkerDiedError
from millstream.concurrency.failures import CancelledError, RemoteError, RemoteTraceback, portable
from millstream.concurrency.interpreters import inside
from millstream.concurrency.permits import Permits
from millstream.concurrency.threads import ThreadWorker
from millstream.processors import ParameterError

from .servants import echo, failing, killing, length

KINDS = ["threads", "processes"] + (["interpreters"] if sys.version_info >= (3, 14) else [])


class PermitsMachine(RuleBasedStateMachine):
    """Any sequence of requests, returns and changes of the limit."""

    def __init__(self):
        super().__init__()
        self.permits, self.lent, self.idle, self.limit, self.highest = Permits(2), 0, 0, 2, 2

    @rule()
    def request(self):
        answer = self.permits.request()
        assert (answer is None) == (self.lent >= self.limit)
        if answer is not None:
            assert answer == ("reuse" if self.idle else "start")
            self.lent += 1
            self.idle -= answer == "reuse"

    @precondition(lambda self: self.lent)
    @rule()
    def give_back(self):
        self.lent -= 1
        if self.permits.give_back() == "keep":
            self.idle += 1

    @precondition(lambda self: self.lent)
    @rule()
    def lose(self):
        self.permits.lose()
        self.lent -= 1

    @rule(limit=st.integers(0, 4))
    def change(self, limit):
        self.idle -= self.permits.change(limit)
        self.limit, self.highest = limit, max(limit, self.highest)

    @invariant()
    def counts_agree(self):
        assert (self.permits.lent, self.permits.idle) == (self.lent, self.idle)
        assert self.idle >= 0
        assert self.idle == 0 or self.lent + self.idle <= self.limit


TestPermits = PermitsMachine.TestCase


@pytest.mark.parametrize("limit", [-1, True, "2", None])
def test_manager_refuses_a_limit(limit):
    with pytest.raises(ParameterError, match="ThreadManager: limit must be an integer of at least 0, got"):
        ThreadManager(limit)


def test_manager_refuses_an_unknown_kind():
    with pytest.raises(ParameterError, match="workers must be one of threads, processes, interpreters, auto"):
        ThreadManager(1, "fibres")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python has subinterpreters")
def test_manager_refuses_interpreters_where_there_are_none():
    with pytest.raises(ParameterError, match=r"workers='interpreters' needs Python 3\.14 or later, this is"):
        ThreadManager(1, "interpreters")


def test_limit_zero_refuses_everything_and_starts_nothing():
    with ThreadManager(0) as manager:
        assert [manager.request(length) for _ in range(3)] == [None, None, None]
        assert (manager.statistics().refused, manager.statistics().started) == (3, 0)


def test_limit_changes_while_workers_are_lent():
    with ThreadManager(1) as manager:
        first = manager.request(length)
        assert manager.request(length) is None
        manager.limit = 2
        second = manager.request(length)
        assert second is not None
        manager.limit = 1
        manager.dispose(first)
        assert manager.request(length) is None
        manager.dispose(second)
        third = manager.request(length)
        assert third is second
        manager.dispose(third)
        manager.limit = 0
        stats = manager.statistics()
        assert (stats.running, stats.idle, stats.started, stats.stopped) == (0, 0, 2, 2)


def test_worker_is_kept_and_reused():
    with ThreadManager(2) as manager:
        worker = manager.request(length)
        manager.dispose(worker)
        assert manager.request(length) is worker
        assert manager.statistics().started == 1


def test_two_managers_have_their_own_workers():
    with ThreadManager(1) as one, ThreadManager(1) as other:
        assert one.request(length) is not None
        assert other.request(length) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_crew_answers_in_order(kind):
    with ThreadManager(2, kind) as manager, Crew(manager, length, 2) as crew:
        for k in range(20):
            crew.send(k % 2, "x" * k)
        replies = [crew.receive() for _ in range(20)]
    for member in range(2):
        assert [r for k, r in replies if k == member] == list(range(member, 20, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_failure_is_raised_with_its_traceback(kind):
    with ThreadManager(1, kind) as manager, Crew(manager, failing, 1) as crew:
        crew.send(0, "7")
        crew.send(0, "seven")
        crew.send(0, "8")
        assert crew.receive() == (0, 7)
        with pytest.raises(ValueError, match="invalid literal for int") as failed:
            crew.receive()
        assert crew.receive() == (0, 8)
    if kind != "threads":
        assert isinstance(failed.value.__cause__, RemoteTraceback)
        assert "Traceback (most recent call last)" in str(failed.value.__cause__)


def test_failure_that_does_not_pickle_says_the_same():
    class Local(Exception):
        pass

    failure = portable(Local("far away"))
    assert isinstance(failure.error, RemoteError)
    assert str(failure.error) == "Local: far away"


def test_killed_process_is_an_error_after_earlier_replies():
    with ThreadManager(2, "processes") as manager:
        with Crew(manager, killing, 1) as crew:
            crew.send(0, 0 if sys.platform == "win32" else signal.SIGCHLD)
            crew.send(0, signal.SIGKILL)
            crew.send(0, signal.SIGCHLD)
            assert crew.receive() == (0, None)
            for _ in range(2):
                with pytest.raises(WorkerDiedError, match=r"worker 1 \(processes\) was killed by signal 9"):
                    crew.receive()
        with Crew(manager, length, 1) as crew:
            crew.send(0, "ab")
            assert crew.receive() == (0, 2)
        assert manager.statistics().started == 2


def test_large_messages_both_ways_do_not_block():
    text = "x" * 3_000_000
    with ThreadManager(1, "processes") as manager, Crew(manager, echo, 1) as crew:
        for _ in range(4):
            crew.send(0, text)
        assert [crew.receive()[1] == text for _ in range(4)] == [True] * 4


def test_disposing_of_a_thread_gives_its_requests_up():
    started, proceed, seen = Event(), Event(), []

    def slow():
        def answer(request):
            seen.append(request)
            started.set()
            proceed.wait()

        return answer

    with ThreadManager(1) as manager:
        worker = manager.request(slow)
        worker.send(1)
        worker.send(2)
        started.wait()
        manager.dispose(worker)
        again = manager.request(length)
        assert again is worker
        again.send("abc")
        proceed.set()
        assert again.outbox.get()[1] == 3
        manager.dispose(again)
    assert seen == [1]


def test_closing_tells_whoever_waits():
    started, proceed = Event(), Event()

    def slow():
        return lambda request: started.set() or proceed.wait()

    manager = ThreadManager(1)
    crew = Crew(manager, slow, 1)
    crew.send(0, None)
    started.wait()
    proceed.set()
    manager.close()
    with pytest.raises(CancelledError):
        [crew.receive() for _ in range(2)]
    assert manager.request(length) is None


@pytest.mark.parametrize("kind", KINDS)
def test_leaving_with_an_exception_stops_the_workers(kind):
    manager = ThreadManager(2, kind)
    with pytest.raises(ZeroDivisionError):
        leave_with_an_exception(manager)
    assert manager.statistics().stopped == 2


@pytest.mark.skipif(sys.version_info < (3, 14), reason="this Python has no subinterpreters")
def test_worker_that_is_stopped_while_its_interpreter_starts_is_waited_for():
    worker = ThreadWorker("worker", "interpreters")
    worker.serve(length, inside)
    worker.stop()
    assert worker.join(0)


def leave_with_an_exception(manager):
    with manager:
        crew = Crew(manager, length, 2)
        crew.send(0, "abc")
        raise ZeroDivisionError


def test_forgotten_manager_stops_its_workers():
    manager = ThreadManager(1, "processes")
    manager.request(length)
    del manager


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_manager_can_be_used_after_a_fork():
    script = """
import os, warnings
from functools import partial
from pkgutil import resolve_name
from millstream.concurrency import Crew, ThreadManager
warnings.simplefilter("ignore")
length = partial(resolve_name, "builtins:len")

def use():
    with Crew(manager, length, 1) as crew:
        crew.send(0, "ab")
        return crew.receive()

for kind in ("threads", "processes"):
    with ThreadManager(1, kind) as manager:
        print(use(), flush=True)
        pid = os.fork()
        if not pid:
            print("child", use(), flush=True)
            manager.close()
            os._exit(0)
        os.waitpid(pid, 0)
        print(use(), flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.split("\n") == ["(0, 2)", "child (0, 2)", "(0, 2)"] * 2 + [""], done.stderr


def test_interrupted_program_leaves_no_process():
    script = """
import signal
from functools import partial
from pkgutil import resolve_name
from millstream.concurrency import Crew, ThreadManager
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have ignored it
with ThreadManager(1, "processes") as manager:
    crew = Crew(manager, partial(resolve_name, "time:sleep"), 1)
    crew.send(0, 0)
    crew.receive()
    crew.send(0, 1000)
    print(manager._alive.copy().pop()._process.pid, flush=True)
    crew.receive()
"""
    program = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    worker = int(program.stdout.readline())
    try:
        program.send_signal(signal.SIGINT)
        program.wait(60)
    finally:
        program.kill()
        program.stdout.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@given(limits=st.lists(st.integers(0, 3), max_size=6))
def test_any_changes_of_the_limit_leave_nothing_behind(limits):
    with ThreadManager(1) as manager:
        lent = []
        for limit in limits:
            manager.limit = limit
            lent += [w for w in (manager.request(length) for _ in range(2)) if w is not None]
            if lent:
                manager.dispose(lent.pop())
        for worker in lent:
            manager.dispose(worker)
        stats = manager.statistics()
        assert stats.running == 0
        assert stats.started - stats.stopped == stats.idle <= manager.limit
