"""What workers do in tests: importable by every kind of worker, so without hypothesis."""

import signal
from functools import partial


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
