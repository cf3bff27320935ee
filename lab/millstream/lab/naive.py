"""The opponent in measurements: the obvious object-oriented stream processor.

Every node has a queue per input, takes a front of events when all queues have one, calls a virtual `compute`
that gives a front of outputs or nothing, and hands it to the nodes connected to it. It is written as one
would write it, with slots and without needless work, and its outputs go to a list directly: a weak opponent
would make every ratio look better than it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

Front = Sequence[Any]


class Target(Protocol):
    """Whatever takes events at numbered ports."""

    def push(self, port: int, event: Any) -> None:
        """Receive an event."""


class Node:
    """A processor with queues.

    >>> results = []
    >>> first = pipe(Apply(lambda x: x + 1), Cumulate(lambda x, y: x + y, 0), Collect(results))
    >>> push_all(first, [1, 2, 3])
    >>> results
    [2, 5, 9]
    """

    __slots__ = ("queues", "targets")

    def __init__(self, ins: int = 1) -> None:
        self.queues: list[deque[Any]] = [deque() for _ in range(ins)]
        self.targets: list[tuple[Target, int]] = []  # one for each output, in order

    def compute(self, front: list[Any]) -> Front | None:
        """Take one event of each input; give one for each output, or None."""
        raise NotImplementedError

    def push(self, port: int, event: Any) -> None:
        """Receive an event; compute when every queue has one."""
        queues = self.queues
        queues[port].append(event)
        for queue in queues:
            if not queue:
                return
        outputs = self.compute([queue.popleft() for queue in queues])
        if outputs is not None:
            for output, (target, to) in zip(outputs, self.targets):  # noqa: B905 - as one would write it
                target.push(to, output)


class Apply(Node):
    """Apply a function to each event."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def compute(self, front: list[Any]) -> Front:
        return [self.function(front[0])]


class Fork(Node):
    """Copy each event to every output."""

    __slots__ = ()

    def compute(self, front: list[Any]) -> Front:
        return front * len(self.targets)


class Filter(Node):
    """Let an event pass when the second input is true."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(2)

    def compute(self, front: list[Any]) -> Front | None:
        return front[:1] if front[1] else None


class Cumulate(Node):
    """Fold the events, giving each intermediate value."""

    __slots__ = ("function", "value")

    def __init__(self, function: Callable[[Any, Any], Any], start: Any) -> None:
        super().__init__()
        self.function = function
        self.value = start

    def compute(self, front: list[Any]) -> Front:
        self.value = self.function(self.value, front[0])
        return [self.value]


class Collect:
    """Append each event to a list."""

    __slots__ = ("append",)

    def __init__(self, results: list[Any]) -> None:
        self.append = results.append

    def push(self, port: int, event: Any) -> None:
        """Receive an event."""
        self.append(event)


def connect(source: Node, target: Target, port: int = 0) -> None:
    """Send the events of the next output of a node to an input of another."""
    source.targets.append((target, port))


def pipe(first: Node, *others: Any) -> Node:
    """Connect nodes one after the other, perhaps to a `Collect`; give the first."""
    for source, target in pairwise((first, *others)):
        connect(source, target)
    return first


def push_all(node: Node, events: Iterable[Any]) -> None:
    """Push every event into a node."""
    push = node.push
    for event in events:
        push(0, event)
