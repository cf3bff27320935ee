"""`Detector`: the processor that finds composite events in a stream."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from attrs import evolve, field

from millstream.processors import (
    MISSING,
    E,
    Inline,
    ParameterError,
    Processor,
    as_function,
    processor,
    state,
    transient,
)
from millstream.processors.errors import at_least
from millstream.processors.lineage import Accumulated, Parts, Tracker
from millstream.processors.memory import Growth

from .expressions import Constructor, Timed, check_function, check_mode
from .flow import STRATEGIES
from .forest import Analysis, Forest, Node, describe_all
from .fused import fused_step
from .inline import inline
from .modes import Mode
from .occurrence import EARLIEST, Entry
from .operators import Context, Feed, Memory, build
from .operators.build import Machines, end_timers
from .operators.simple import outcome
from .parallel import end_flow, parallel_step


class GrowingMemoryWarning(UserWarning):
    """A detector in mode ALL keeps everything it has seen."""


@processor
class Detector(Processor):
    """Find composite events in a stream that is in order of time.

    Parameters
    ----------
    expression
        An event expression, or a mapping of several by name. The composites of a named expression have its
        name as their kind, and the name can be used as a type in the others.
    mode
        The consumption mode of all constructors that do not say theirs.
    time, kind
        The time stamp and the type name of an event: functions or expressions.
    order
        An event older than its predecessor is an error (``"refuse"``), or is known not to come
        (``"trust"``), which saves the time of the last event. Put ``Reorder(bound)`` of
        `millstream.palettes.timesync` in front of a stream that is out of order within a bound.
    kinds
        All type names that exist, if they shall be checked.
    max_pending
        At most so many occurrences wait at an operand.
    full
        What happens to one more: ``"error"``, ``"drop_newest"`` or ``"drop_oldest"``.
    strategy
        How it is executed; what is found, and in which order, is the same. ``"sequential"``: event by event,
        here. The others run on the workers of a manager, and give results later, some events at a time:
        ``"pps"``, ``"heartbeat"``, ``"ups"`` and ``"hybrid"`` are those of the paper (see the README);
        ``"auto"`` stays sequential until events take long enough to be worth it, then it is ``"ups"``.
    manager
        A `millstream.concurrency.ThreadManager`, for all strategies but the sequential one. With processes,
        conditions and predicates have to pickle. If it lends nothing, the work is done here.
    chunk
        How many events may wait before they are handed over to workers.

    Examples
    --------
    >>> from millstream.palettes.cep import Occurrence, before, both, either
    >>> history = [Occurrence(kind, int(t)) for kind, t in ("A1", "B2", "C3", "D4", "D5", "C6", "A7")]
    >>> detector = Detector(either("A", before("B", both("C", "D"))), mode=Mode.CHRONICLE)
    >>> for composite in detector(history):
    ...     print(composite)
    A.1
    (B.2, (C.3, D.4, 4), 4)
    A.7

    The same on two workers:

    >>> from millstream.concurrency import ThreadManager
    >>> with ThreadManager(2) as manager:
    ...     again = Detector(detector.expression, strategy="heartbeat", manager=manager)
    ...     list(again(history)) == list(detector(history))
    True
    """

    icon: ClassVar[str] = "⋈"
    expression: Any = field(converter=Forest.of)  # kept as a Forest
    mode: Mode = Mode.CHRONICLE
    time: Any = field(default=E.time, kw_only=True)
    kind: Any = field(default=E.kind, kw_only=True)
    order: str = field(default="refuse", kw_only=True)
    kinds: frozenset[str] | None = field(
        default=None, kw_only=True, converter=lambda k: None if k is None else frozenset(k)
    )
    max_pending: int | None = field(default=None, kw_only=True)
    full: str = field(default="error", kw_only=True)
    strategy: str = field(default="sequential", kw_only=True)
    manager: Any = field(default=None, kw_only=True)
    chunk: int = field(default=256, kw_only=True, validator=at_least(1))
    machines: Machines = transient()
    #: how to make what each operator remembers
    blanks: list[Callable[[], Any]] = transient()
    read_kind: Callable[[Any], Any] = transient()
    #: type name -> what takes events of that type
    by_kind: dict[Any, Feed] = transient()
    #: predicates, and what takes the events that satisfy them
    by_test: list[tuple[Callable[[Any], Any], Feed]] = transient()
    #: whether the time of the last event has to be remembered
    keeps_time: bool = transient()
    fused: Callable[[Any], None] = transient()
    #: the time of the last event and what each operator remembers, or MISSING if there is nothing; on workers
    #: a `Flow`
    remembered: Any = state(MISSING)

    def __attrs_post_init__(self) -> None:
        check_parameters(self)
        analysis = self.analysed()
        if self.expression.announced:
            return
        growing = analysis.growing()
        if growing and self.max_pending is None:
            warnings.warn(
                f"Detector: mode ALL keeps all occurrences for {describe_all(growing)}; "
                "bound it with within(...) or max_pending=",
                GrowingMemoryWarning,
                stacklevel=3,
            )
        self.expression = evolve(self.expression, announced=True)

    def analysed(self) -> Analysis:
        """Return the nodes of the forest."""
        return Analysis.of(self.expression, self.mode, self.kinds)

    def blank(self) -> Memory:
        """Return the memory at the beginning of a trace."""
        return [EARLIEST, *(make() for make in self.blanks)]

    def _build(self) -> None:
        analysis, context = self.analysed(), Context(self.max_pending, self.full)
        roots = [self.give if is_composite(analysis.nodes[r]) else self.wrap for r in analysis.roots]
        machines = self.machines = build(analysis, context, roots)
        self.blanks = context.fresh
        self.by_kind, self.by_test = dispatch(analysis, machines)
        named = self.by_kind or self.kinds is not None
        self.read_kind = as_function(self.kind) if named else nameless
        self.keeps_time = bool(self.order == "refuse" or machines.timers or machines.finishers)
        self.fused = fused_step(self)
        if self.strategy != "sequential":
            self.fused = parallel_step(self, self.fused)

    def give(self, memory: Memory, entry: Entry) -> None:
        """Emit the composite that a root has found."""
        self.emit(entry[2])

    def wrap(self, memory: Memory, entry: Entry) -> None:
        """Emit what a root has found, which may be an ordinary event."""
        self.emit(outcome(entry, self.read_kind))

    @property
    def step(self) -> Callable[[Any], None]:
        """Return the fused step; a property, so that the engine gets it without a method around it."""
        if self.fused is None:
            self._build()
        return self.fused

    def inline(self) -> Inline | None:
        """Return the step of the most common detector as lines."""
        return inline(self) if self.strategy == "sequential" else None

    def flush(self, memory: Memory) -> None:
        """Hand on what has been collected during one event."""
        for meeting in self.machines.meetings:
            meeting.flush(memory)

    def end(self) -> None:
        """Come to the end of the trace, which decides absences and releases what waits for it."""
        machines, memory = self.machines, self.remembered
        if memory is MISSING:
            return
        if memory.__class__ is not list:
            return end_flow(self)
        end_timers(machines.timers, memory, self.flush)
        for finish in machines.finishers:
            finish(memory)
            self.flush(memory)
            end_timers(machines.timers, memory, self.flush)

    def growth(self) -> Growth | None:
        """Return what waits for partners, if nothing bounds it."""
        if self.max_pending is not None or not self.analysed().waiting():
            return None
        return Growth("occurrences that wait for a partner", "within(...) or max_pending=")

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the constituents; processes give copies of those, so there it is all."""
        known = self.strategy == "sequential" or self.manager.workers == "threads"
        return Parts(limit) if known else Accumulated(limit)


