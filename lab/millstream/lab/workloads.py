"""The queries that are measured, each written in millstream and for the naive opponent.

A workload runs the same input through both and gives the list of outputs, so that the figures can be checked
to belong to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import add
from random import Random
from typing import Any

from attrs import frozen

from millstream.processors import Apply, Cumulate, Filter, Fork, Query, X, connect

from . import naive

Outputs = list[Any]


def numbers(count: int, seed: int = 2026) -> list[int]:
    """Make the input: the same random numbers in every run.

    >>> numbers(4)
    [-70, -19, 28, 31]
    """
    random = Random(seed)
    return [random.randrange(-100, 100) for _ in range(count)]


@frozen
class Workload:
    """A query in two forms: `query`, and `naive`, which connects nodes to a list and gives the first node."""

    name: str
    query: Query
    naive: Callable[[Outputs], naive.Node]

    def run_naive(self, events: list[Any]) -> Outputs:
        """Push the events through the opponent."""
        outputs: Outputs = []
        naive.push_all(self.naive(outputs), events)
        return outputs

    def run_push(self, events: list[Any]) -> Outputs:
        """Push the events through the query."""
        outputs: Outputs = []
        run = self.query.into(outputs)
        run.push_all(events)
        run.end()
        return outputs

    def run_pull(self, events: list[Any]) -> Outputs:
        """Pull the outputs of the query."""
        return list(self.query(events))


def increment(x: int) -> int:
    """Add one."""
    return x + 1


def double(x: int) -> int:
    """Multiply by two."""
    return x * 2


def decrement(x: int) -> int:
    """Subtract three."""
    return x - 3


def square(x: int) -> int:
    """Multiply by itself."""
    return x * x


def remainder(x: int) -> int:
    """Take the remainder by 1000."""
    return x % 1000


def even(x: int) -> bool:
    """Tell whether a number is even."""
    return x % 2 == 0


FIVE = (increment, double, decrement, square, remainder)


def fork_filter_sum(condition: Any) -> Query:
    """Fork the events, filter one branch by a condition on the other, and sum up.

    >>> list(fork_filter_sum(even)([1, 2, 3, 4]))
    [2, 6]
    """
    fork, test, keep, total = Fork(2), Apply(condition), Filter(), Cumulate(add)
    return connect(
        fork.outputs[0] >> keep.inputs[0],
        fork.outputs[1] >> test.inputs[0],
        test.outputs[0] >> keep.inputs[1],
        keep.outputs[0] >> total.inputs[0],
    )


def naive_chain(*functions: Callable[..., Any]) -> Callable[[Outputs], naive.Node]:
    """Describe a chain of functions for the opponent."""
    return lambda outputs: naive.pipe(*map(naive.Apply, functions), naive.Collect(outputs))


def naive_fork_filter_sum(outputs: Outputs) -> naive.Node:
    """Connect the opponent's fork, filter and sum."""
    fork, test, keep = naive.Fork(), naive.Apply(even), naive.Filter()
    naive.connect(fork, keep, 0)
    naive.connect(fork, test, 0)
    naive.connect(test, keep, 1)
    naive.pipe(keep, naive.Cumulate(add, 0), naive.Collect(outputs))
    return fork


def workloads() -> Iterator[Workload]:
    """Give every workload; functions once as Python callables and once as expressions."""
    yield Workload("x + 1", Apply(increment), naive_chain(increment))
    yield Workload("x + 1, expression", Apply(X + 1), naive_chain(increment))
    one, two, three, four, five = map(Apply, FIVE)
    yield Workload("five functions", one | two | three | four | five, naive_chain(*FIVE))
    fused = Apply(X + 1) | Apply(X * 2) | Apply(X - 3) | Apply(X * X) | Apply(X % 1000)
    yield Workload("five functions, expressions", fused, naive_chain(*FIVE))
    yield Workload("fork-filter-sum", fork_filter_sum(even), naive_fork_filter_sum)
    yield Workload("fork-filter-sum, expression", fork_filter_sum(X % 2 == 0), naive_fork_filter_sum)
