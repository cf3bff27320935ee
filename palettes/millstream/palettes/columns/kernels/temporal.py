"""Kernels of the temporal operators over streams of truth values."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream.palettes.ltl.boolean import (
    Eventually,
    Globally,
    Historically,
    Next,
    Once,
    Previous,
    Release,
    Since,
    Until,
    WeakUntil,
)

from ..column import Array, Column, Unfit
from ..comparing import truth
from ..evaluating import event
from ..frame import Frame, of_values
from .base import Fields, Front, Kernel, Outputs, kernel_for


def truths(frame: Frame) -> Array:
    """Return which events of a frame are true."""
    value = event(frame)
    if isinstance(value, Frame):
        raise Unfit("the truth of whole rows")
    return truth(value, frame.length)


def given(values: Array) -> Outputs:
    """Return truth values as the only output."""
    return (of_values(Column("b", values)),)


def filled(first: Any, changes: Array, values: Array) -> Array:
    """Return a value for each place: that of the last change so far, at first a given one.

    >>> filled(7, np.array([False, True, False]), np.array([8])).tolist()
    [7, 8, 8]
    """
    return np.concatenate([[first], values]).take(changes.cumsum(dtype=np.int32))


@kernel_for(Eventually, Globally, Until, WeakUntil, Release)
class WaitingKernel(Kernel):
    """Operators whose positions wait until an event decides them all."""

    def __init__(self, node: Any) -> None:
        self.kind, self.ends = type(node), node.at_end is not None

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        (pending,), length = state, front[0].length
        deciding, verdict = self._decisions(*map(truths, front))
        places = deciding.nonzero()[0]
        if not len(places):
            return given(np.zeros(0, bool)), (pending + length,)
        count = pending + int(places[-1]) + 1
        after = (length - 1 - int(places[-1]),)
        if isinstance(verdict, bool):
            return given(np.full(count, verdict)), after
        counts = np.diff(places, prepend=-1)
        counts[0] += pending
        return given(np.repeat(verdict.take(places), counts)), after

    def _decisions(self, left: Array, right: Array | None = None) -> tuple[Array, Array | bool]:
        """Return which events decide all that waits, and how."""
        if right is None:
            return (left, True) if self.kind is Eventually else (~left, False)
        return (left | ~right, right) if self.kind is Release else (right | ~left, right)


@kernel_for(Next)
class NextKernel(Kernel):
    """The verdicts from the second position on."""

    def __init__(self, node: Next) -> None:
        self.ends = node.at_end is not None

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        (pending,), values = state, truths(front[0])
        return given(values if pending else values[1:]), ((1,) if len(values) else state)


@kernel_for(Previous)
class PreviousKernel(Kernel):
    """The values of the positions before."""

    def __init__(self, node: Previous) -> None:
        pass

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        values = truths(front[0])
        if not len(values):
            return given(values), state
        return given(np.concatenate([state, values[:-1]])), (bool(values[-1]),)


@kernel_for(Once, Historically, Since)
class PastKernel(Kernel):
    """Operators that the last deciding event tells the value of."""

    def __init__(self, node: Any) -> None:
        self.kind = type(node)

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        values = [truths(f) for f in front]
        found = since(state[0], *self._operands(*values))
        if self.kind is Historically:
            found = ~since(not state[0], np.ones(len(found), bool), ~values[0])
        return given(found), ((bool(found[-1]),) if len(found) else state)

    def _operands(self, left: Array, right: Array | None = None) -> tuple[Array, Array]:
        return (np.ones(len(left), bool), left) if right is None else (left, right)


def since(held: bool, left: Array, right: Array) -> Array:
    """Return ``left S right`` at each position, given its value before the first.

    >>> since(False, np.array([True, True, False, True]), np.array([False, True, False, False])).tolist()
    [False, True, False, False]
    """
    deciding = right | ~left
    return filled(held, deciding, right[deciding])
