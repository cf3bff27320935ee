"""States that move: from a query to the processor that runs it elsewhere, and back."""

from __future__ import annotations

from typing import Any

from millstream.processors import Query, Run

State = tuple[Any, ...]


def adopted(built: Query, values: State) -> State:
    """Return the state of what takes the place of a stage that has this state."""
    run = built.into()
    node: Any = run.processors[0]
    if node.elsewhere() is None:
        return values
    node.go_on(values)
    return run.take()


def as_slices(slice: Any, values: State) -> State:
    """Return the state of a slice as the state of `Slices`, which keeps every slice's state as a tuple."""
    plain, run, single = _pair(slice)
    plain.give(values)
    _move(plain, run, lambda v: (v,) if single else v)
    return run.take()


def as_slice(slice: Any, values: State) -> State:
    """Return the state of `Slices` as the state of the slice that they stand for."""
    plain, run, single = _pair(slice)
    run.give(values)
    _move(run, plain, lambda v: v[0] if single else v)
    return plain.take()


def _pair(slice: Any) -> tuple[Run, Run, bool]:
    """Return a run of a slice, one of `Slices`, and whether only the latter packs a state into a tuple."""
    from millstream.palettes.slicer.slices import Slices

    s, plain = slice, slice.into()
    run = Slices(s.by, s.inner, s.keep, s.snapshot, s.collect, s.until).into()
    single = not isinstance(plain.processors[0], Slices) and len(s.inner.into().fresh()) == 1
    return plain, run, single


def _move(source: Run, target: Run, change: Any) -> None:
    held: Any = source.processors[0]
    slices: Any = target.processors[0]
    target.give(target.fresh())
    slices.states = {key: change(v) for key, v in held.states.items()}
    if hasattr(held, "shown") and hasattr(slices, "shown"):
        slices.shown = held.shown
