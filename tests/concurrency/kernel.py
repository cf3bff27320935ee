"""A deterministic kernel: threads that run one at a time, in the order that a list of integers says.

Every operation on a queue, lock or thread is a place where another thread may go on. The next integer of the
schedule says which of those that can go on does (modulo their number); when the list is used up they take
turns. If none can go on, that is a deadlock, and said. So a failing schedule is a list that hypothesis can
shrink, and that fails again tomorrow.
"""

import threading
from collections import deque

from millstream.concurrency.threads import Primitives


class Deadlock(AssertionError):
    pass


class Task:
    """A thread of the kernel; `baton` lets it go on, `ready` tells whether it could."""

    def __init__(self, name):
        self.name, self.done, self.ready = name, False, lambda: True
        self.baton = threading.Semaphore(0)


class Kernel:
    """Runs a function, and the threads that it starts, by a schedule."""

    def __init__(self, schedule):
        self._schedule, self._turn = deque(schedule), 0
        self.main = self.current = Task("main")
        self.tasks, self.threads = [self.main], []
        self.dead = False
        self.home = threading.current_thread()
        self.primitives = Primitives(
            lambda: Queue(self), lambda: KernelLock(self), lambda **options: KernelThread(self, **options)
        )

    def run(self, function):
        """Return what a function returns; all threads that it has started must have ended by then."""
        try:
            result = function()
            left = [task.name for task in self.tasks[1:] if not task.done]
            assert not left, f"threads left behind: {left}"
            return result
        finally:
            self.dead = True
            for task in self.tasks[1:]:
                task.baton.release()
            for thread in self.threads:
                thread.join()

    def pause(self, ready=lambda: True):
        """Let another thread go on; come back when `ready` holds and it is this one's turn."""
        task = self.current
        if not self.dead:
            task.ready = ready
            self._pass_on(task)
        if self.dead:
            raise Deadlock(self._stuck()) if threading.current_thread() is self.home else SystemExit

    def _pass_on(self, task):
        able = [t for t in self.tasks if not t.done and t.ready()]
        if not able:
            self.dead, able = True, [self.main]
        self._turn += 1
        number = self._schedule.popleft() if self._schedule else self._turn
        self.current = able[number % len(able)]
        if self.current is not task:
            self.current.baton.release()
            if not task.done and not task.baton.acquire(timeout=60):
                self.dead = True

    def _stuck(self):
        return f"no thread can go on: {[t.name for t in self.tasks if not t.done]}"


class Queue:
    def __init__(self, kernel):
        self._kernel, self._items = kernel, deque()

    def put(self, item):
        self._kernel.pause()
        self._items.append(item)

    def get(self):
        self._kernel.pause(lambda: bool(self._items))
        return self._items.popleft()

    def empty(self):
        self._kernel.pause()
        return not self._items


class KernelLock:
    def __init__(self, kernel):
        self._kernel, self._held = kernel, False

    def __enter__(self):
        self._kernel.pause(lambda: not self._held)
        self._held = True

    def __exit__(self, *_):
        self._held = False
        self._kernel.pause()


class KernelThread:
    def __init__(self, kernel, target, name="", daemon=True):
        self._kernel, self._target, self._task = kernel, target, Task(name)

    def start(self):
        kernel = self._kernel
        kernel.tasks.append(self._task)
        kernel.threads.append(threading.Thread(target=self._run, daemon=True))
        kernel.threads[-1].start()
        kernel.pause()

    def _run(self):
        self._task.baton.acquire()
        try:
            if not self._kernel.dead:
                self._target()
        except SystemExit:
            pass
        finally:
            self._task.done = True
            if not self._kernel.dead:
                self._kernel._pass_on(self._task)

    def join(self, timeout=None):
        self._kernel.pause(lambda: self._task.done)

    def is_alive(self):
        return not self._task.done
