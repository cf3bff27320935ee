"""LatticeWindow: local states in, changes of the lattice out; Lattices: changes in, lattices out.

Both are thin: the algorithms are in `window`.
"""

from __future__ import annotations

from typing import Any

from millstream.processors import Uniform, processor, state
from millstream.processors.lineage import Tracker

from .change import Change
from .clocks import LocalState
from .local_states import StateProcessor
from .value import Lattice
from .window import LatWin


@processor
class LatticeWindow(StateProcessor):
    """The lattice of consistent global states in a sliding window over each process's newest states.

    Sends a `Change` for each local state, in the order of sequence numbers.

    Parameters
    ----------
    processes
        The names of the processes, in the order of the components of a clock.
    width
        How many of its newest states the window of a process holds: one number for all, or a mapping by name;
        None is unbounded.
    process, clock, value
        How name, vector clock and value are found in an event: functions or expressions; by default the
        fields of a `LocalState`.
    first
        The sequence number of the first state of each process.
    patience
        How many states of a process may be held while one before them is missing.
    gap
        What happens then: an error (``"raise"``), or stand-ins for the missing states (``"fill"``).
    duplicate
        Whether a repeated sequence number is an error (``"raise"``) or ignored (``"drop"``).

    Examples
    --------
    >>> from millstream.palettes.lattice import Stamper
    >>> p, q = Stamper("p", "pq"), Stamper("q", "pq")
    >>> sent = p.send("hello")
    >>> states = [Stamper("p", "pq").start(), q.start(), sent, q.receive(sent.clock, "heard"), p.local("bye")]
    >>> list(LatticeWindow("pq", width=2)(states))
    [Change(p 0: +0 -0 = 0), Change(q 0: +1 -0 = 1), Change(p 1: +1 -0 = 2), Change(q 1: +1 -0 = 3), ...]
    """

    lattice: LatWin = state(of=lambda self: LatWin.of(self.widths))

    def advance(self, local: LocalState) -> None:
        """Grow and prune the lattice; send what changed."""
        lattice, k = self.lattice, self.repair.index[local.process]
        clock = tuple(local.clock)
        done = lattice.arrive(k, clock)
        self.emit(
            Change(
                processes=tuple(self.processes),
                packing=lattice.packing,
                process=k,
                number=clock[k],
                value=local.value,
                stale=done.stale,
                added=tuple(done.added),
                removed=tuple(done.removed),
                fresh=done.fresh,
                bottom=done.bottom,
                top=done.top,
                bounds=tuple(zip(lattice.windows.low, lattice.windows.high, strict=True)),
                size=len(lattice),
            )
        )


@processor
class Lattices(Uniform):
    """Turn changes into lattices, each a value of its own: for looking, not for speed."""

    states: set[int] = state(of=lambda _: set())
    values: dict[tuple[int, int], Any] = state(of=lambda _: {})

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the change, which are those of the whole window."""
        return Tracker(limit)

    def step(self, change: Change) -> Lattice:
        """Return the whole lattice after a change."""
        self.states.update(change.added)
        self.states.difference_update(change.removed)
        self.values[change.process, change.number] = change.value
        if change.stale is not None:
            del self.values[change.process, change.stale]
        values: list[dict[int, Any]] = [{} for _ in change.processes]
        for (k, number), value in self.values.items():
            values[k][number] = value
        cuts = frozenset(map(change.packing.unpack, self.states))
        return Lattice(change.processes, change.bounds, cuts, tuple(values))
