"""The step of a detector, put together as one function when it is wired.

Reading time and kind, the check of the order and the choice of the leaf stand in a row, and what a detector
does not need (timers, predicates, meetings) is not there at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import gt
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn

from millstream.processors import MISSING
from millstream.processors.apply import inline_call
from millstream.processors.errors import shorten

from .operators.build import run_timers

if TYPE_CHECKING:
    from .detector import Detector

BEGIN = """
def step(self, x):
    memory = self.remembered
    if memory is nothing:
        memory = self.remembered = blank()
    try:
        time = {time}
    except unreadable as error:
        refuse_reading("time", error)
"""
READ_KIND = """\
    try:
        kind = {kind}
    except unreadable as error:
        refuse_reading("kind", error)
"""
#: what an event that failed has left behind
CLEAR = """\
    for meeting in meetings:
        meeting.inbox.clear()
"""
CHECK_ORDER = """\
    try:
        if not time >= memory[0]:
            refuse(time, memory[0])
    except TypeError as error:
        refuse_value(time, error)
"""
CHECK_KIND = """\
    if kind not in kinds:
        refuse_kind(kind, kinds)
"""
TIMERS = """\
    run_timers(timers, memory, later(time), flush)
"""
KEEP_TIME = """\
    memory[0] = time
"""
BY_KIND = """\
    feed = takers(kind)
    if feed is not None:
        feed(memory, (time, time, x))
"""
BY_TEST = """\
    for test, feed in tests:
        if test(x):
            feed(memory, (time, time, x))
"""
FLUSH = """\
    flush(memory)
"""
FORGET = """\
    if memory == initial:
        self.remembered = nothing
"""


def fused_step(detector: Detector) -> Callable[[Any], None]:
    """Return the function that takes an event."""
    machines, by_kind, by_test = detector.machines, detector.by_kind, detector.by_test
    time, time_names = _read(detector.time, "t")
    kind, kind_names = _read(detector.kind, "k")
    parts = {
        BEGIN: True,
        CLEAR: bool(machines.meetings),
        CHECK_ORDER: detector.order == "refuse",
        READ_KIND: bool(by_kind) or detector.kinds is not None,
        CHECK_KIND: detector.kinds is not None,
        TIMERS: bool(machines.timers),
        KEEP_TIME: detector.keeps_time,
        BY_KIND: bool(by_kind),
        BY_TEST: bool(by_test),
        FLUSH: bool(machines.meetings),
        FORGET: not detector.keeps_time,
    }
    text = "".join(part for part, needed in parts.items() if needed).format(time=time, kind=kind)
    scope: dict[str, Any] = {
        "nothing": MISSING, "blank": detector.blank, "initial": detector.blank(),
        "refuse": refuse, "refuse_value": refuse_value, "refuse_kind": refuse_kind,
        "unreadable": UNREADABLE, "refuse_reading": refuse_reading,
        "kinds": detector.kinds, "meetings": machines.meetings, "timers": machines.timers,
        "run_timers": run_timers, "later": partial(partial, gt),
        "takers": by_kind.get, "tests": by_test, "flush": detector.flush,
    }  # fmt: skip
    scope |= time_names | kind_names
    exec(compile(text, f"<{shorten(detector, 60)}>", "exec"), scope)
    return MethodType(scope["step"], detector)


def _read(function: Any, prefix: str) -> tuple[str, dict[str, Any]]:
    """Return the text that reads something of the event x, and the names in it."""
    text, names = inline_call(function, 1)
    renamed = {name: f"{prefix}_{name}" for name in names}
    return text.format("x", **renamed), {renamed[name]: value for name, value in names.items()}


#: what reading something of an event raises if it is not there
UNREADABLE = (LookupError, AttributeError, TypeError)


def refuse_reading(what: str, error: Exception) -> NoReturn:
    """Raise the error for an event whose time stamp or type is not where it is looked for."""
    raise ValueError(
        f"the {what} of the event cannot be read, {type(error).__name__}: {error}; "
        f"{what}= of the detector says where it stands"
    ) from error


def refuse(time: Any, now: Any) -> NoReturn:
    """Raise the error for an event that is out of order."""
    if time != time:
        raise ValueError("the time stamp of the event is not a number")
    raise ValueError(
        f"the event is out of order: its time stamp is {time}, {now} came before; "
        "put Reorder(bound) of millstream.palettes.timesync in front"
    )


def refuse_value(time: Any, error: TypeError) -> NoReturn:
    """Raise the error for a time stamp that is none."""
    if time is None:
        raise ValueError("the event has no time stamp: its time is None")
    raise ValueError(f"the time stamp {shorten(time, 40)} cannot be compared: {error}") from None


def refuse_kind(kind: Any, kinds: frozenset[str]) -> NoReturn:
    """Raise the error for an event of a type that does not exist."""
    raise ValueError(f"unknown type {kind!r}; known are {', '.join(map(repr, sorted(kinds)))}")
