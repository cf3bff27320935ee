"""`ParallelDetector`: a detector whose operators run on the workers of a `ThreadManager`.

All decisions are those of a `Network`, made by the thread that pushes events; workers only do the work of a
station, with a memory that travels with it, so that threads and processes serve alike. Events are taken in
chunks, and all hearts beat at the end of a chunk: then everything that can be known has come out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from attrs import define, field, frozen

from millstream.processors import (
    MISSING,
    ClosedError,
    Processor,
    Run,
    as_function,
    processor,
    state,
    transient,
)
from millstream.processors.errors import at_least, fail_parameter

from .detector import Detector
from .expressions import Only
from .forest import Analysis, Node
from .fused import refuse, refuse_kind, refuse_value
from .hybrid import Strategy, table_6
from .network import Network, Result, Work, do
from .occurrence import EARLIEST
from .operators.simple import outcome
from .stations import is_predicate, stations

STRATEGIES = ("sequential", "pps", "ups", "hybrid", "auto")
#: how many events tell `auto` what an event costs, and from how many seconds on workers are worth it
SAMPLE, WORTH = 16, 2e-4
#: stands for the strategy after a failure
FAILED = "failed"


@frozen(eq=False)
class Workshop:
    """Makes, inside a worker, the function that does the work of any station."""

    analysis: Analysis
    limit: int | None
    full: str

    def __call__(self) -> Callable[[Work], Result]:
        return partial(do, stations(self.analysis, self.limit, self.full))


def is_stateless(node: Node) -> bool:
    """Return whether the entries of a node do not depend on each other, so that each may be a task."""
    return is_predicate(node) or (isinstance(node.event, Only) and not node.deferred)


@define
class Carrier:
    """Carries work from a network to workers and back."""

    network: Network
    crew: Any
    #: stations whose entries are spread over the workers
    spread: frozenset[int]
    tasks: deque[tuple[int, int, Work]] = field(factory=deque)
    #: station -> results of its parts, None where one is missing
    parts: dict[int, list[Result | None]] = field(factory=dict)
    #: what each worker is doing: (station, part)
    doing: dict[int, tuple[int, int]] = field(factory=dict)

    def run(self) -> None:
        """Carry until there is no work."""
        while True:
            self._claim()
            self._hand_out()
            if not self.doing:
                return
            member, result = self.crew.receive()
            index, part = self.doing.pop(member)
            self.parts[index][part] = result
            self._deliver(index)

    def _claim(self) -> None:
        for index in self.network.stations:
            work = self.network.claim(index)
            if work is None:
                continue
            _, memory, batch, now = work
            pieces = self.crew.size if index in self.spread else 1
            size = -(-len(batch) // pieces)
            works = [(index, memory, batch[k : k + size], now) for k in range(0, len(batch), size)]
            self.parts[index] = [None] * len(works)
            self.tasks.extend((index, k, w) for k, w in enumerate(works))

    def _hand_out(self) -> None:
        for member in range(self.crew.size):
            if self.tasks and member not in self.doing:
                index, part, work = self.tasks.popleft()
                self.crew.send(member, work)
                self.doing[member] = index, part

    def _deliver(self, index: int) -> None:
        results = [r for r in self.parts[index] if r is not None]
        if len(results) == len(self.parts[index]):
            del self.parts[index]
            self.network.deliver(index, (results[-1][0], [item for _, found in results for item in found]))


@processor
class ParallelDetector(Processor):
    """Run a `Detector` on several workers; it finds the same, in the same order, a chunk of events at a time.

    Parameters
    ----------
    detector
        What to find. With worker processes its conditions and predicates have to pickle.
    manager
        A `millstream.concurrency.ThreadManager`; if it lends nothing, the work is done here.
    strategy
        ``"pps"``: the operators work side by side, each on its own stream, merged in order of time.
        ``"ups"``: besides, the entries of predicates and conditions on single occurrences are tasks of their
        own. ``"hybrid"``: that, where nothing above needs order (the paper's Table 6). ``"sequential"``: as
        the detector does it. ``"auto"``: ``"ups"`` if the first events take long enough to be worth it, else
        ``"sequential"``.
    chunk
        How many events are taken at a time.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from millstream.palettes.cep import Detector, Occurrence, before
    >>> history = [Occurrence("A", 1), Occurrence("B", 2), Occurrence("A", 3), Occurrence("B", 4)]
    >>> with ThreadManager(2) as manager:
    ...     for found in ParallelDetector(Detector(before("A", "B")), manager, "pps")(history):
    ...         print(found)
    (A.1, B.2, 2)
    (A.3, B.4, 4)
    """

    icon: ClassVar[str] = "⋈"
    detector: Detector
    manager: Any
    strategy: str = "auto"
    chunk: int = field(default=256, validator=at_least(1))
    run: Run = transient()
    network: Network = transient()
    workshop: Workshop = transient()
    read_time: Callable[[Any], Any] = transient()
    read_kind: Callable[[Any], Any] = transient()
    #: (kind, time, event) of events that have not been worked on
    waiting: list[tuple[Any, Any, Any]] = state(of=lambda self: [])
    now: Any = state(EARLIEST)
    chosen: str | None = state(of=lambda self: None if self.strategy == "auto" else self.strategy)
    #: state of the detector, if it runs sequentially; else what the network has dumped
    kept: Any = state(MISSING)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.detector, Detector):
            fail_parameter(self, "detector", "a Detector", self.detector)
        if self.strategy not in STRATEGIES:
            fail_parameter(self, "strategy", f"one of {', '.join(STRATEGIES)}", self.strategy)

    def prepare(self) -> None:
        """Wire the detector, for what is done here, and build the network."""
        detector = self.detector
        analysis = detector.analysed()
        self.run = detector.into(self.emit)
        self.workshop = Workshop(analysis, detector.max_pending, detector.full)
        self.network = Network.of(analysis, interval=1, limit=detector.max_pending, full=detector.full)
        self.network.hearts.clear()
        self.read_time = as_function(detector.time)
        named = self.network.leaves or detector.kinds is not None
        self.read_kind = as_function(detector.kind) if named else _nameless

    def step(self, event: Any) -> None:
        """Check an event and put it with the others; work on them if there are enough."""
        self.waiting.append(self._checked(event))
        self.now = self.waiting[-1][1]
        if (
            len(self.waiting) >= (SAMPLE if self.chosen is None else self.chunk)
            or self.chosen == "sequential"
        ):
            self._work()

    def _checked(self, event: Any) -> tuple[Any, Any, Any]:
        time, kind, kinds = self.read_time(event), self.read_kind(event), self.detector.kinds
        try:
            if not time >= self.now:
                refuse(time, self.now)
        except TypeError as error:
            refuse_value(time, error)
        if kinds is not None and kind not in kinds:
            refuse_kind(kind, kinds)
        return kind, time, event

    def end(self) -> None:
        """Work on the rest, and come to the end of the trace."""
        self._work(ends=True)

    def _work(self, ends: bool = False) -> None:
        waiting, self.waiting = self.waiting, []
        if self.chosen == FAILED:
            raise ClosedError("a chunk of events has failed; load a saved state or reset the run")
        if self.chosen is None:
            self.chosen = "ups" if self._is_costly(waiting) else "sequential"
        if self.chosen == "sequential":
            self._work_here([event for _, _, event in waiting], ends)
        else:
            self._work_there(waiting, ends)

    def _is_costly(self, waiting: list[tuple[Any, Any, Any]]) -> bool:
        """Return whether events take long, measured on a run whose outcome is not used."""
        trial = self.detector.into()
        begun = perf_counter()
        for _, _, event in waiting:
            trial.entry(event)
        return perf_counter() - begun > WORTH * len(waiting)

    def _work_here(self, events: list[Any], ends: bool) -> None:
        run = self.run
        run.give(run.fresh() if self.kept is MISSING else self.kept)
        try:
            for event in events:
                run.entry(event)
            if ends:
                run.finish()
        finally:
            self.kept = run.take()

    def _work_there(self, waiting: list[tuple[Any, Any, Any]], ends: bool) -> None:
        network = self.network
        if self.kept is MISSING:
            self.kept = (*Network.of(network.analysis).dump()[:4], [])
        network.load(self.kept)
        for kind, time, event in waiting:
            network.put(kind, time, event)
        network.end() if ends else network.beat()
        try:
            self._carry()
        except BaseException:
            self.chosen = FAILED
            raise
        found, self.kept = network.found(), network.dump()
        for entry in found:
            self.emit(outcome(entry, self.read_kind))

    def _carry(self) -> None:
        from millstream.concurrency import Crew

        with Crew(self.manager, self.workshop, self.manager.limit) as crew:
            if crew.size:
                Carrier(self.network, crew, self._spread()).run()
            else:
                self.network.run()

    def _spread(self) -> frozenset[int]:
        """Return the stations whose entries are tasks of their own."""
        analysis = self.network.analysis
        stateless = frozenset(n.index for n in analysis.nodes if is_stateless(n))
        if self.chosen == "hybrid":
            return stateless & {k for k, s in table_6(analysis).items() if s is Strategy.UPS}
        return stateless if self.chosen == "ups" else frozenset()


def _nameless(event: Any) -> str:
    return "event"
