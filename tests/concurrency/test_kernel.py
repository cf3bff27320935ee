"""Threads in every order that hypothesis can think of, on a deterministic kernel."""

from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.concurrency import (
    CancelledError,
    Crew,
    NonBlockingProcessor,
    ParallelSlice,
    Pipeline,
    PullGroup,
    ThreadManager,
)
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Cumulate, StreamError, X
from millstream.processors.testing import pushed

from .kernel import Deadlock, Kernel
from .servants import nonzero

SCHEDULES = st.lists(st.integers(0, 5), max_size=80)
EVENTS = [3, 1, 4, 1, 5, 9, 2, 6]


def on_kernel(schedule, limit, function):
    """Run a function of a manager whose threads follow the schedule."""
    kernel = Kernel(schedule)

    def run():
        with ThreadManager(limit, primitives=kernel.primitives) as manager:
            result = function(manager, kernel)
            assert manager.statistics().running == 0
        return result

    return kernel.run(run)


@settings(max_examples=100)
@given(SCHEDULES, st.integers(0, 3))
def test_any_schedule_gives_each_borrower_its_own_replies(schedule, limit):
    """Three borrowers at once, one of which gives its worker back in the middle of its work."""

    def borrow(manager, kernel, told, name, patient):
        with Crew(manager, lambda: lambda x: (kernel.pause(), x)[1], 2) as crew:
            for k in range(4):
                if crew.size:
                    crew.send(k % crew.size, (name, k))
            while patient and crew.is_busy:
                told.append(crew.receive()[1])

    def use(manager, kernel):
        told = {name: [] for name in "abc"}
        threads = [
            kernel.primitives.thread(
                target=lambda n=name: borrow(manager, kernel, told[n], n, n != "b"), name=name
            )
            for name in told
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return told

    told = on_kernel(schedule, limit, use)
    for name in "ac":
        assert sorted(told[name]) in ([(name, k) for k in range(4)], [])
    assert limit or not any(told.values())


@given(SCHEDULES, st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_any_schedule_survives_changes_of_the_limit(schedule, limits):
    def use(manager, kernel):
        def change():
            for limit in limits:
                manager.limit = limit

        changing = kernel.primitives.thread(target=change, name="changing")
        changing.start()
        out = pushed(Pipeline(Apply(X * 2), manager, depth=4), [EVENTS])
        changing.join()
        return out

    assert on_kernel(schedule, 2, use) == [[x * 2 for x in EVENTS]]


WRAPPERS = {
    "group": (Cumulate(add), lambda q, m: PullGroup(q, m, size=4)),
    "pipeline": (Apply(X * 2), lambda q, m: Pipeline(q, m, depth=4)),
    "slice": (Slice(X % 3, Cumulate(add)), ParallelSlice),
    "window": (Window(Cumulate(add), 3), lambda q, m: Window(NonBlockingProcessor(Cumulate(add), m), 3)),
}


@pytest.mark.parametrize("name", WRAPPERS)
@given(schedule=SCHEDULES, limit=st.integers(0, 3))
def test_any_schedule_gives_the_outputs_of_the_plain_query(name, schedule, limit):
    plain, wrap = WRAPPERS[name]
    got = on_kernel(
        schedule, limit, lambda m, _: (pushed(wrap(plain, m), [EVENTS]), list(wrap(plain, m)(EVENTS)))
    )
    assert got == (pushed(plain, [EVENTS]), list(plain(EVENTS)))


@given(SCHEDULES)
def test_any_schedule_raises_the_first_failure_after_what_came_before(schedule):
    def use(manager, kernel):
        out = []
        run = Pipeline(Apply(nonzero), manager, depth=4).into(out)
        with pytest.raises(StreamError, match="at input event 2 "):
            run.push_all([1, 2, 0, 3, 0]), run.end()
        run.reset()
        return out

    assert on_kernel(schedule, 2, use) == [60, 30]


@given(SCHEDULES)
def test_any_schedule_tells_whoever_waits_that_the_manager_was_closed(schedule):
    kernel = Kernel(schedule)
    told = []

    def wait(crew):
        try:
            told.append(crew.receive())
        except CancelledError:
            told.append("cancelled")

    def run():
        manager = ThreadManager(1, primitives=kernel.primitives)
        crew = Crew(manager, lambda: lambda x: (kernel.pause(), x)[1], 1)
        crew.send(0, 7)
        waiting = kernel.primitives.thread(target=lambda: wait(crew), name="waiting")
        waiting.start()
        manager.close()
        waiting.join()

    kernel.run(run)
    assert told in ([(0, 7)], ["cancelled"])


class Forgetful:
    """A mailbox with a lost wake-up: it looks whether there is a letter, and then goes to sleep."""

    def __init__(self, kernel):
        self.kernel, self.letters, self.awake = kernel, [], False

    def put(self, letter):
        self.letters.append(letter)
        self.kernel.pause()
        self.awake = True

    def get(self):
        if not self.letters:
            self.kernel.pause()
            self.awake = False
            self.kernel.pause(lambda: self.awake)
        return self.letters.pop()


def test_kernel_finds_a_lost_wake_up():
    def lost(schedule):
        kernel = Kernel(schedule)
        box = Forgetful(kernel)

        def run():
            sender = kernel.primitives.thread(target=lambda: box.put("letter"), name="sender")
            sender.start()
            got = box.get()
            sender.join()
            return got

        try:
            return kernel.run(run) != "letter"
        except Deadlock:
            return True

    from hypothesis import find

    assert len(find(SCHEDULES, lost)) <= 4