def check_parameters(detector: Detector) -> None:
    """Refuse wrong parameters."""
    check_mode(detector.mode, "Detector")
    check_function(detector.time, "Detector", "time")
    check_function(detector.kind, "Detector", "kind")
    if detector.order not in ("refuse", "trust"):
        raise ParameterError(f"Detector: order must be 'refuse' or 'trust', got {detector.order!r}")
    if detector.full not in ("error", "drop_newest", "drop_oldest"):
        raise ParameterError(
            f"Detector: full must be 'error', 'drop_newest' or 'drop_oldest', got {detector.full!r}"
        )
    if detector.strategy not in STRATEGIES:
        raise ParameterError(
            f"Detector: strategy must be one of {', '.join(STRATEGIES)}, got {detector.strategy!r}"
        )
    if detector.strategy != "sequential" and detector.manager is None:
        raise ParameterError(
            f"Detector: strategy={detector.strategy!r} needs a manager that lends workers, such as "
            "ThreadManager(2) of millstream.concurrency"
        )
    if detector.max_pending is not None and detector.max_pending < 1:
        raise ParameterError(f"Detector: max_pending must be at least 1, got {detector.max_pending}")


def is_composite(node: Node) -> bool:
    """Return whether what a node gives is always an occurrence."""
    return isinstance(node.event, Constructor | Timed) or getattr(node.event, "name", None) is not None


def nameless(event: Any) -> str:
    """Return the kind of events where no type is known by its name."""
    return "event"


def dispatch(
    analysis: Analysis, machines: Machines
) -> tuple[dict[Any, Feed], list[tuple[Callable[[Any], Any], Feed]]]:
    """Return the takers of events by type name, and those behind a predicate."""
    by_kind: dict[Any, Feed] = {}
    by_test = []
    for index, feed in machines.leaves.items():
        what = analysis.nodes[index].event.what  # type: ignore[attr-defined]
        if isinstance(what, str):
            by_kind[what] = feed
        else:
            by_test.append((as_function(what), feed))
    return by_kind, by_test
