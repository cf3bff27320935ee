"""Joins: the queues of a processor whose inputs have different clocks.

A front is passed on when every queue has an event. The queues are the join's state; they are made when first
needed, so that a join that never has to hold anything back costs nothing in a saved state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import attrs

from .errors import BufferFullError
from .processor import state


@attrs.define(eq=False)
class Join:
    """The queues in front of one processor."""

    label: str
    initial: tuple[tuple[Any, ...], ...]
    capacity: int | None
    full: str
    #: takes a complete front; set by the engine
    push: Callable[..., Any] = attrs.field(init=False, default=None)
    queues: list[deque[Any]] | None = state(of=lambda self: self.filled())  # noqa: RUF009

    def filled(self) -> list[deque[Any]] | None:
        """Return the queues with their initial events, or None where there are none."""
        return [deque(events) for events in self.initial] if any(self.initial) else None

    def port(self, i: int) -> Callable[[Any], None]:
        """Return the function that takes an event of input i."""
        if len(self.initial) == 2:
            return self._port_of_two(i, 1 - i)
        return self._port_of_many(i)

    def _port_of_two(self, i: int, other: int) -> Callable[[Any], None]:
        def put(event: Any) -> None:
            queues = self.queues
            if queues is None:
                self.queues = [deque((event,)), deque()] if i == 0 else [deque(), deque((event,))]
            elif queues[other]:
                partner = queues[other].popleft()
                if not queues[other]:
                    self.queues = None
                if i == 0:
                    self.push(event, partner)
                else:
                    self.push(partner, event)
            else:
                self._append(queues[i], event, i)

        return put

    def _port_of_many(self, i: int) -> Callable[[Any], None]:
        def put(event: Any) -> None:
            queues = self.queues
            if queues is None:
                queues = self.queues = [deque() for _ in self.initial]
            self._append(queues[i], event, i)
            if all(queues):
                front = [q.popleft() for q in queues]
                if not any(queues):
                    self.queues = None
                self.push(*front)

        return put

    def _append(self, queue: deque[Any], event: Any, i: int) -> None:
        if self.capacity is not None and len(queue) >= self.capacity:
            if self.full == "error":
                raise BufferFullError(
                    f"{self.label}: input {i} holds {len(queue)} events and waits for the other inputs; "
                    "raise capacity, or choose full='drop_oldest' or 'drop_newest'"
                )
            if self.full == "drop_newest":
                return
            queue.popleft()
        queue.append(event)

    def lengths(self) -> tuple[int, ...]:
        """Return how many events each queue holds."""
        return tuple(map(len, self.queues)) if self.queues else (0,) * len(self.initial)
