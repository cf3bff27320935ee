"""What a kernel is: one processor over frames, with the processor's own state.

A kernel is made for a processor of a query and keeps nothing itself. It takes its state and the frames of
its inputs and returns the frames of its outputs and the next state, changing neither. `enter` makes a
kernel's state of the processor's state fields, `leave` makes those fields again: what a columnar run saves is
what the event by event run would have saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from millstream.processors import Processor

from ..evaluating import NotColumnar
from ..frame import Frame

Fields = tuple[Any, ...]
Front = tuple[Frame, ...]
#: one for each output; None where nothing comes out and nothing is known of its type
Outputs = tuple[Frame | None, ...]


class Kernel:
    """Base: a kernel whose state is that of its processor."""

    #: how it runs, for `explain`
    how = "NumPy"
    #: whether the processor may give something at the end of the trace, if it has a method for that
    ends = True

    def alone(self) -> Kernel:
        """Return the kernel for one program: itself, if it holds nothing that changes."""
        return self

    def enter(self, fields: Fields) -> Any:
        """Return the kernel's state for the processor's state fields."""
        return fields

    def leave(self, state: Any) -> Fields:
        """Return the processor's state fields for a state of the kernel."""
        return state  # type: ignore[no-any-return]

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        """Return the outputs for a front of frames of equal length, and the next state."""
        raise NotImplementedError

    def spent(self, state: Any) -> bool:
        """Return whether nothing will ever come out any more, whatever comes in."""
        return False


Maker = Callable[[Any], Kernel]
MAKERS: dict[type[Processor], Maker] = {}


def kernel_for(*kinds: type[Processor]) -> Callable[[Any], Any]:
    """Register what makes the kernel of a kind of processor; it may raise `NotColumnar`."""

    def register(make: Any) -> Any:
        for kind in kinds:
            MAKERS[kind] = make
        return make

    return register


def kernel_of(node: Processor) -> Kernel:
    """Return the kernel of a processor."""
    make = MAKERS.get(type(node))
    if make is None:
        raise NotColumnar(f"{type(node).__name__} has no columnar form")
    return make(node)
