"""Kernels of the processors without state, and of those that let events through by their position."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream.processors import (
    MISSING,
    Apply,
    Constant,
    Decimate,
    Expression,
    Filter,
    Fork,
    Passthrough,
    Prefix,
    Trim,
)

from ..column import Chosen, Column, of_list
from ..comparing import truth
from ..evaluating import NotColumnar, compiled, event
from ..frame import Frame, of_values
from .base import Front, Kernel, Outputs, kernel_for


def as_frame(value: Any, length: int) -> Frame:
    """Return the frame of what an expression gives; a constant is repeated."""
    if isinstance(value, Frame):
        return value
    return of_values(value if isinstance(value, Column) else of_list([value] * length))


@kernel_for(Apply)
class ApplyKernel(Kernel):
    """An expression, or a function that stands for one."""

    def __init__(self, node: Apply) -> None:
        if node.arity[1] != 1:
            raise NotColumnar("a function with several outputs has no columnar form")
        self.function = compiled(node.function)

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        return (as_frame(self.function(front), front[0].length),), state


@kernel_for(Passthrough, Fork)
class ForkKernel(Kernel):
    """The same events for every output."""

    how = "nothing to compute"

    def __init__(self, node: Passthrough | Fork) -> None:
        self.ways = node.arity[1]

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        return front * self.ways, state


@kernel_for(Constant)
class ConstantKernel(Kernel):
    """One value, repeated."""

    def __init__(self, node: Constant) -> None:
        if isinstance(node.value, (Expression, dict, list, set)):
            raise NotColumnar(f"the value {node.value!r} is no plain value")
        self.value = node.value

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        return (as_frame(self.value, front[0].length),), state


@kernel_for(Filter)
class FilterKernel(Kernel):
    """The events for which a condition, or the event of a second input, is true."""

    def __init__(self, node: Filter) -> None:
        self.condition = None if node.condition is None else compiled(node.condition)

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        events = front[0]
        value = event(front[1]) if self.condition is None else self.condition(front)
        if isinstance(value, Frame):
            return (events.slice(0, events.length if value.names else 0),), state
        return (events.chosen(Chosen(truth(value, events.length))),), state


@kernel_for(Trim)
class TrimKernel(Kernel):
    """All but the first events."""

    def __init__(self, node: Trim) -> None:
        pass

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        (left,), events = state, front[0]
        dropped = min(left, events.length)
        return (events.slice(dropped, events.length),), (left - dropped,)


@kernel_for(Prefix)
class PrefixKernel(Kernel):
    """The first events."""

    def __init__(self, node: Prefix) -> None:
        pass

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        (left,), events = state, front[0]
        kept = min(left, events.length)
        return (events.slice(0, kept),), (left - kept,)

    def spent(self, state: Any) -> bool:
        return bool(state[0] == 0)


@kernel_for(Decimate)
class DecimateKernel(Kernel):
    """Every n-th event; the last one is held if it may have to come out at the end."""

    def __init__(self, node: Decimate) -> None:
        self.n, self.last = node.n, node.last
        self.ends = node.last

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        (phase, held), events = state, front[0]
        first = -phase % self.n
        places = np.arange(first, events.length, self.n)
        after = (phase + events.length) % self.n
        if events.length and self.last:
            held = (
                MISSING if after == 1 % self.n else events.slice(events.length - 1, events.length).events()[0]
            )
        return (events.take(places),), (after, held)
