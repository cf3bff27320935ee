"""What workers do in tests: importable by every kind of worker, so without hypothesis."""

import signal
import time
from functools import partial
from typing import ClassVar

from millstream.palettes.slicer import ALL, Keys
from millstream.processors import Processor, Uniform, processor, state


def length():
    return len


def failing():
    return int


def killing():
    return signal.raise_signal


def echo():
    return str


def busy(rounds, x):
    """Return x after some work: about 30 ns a round."""
    total = 0
    for k in range(rounds):
        total += k & x
    return x


def work(rounds):
    """Return a function of one event that takes about 30 ns a round, and can be pickled."""
    return partial(busy, rounds)


class Delays:
    """Return each event after a delay that looks random: up to 50 us of work, or a short sleep."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, x):
        mixed = (x * 2654435761 ^ self.seed * 40503) >> 3
        if mixed % 11 == 0:
            time.sleep(mixed % 5 * 1e-4)
        return busy(mixed % 1500, x)


def delayed_sum(*values):
    """Add values up, after a delay."""
    return Delays(3)(sum(values))


def to_all(x):
    """A key for a slice; 4 is for all."""
    return ALL if x == 4 else x % 5


def broadcasting(x):
    """Every kind of key: plain ones, several, all, and none."""
    return {5: ALL, 6: None, 7: Keys(0, 2), 8: Keys("new", 1, None)}.get(x, x % 3)


def domain(x):
    return range(3)


def one_two_three(x):
    return 1, 2, 3


def around(x):
    return x, 2


def below_forty(x):
    return x < 40


def nonzero(x):
    """Fail on zero."""
    return 60 // x


class Mixing:
    """A computation with state that sometimes returns nothing, and fails on one value."""

    def __init__(self, name, changes):
        self.name, self.changes, self.seen = name, changes, 0

    def __call__(self, *front):
        self.seen = (self.seen * 31 + sum(front) + self.name) % 997
        if self.seen == 996:
            raise ValueError(f"{self.name} cannot go on")
        return self.seen if self.seen % self.changes else None


@processor
class Last(Uniform):
    """Gives the sum of the last three events, and says that it depends on no more."""

    history: ClassVar[int] = 3
    held: tuple = state(())

    def step(self, x):
        self.held = (*self.held, x)[-3:]
        return sum(self.held)


@processor
class SumUntil(Processor):
    """Gives sums until they reach a limit, then the excess of each event: it has no state any more."""

    limit: int
    total: int = state(0)

    def step(self, x):
        if self.is_stateless():
            self.emit((x, "free"))
        else:
            self.total += abs(x)
            self.emit(self.total)

    def is_stateless(self):
        return self.total >= self.limit
