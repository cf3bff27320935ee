"""Logical time: vector clocks, local states, and a helper that stamps the events of a process.

Process k produces events e_0, e_1, ... joined by local states: e_i begins the state s_i, which lasts until
e_{i+1}. The clock of s_i is the clock of e_i: its own component is i, and component j is the newest event of
process j that e_i knows of. State a of process i *happens before* state b of process j when the end of a is
known at the beginning of b, that is when component i of b's clock is at least a + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from attrs import define, field, frozen


def _times(times: Iterable[int]) -> tuple[int, ...]:
    return tuple(times)


@frozen
class VectorClock:
    """How many events of each process are known.

    Examples
    --------
    >>> a, b = VectorClock((2, 0)), VectorClock((1, 3))
    >>> a < b, a.concurrent(b), a.merge(b), a.tick(0)
    (False, True, VectorClock((2, 3)), VectorClock((3, 0)))
    """

    times: tuple[int, ...] = field(converter=_times)

    @classmethod
    def zero(cls, processes: int) -> VectorClock:
        """Return the clock that knows nothing."""
        return cls((0,) * processes)

    def tick(self, process: int) -> VectorClock:
        """Return the clock of the next event of a process."""
        times = self.times
        return VectorClock((*times[:process], times[process] + 1, *times[process + 1 :]))

    def merge(self, other: VectorClock) -> VectorClock:
        """Return what both know together."""
        if len(self.times) != len(other.times):
            raise ValueError(f"clocks of different lengths: {self} and {other}")
        return VectorClock(map(max, self.times, other.times))

    def concurrent(self, other: VectorClock) -> bool:
        """Tell whether neither knows of the other."""
        return not self <= other and not other <= self

    def __le__(self, other: VectorClock) -> bool:
        return all(a <= b for a, b in zip(self.times, other.times, strict=True))

    def __lt__(self, other: VectorClock) -> bool:
        return self.times != other.times and self <= other

    def __iter__(self) -> Iterator[int]:
        return iter(self.times)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, process: int) -> int:
        return self.times[process]

    def __repr__(self) -> str:
        return f"VectorClock({self.times})"


class LocalState(NamedTuple):
    """A state of one process: where, when (a vector clock or a plain sequence of numbers), and its value."""

    process: str
    clock: VectorClock | Sequence[int]
    value: Any = None


def happens_before(a: LocalState, b: LocalState, processes: Sequence[str]) -> bool:
    """Tell whether state a has ended when state b begins, as far as messages can tell.

    Examples
    --------
    >>> send, receive = LocalState("p", (1, 0)), LocalState("q", (1, 1))
    >>> happens_before(LocalState("p", (0, 0)), receive, "pq"), happens_before(send, receive, "pq")
    (True, False)
    """
    at = processes.index(a.process)
    return b.clock[at] >= a.clock[at] + 1


def consistent(states: Sequence[LocalState]) -> bool:
    """Tell whether one state of each process, in order, could have been observed together.

    Examples
    --------
    >>> consistent([LocalState("p", (1, 0)), LocalState("q", (1, 1))])
    True
    >>> consistent([LocalState("p", (0, 0)), LocalState("q", (1, 1))])
    False
    """
    now = [state.clock[k] for k, state in enumerate(states)]
    return all(known <= here for state in states for known, here in zip(state.clock, now, strict=True))


@define
class Stamper:
    """Stamps the events of one process; its `clock` travels with each message it sends.

    Examples
    --------
    >>> phone, projector = (
    ...     Stamper("phone", ["phone", "projector"]),
    ...     Stamper("projector", ["phone", "projector"]),
    ... )
    >>> phone.start("outside")
    LocalState(process='phone', clock=VectorClock((0, 0)), value='outside')
    >>> sent = phone.send("inside")
    >>> projector.receive(sent.clock, "on")
    LocalState(process='projector', clock=VectorClock((1, 1)), value='on')
    """

    process: str
    processes: Sequence[str]
    index: int = field(init=False)
    clock: VectorClock = field(init=False)

    def __attrs_post_init__(self) -> None:
        if self.process not in self.processes:
            raise ValueError(f"Stamper: {self.process!r} is not one of the processes {list(self.processes)}")
        self.index = list(self.processes).index(self.process)
        self.clock = VectorClock.zero(len(self.processes))

    def start(self, value: Any = None) -> LocalState:
        """Return the state before any event, s_0."""
        return LocalState(self.process, self.clock, value)

    def local(self, value: Any = None) -> LocalState:
        """Stamp an event that concerns nobody else; return the state that it begins."""
        self.clock = self.clock.tick(self.index)
        return LocalState(self.process, self.clock, value)

    #: a send is stamped like a local event; the clock of the state goes with the message
    send = local

    def receive(self, clock: VectorClock | Sequence[int], value: Any = None) -> LocalState:
        """Stamp the receipt of a message that carries this clock."""
        self.clock = self.clock.merge(VectorClock(clock))
        return self.local(value)
