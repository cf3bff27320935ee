"""Synchronizer: the events of several streams, delayed on their way, in time order again.

The processor reads events and clocks and passes everything on to `SyncCore`, which decides. It has one input
port for each stream, or a single one for tagged events; streams that come and go need the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import Any, Literal

from attrs import field
from attrs.validators import optional

from millstream.processors import ParameterError, Router, as_function, processor, state, transient
from millstream.processors.errors import at_least, one_of
from millstream.processors.lineage import Parts, Tracker
from millstream.processors.memory import Growth

from .checks import not_negative
from .controls import AddStream, RemoveStream, Tick
from .core import Blame, Method, SyncCore


@processor
class Synchronizer(Router):
    """Send events in time order as soon as every stream has shown something at least as new.

    Parameters
    ----------
    time
        The original timestamp of an event, a number: a function or expression.
    streams
        The names of the streams. Without `key`, each has its own input port, in this order.
    key
        The name of an event's stream; then there is one input for all.
    max_delay
        MD: how long an event may wait for a silent stream, in the clock's units. None: for ever.
    max_failures
        MS: after so many waits in vain, nothing waits for a stream any more until it shows something new.
    late
        What happens to an event older than the latest one sent: ``"drop"`` it (it is counted), send it
        to a second output (``"side"``), or ``"raise"`` an error.
    method
        ``"heads"`` (ours), or the paper's ``"method 1"`` or ``"method 2"``.
    arrival
        The arrival time of an event, if it carries one; otherwise the `clock` is read.
    clock
        A function that returns the time, read only with `max_delay`; ``VirtualClock().now`` in tests.
    grow
        Add a stream when its first event comes, instead of refusing it.
    blame
        Whose failure a wait in vain is: of the ``"silent"`` streams, or, as in the paper, the ``"producer"``.

    Examples
    --------
    >>> from millstream.processors import X
    >>> merged = Synchronizer(time=X[1], streams=["a", "b"], key=X[0])
    >>> list(merged([("a", 1), ("a", 4), ("b", 2), ("b", 3), ("b", 5)]))
    [('a', 1), ('b', 2), ('b', 3), ('a', 4), ('b', 5)]
    """

    time: Any = field()
    streams: Sequence[Hashable] = field(default=(), converter=tuple)
    key: Any = None
    max_delay: float | None = field(default=None, kw_only=True, validator=optional(not_negative))
    max_failures: int | None = field(default=None, kw_only=True, validator=optional(at_least(1)))
    late: Literal["drop", "side", "raise"] = field(
        default="drop", kw_only=True, validator=one_of("drop", "side", "raise")
    )
    method: Method = field(default="heads", kw_only=True)
    arrival: Any = field(default=None, kw_only=True)
    clock: Callable[[], float] = field(default=monotonic, kw_only=True)
    grow: bool = field(default=False, kw_only=True)
    blame: Blame = field(default="silent", kw_only=True, validator=one_of("silent", "producer"))
    core: SyncCore = state(of=lambda self: self.new_core())
    read_time: Callable[[Any], float] = transient()
    read_key: Callable[[Any], Hashable] = transient()
    read_arrival: Callable[[Any], float] | None = transient()

    def __attrs_post_init__(self) -> None:
        if self.key is None and not self.streams:
            raise ParameterError(
                "Synchronizer: streams must name the inputs (or give a key for tagged events), got none"
            )
        if self.max_failures is not None and self.max_delay is None:
            raise ParameterError(
                f"Synchronizer: max_failures must come with a max_delay, got {self.max_failures} alone"
            )

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input for each stream, or one for all; a second output for late events."""
        return (len(self.streams) if self.key is None else 1), (2 if self.late == "side" else 1)

    def new_core(self) -> SyncCore:
        """Return the initial state."""
        return SyncCore.of(self.streams, self.method, self.max_delay, self.max_failures, self.blame)

    def prepare(self) -> None:
        """Compile the expressions."""
        self.read_time = as_function(self.time)
        self.read_key = as_function(self.key) if self.key is not None else self.read_time
        self.read_arrival = None if self.arrival is None else as_function(self.arrival)

    def receive(self, port: int, event: Any) -> None:
        """Take an event of a stream, or one that steers."""
        kind = type(event)
        if kind is Tick or kind is AddStream or kind is RemoveStream:
            self._send_all(self._steer(event))
            return
        stream = self.streams[port] if self.key is None else self.read_key(event)
        if self.grow and stream not in self.core.streams.numbers:
            self.core.add(stream)
        now = self._now(event)
        released = self.core.arrive(stream, self.read_time(event), event, now)
        if released is None:
            self._too_late(stream, event)
            self._send_all(self.core.tick(now))
        elif released:
            self._send_all(released)

    def end(self) -> None:
        """Send what still waits: nothing newer or older will come."""
        self._send_all(self.core.flush())

    def _now(self, event: Any) -> float:
        if self.max_delay is None:
            return 0.0
        return self.clock() if self.read_arrival is None else self.read_arrival(event)

    def _steer(self, event: Tick | AddStream | RemoveStream) -> list[Any]:
        if isinstance(event, Tick):
            return self.core.tick(self.clock() if event.now is None else event.now)
        if isinstance(event, RemoveStream):
            return self.core.remove(event.name)
        if self.key is None:
            raise ValueError(
                f"stream {event.name!r} has no input port (give a key to add streams while running)"
            )
        self.core.add(event.name)
        return []

    def _send_all(self, events: list[Any]) -> None:
        send = self.ports[0]
        for event in events:
            send(event)

    def _too_late(self, stream: Hashable, event: Any) -> None:
        if self.late == "side":
            self.send(1, event)
        elif self.late == "raise":
            time, latest = self.read_time(event), self.core.latest[0]
            raise ValueError(
                f"event of stream {stream!r} is late: {time}, and {latest} was already sent"
                " (raise max_delay, or take late events with late='side')"
            )

    def growth(self) -> Growth | None:
        """Return what waits for a stream that says nothing."""
        if self.max_delay is not None:
            return None
        return Growth("events that wait for a stream that is silent", "max_delay=")

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the events that come out."""
        return Parts(limit)
