"""What a stage that is replaced in the middle of a trace leaves to what takes its place: its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from millstream.processors import Query

from .line import Line
from .machines import machine_of
from .spread import Spread

State = tuple[Any, ...]


def adopted(built: Query, name: str, values: State, events: Sequence[Any]) -> State:
    """Return the state of what takes the place of a stage that has this state after these events."""
    node: Any = built
    if name == "PullGroup":
        return (Line(values=values),)
    if name == "Pipeline":
        seen = (node.known.length or 1) - 1
        return (Line(before=tuple(events[len(events) - seen :]) if seen else ()),)
    if name == "ParallelSlice":
        return (Spread(values=_as_slices(node, values), count=len(events)),)
    if name == "ChunkedMonitor":
        machine = machine_of(node.inner)
        assert machine is not None
        now = machine.start
        for event in events:
            now = machine.advance(event, [now])[0][0]
        return Line(), now
    return values


def _as_slices(node: Any, values: State) -> State:
    """Return the state of a slice as the state of `Slices`, which keeps every slice's state as a tuple."""
    from millstream.palettes.slicer.slices import Slices

    s = node.slice
    plain = s.into()
    plain.give(values)
    held: Any = plain.processors[0]
    run = Slices(s.by, s.inner, s.keep, s.snapshot, s.collect, s.until).into()
    slices: Any = run.processors[0]
    run.give(run.fresh())
    single = not isinstance(held, Slices) and len(s.inner.into().fresh()) == 1
    slices.states = {key: (v,) if single else v for key, v in held.states.items()}
    if hasattr(held, "shown"):
        slices.shown = held.shown
    return run.take()
