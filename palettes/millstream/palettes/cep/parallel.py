"""The step of a detector on workers: check an event, put it into the flow, pass on what has come out.

`auto` begins with the sequential step, and turns to workers if events take long: it measures the first few
events, and again at ever greater distances, since what an event costs may grow with what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from types import MethodType
from typing import TYPE_CHECKING, Any

from millstream.processors import StreamError, as_function
from millstream.processors.errors import shorten

from .flow import Course, Flow
from .fused import UNREADABLE, refuse, refuse_kind, refuse_reading, refuse_value
from .operators.simple import outcome
from .workshop import Failed, Workshop

if TYPE_CHECKING:
    from .detector import Detector

Step = Callable[[Any], None]
#: how many events tell what an event costs, and from how many seconds on workers are worth it
SAMPLE, WORTH = 16, 2e-4
#: the greatest number of events between two measurements
RARELY = 1 << 16


def parallel_step(detector: Detector, sequential: Step) -> Step:
    """Return the step of a detector whose strategy is not the sequential one."""
    course = _course(detector)
    flowing = _flowing(detector, course)
    return _measuring(detector, course, sequential, flowing) if detector.strategy == "auto" else flowing


def _course(detector: Detector) -> Course:
    analysis = detector.analysed()
    return Course(
        analysis,
        "ups" if detector.strategy == "auto" else detector.strategy,
        detector.manager,
        detector.chunk,
        detector.max_pending,
        detector.full,
        Workshop(analysis, detector.max_pending, detector.full),
        detector.machines.slots,
    )


def _flowing(detector: Detector, course: Course) -> Step:
    read_time, kinds = as_function(detector.time), detector.kinds
    refuses = detector.order == "refuse"

    def step(self: Detector, event: Any) -> None:
        flow = self.remembered
        if flow.__class__ is not Flow:
            flow = self.remembered = Flow.of(course, flow)
        time, kind = _read("time", read_time, event), _read("kind", self.read_kind, event)
        if refuses:
            _check_order(time, flow.network.now)
        if kinds is not None and kind not in kinds:
            refuse_kind(kind, kinds)
        flow.put(kind, time, event, self.wiring.position() if self.wiring is not None else None)
        if flow.ready:
            deliver(self, flow)

    return MethodType(step, detector)


def _read(what: str, function: Callable[[Any], Any], event: Any) -> Any:
    try:
        return function(event)
    except UNREADABLE as error:
        refuse_reading(what, error)


def _check_order(time: Any, now: Any) -> None:
    try:
        if not time >= now:
            refuse(time, now)
    except TypeError as error:
        refuse_value(time, error)


def _measuring(detector: Detector, course: Course, sequential: Step, flowing: Step) -> Step:
    """Return a step that goes on sequentially as long as that is cheap."""
    left = pause = SAMPLE
    times: list[float] = []

    def step(self: Detector, event: Any) -> None:
        nonlocal left
        if left > SAMPLE and self.remembered.__class__ is list:
            left -= 1
            sequential(event)
        elif self.remembered.__class__ is Flow or self.remembered.__class__ is tuple:
            flowing(event)
        else:
            measure(event)

    def measure(event: Any) -> None:
        nonlocal left, pause
        begun = perf_counter()
        sequential(event)
        times.append(perf_counter() - begun)
        left -= 1
        if len(times) == SAMPLE:
            if _are_worth_it(times):
                detector.remembered = begun_flow(event)
            pause = min(pause * 4, RARELY)
            left = pause + SAMPLE
            times.clear()

    def begun_flow(event: Any) -> Flow:
        """Return a flow that goes on after an event where the sequential execution is."""
        flow = Flow.of(course, detector.remembered)
        flow.network.now = as_function(detector.time)(event)
        return flow

    return MethodType(step, detector)


def _are_worth_it(times: list[float]) -> bool:
    """Return whether events take long; the longest two do not count: another program may be to blame."""
    return sum(sorted(times)[:-2]) > WORTH * (len(times) - 2)


def deliver(detector: Detector, flow: Flow) -> None:
    """Emit what is ready; raise a failure when it is its turn, or note it if the run survives failures."""
    while flow.ready:
        ready = flow.ready.popleft()
        if not isinstance(ready, Failed):
            detector.emit(outcome(ready, detector.read_kind))
        elif detector.wiring is not None and detector.wiring.options.tolerant:
            cause = ready.error.__cause__
            assert isinstance(cause, Exception)
            detector.wiring.note(detector.wiring.nodes.index(detector), cause, (ready.event,))
        else:
            told, place = ready.error, detector.name
            error = StreamError(shorten(detector), place, told.event, ready.position, told.reason)
            raise error from told.__cause__


def end_flow(detector: Detector) -> None:
    """Come to the end of the trace, and give the workers back."""
    flow = detector.remembered
    if flow.__class__ is not Flow:
        flow = detector.remembered = Flow.of(_course(detector), flow)
    flow.work(ends=True)
    flow.close()
    deliver(detector, flow)
