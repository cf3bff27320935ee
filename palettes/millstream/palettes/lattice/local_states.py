"""What the processors that take local states have in common: reading, checking and ordering them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import field

from millstream.processors import E, ParameterError, Processor, as_function, processor, state, transient
from millstream.processors.errors import at_least, fail_parameter, one_of
from millstream.processors.memory import Growth

from .clocks import LocalState
from .repair import SequenceRepair
from .tracing import FollowedStates, Newest

#: of all windows, or of each process's window; None is unbounded
Width = int | None | Mapping[str, int | None]


@processor
class StateProcessor(Processor):
    """Base of the processors that take local states: finds, checks and orders them."""

    processes: Sequence[str] = field(converter=tuple)
    width: Width = None
    process: Any = field(default=E.process, kw_only=True)
    clock: Any = field(default=E.clock, kw_only=True)
    value: Any = field(default=E.value, kw_only=True)
    first: int = field(default=0, kw_only=True, validator=at_least(0))
    patience: int = field(default=1000, kw_only=True, validator=at_least(0))
    gap: Literal["raise", "fill"] = field(default="raise", kw_only=True, validator=one_of("raise", "fill"))
    duplicate: Literal["raise", "drop"] = field(
        default="raise", kw_only=True, validator=one_of("raise", "drop")
    )
    repair: SequenceRepair = state(of=lambda self: self.new_repair())
    read: tuple[Callable[[Any], Any], ...] = transient()

    def __attrs_post_init__(self) -> None:
        if not self.processes or len(set(self.processes)) < len(self.processes):
            fail_parameter(self, "processes", "different names, at least one", list(self.processes))
        self.check_names("width", self.width if isinstance(self.width, Mapping) else {})
        for width in self.widths:
            if width is not None and (type(width) is not int or width < 1):
                fail_parameter(self, "width", "None or an integer of at least 1", width)

    def check_names(self, parameter: str, mapping: Mapping[str, Any]) -> None:
        """Complain about names in a parameter that are not processes."""
        if unknown := [p for p in mapping if p not in self.processes]:
            name, known = type(self).__name__, ", ".join(map(repr, self.processes))
            raise ParameterError(
                f"{name}: {parameter} names unknown process {unknown[0]!r} (processes: {known})"
            )

    @property
    def widths(self) -> list[int | None]:
        """The width of each process's window; None is unbounded."""
        width = self.width
        return [width.get(p) if isinstance(width, Mapping) else width for p in self.processes]

    def new_repair(self) -> SequenceRepair:
        """Return the initial state of the sequence repair."""
        return SequenceRepair(self.processes, self.first, self.patience, self.gap, self.duplicate)

    def prepare(self) -> None:
        """Compile the expressions that read an event."""
        self.read = tuple(as_function(f) for f in (self.process, self.clock, self.value))

    def step(self, event: Any) -> None:
        """Take an event; process the states that are in order now."""
        process, clock, value = (read(event) for read in self.read)
        for ready in self.repair.arrive(LocalState(process, tuple(clock), value)):
            self.advance(ready)

    def end(self) -> None:
        """Process, or complain about, states whose predecessors never came."""
        for ready in self.repair.end():
            self.advance(ready)

    def growth(self) -> Growth | None:
        """Return how windows without a width grow."""
        return Growth("the states of processes without a width", "width=") if None in self.widths else None

    def explained(self, limit: int) -> Processor:
        """Return the same for traced events: an output comes from the newest states of all processes."""
        return FollowedStates(self, Newest(limit, tuple(self.widths)))

    def advance(self, local: LocalState) -> None:
        """Process the next state of a process."""
        raise NotImplementedError
