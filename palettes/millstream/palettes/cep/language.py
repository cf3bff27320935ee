"""The functions that users compose event expressions with; each says precisely when it occurs.

``t(a)`` is the time stamp of an occurrence. Conditions on order are strict, so that simultaneous occurrences
are never before one another, in whichever order they arrive.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from millstream.processors.errors import ParameterError, shorten

from .constructors import AnyOf, Aperiodic, Before, Between, Lacking, Periodic, Plus, Repeated
from .expressions import Either, First, Last, On, as_event, check_duration, check_function
from .modes import Mode


def on(what: Any) -> On:
    """Return an atomic type: by name, or by any predicate (function or expression) on events.

    In a `Detector` of several named expressions, the name of one of them stands for its composites.

    >>> from millstream.processors import E
    >>> on("A"), on(E.amount > 100)
    (on('A'), on(E.amount > 100))
    """
    if not isinstance(what, str):
        check_function(what, "on", "what")
    return On(what)


def before(left: Any, right: Any, *, mode: Mode | None = None, where: Any = None) -> Before:
    """Pairs (a, b) with t(a) < t(b), at t(b).

    >>> on("A") >> on("B")
    before(on('A'), on('B'))
    """
    return Before(as_event(left, "before"), as_event(right, "before"), mode=mode, condition=where)


def sequence(*steps: Any, mode: Mode | None = None, where: Any = None) -> Before:
    """Tuples (a1, ..., an) with t(a1) < ... < t(an), at t(an); as `before` repeated from the left.

    Each step applies the mode to what the steps before it have found; the condition applies to the whole.

    >>> sequence("A", "B", "C").within(10)
    sequence(on('A'), on('B'), on('C'), within=10)
    """
    if len(steps) < 2:
        raise ParameterError(f"sequence: expected at least two operands, got {len(steps)}")
    events = [as_event(step, "sequence") for step in steps]
    begun = Before(events[0], events[1], mode=mode, condition=where if len(events) == 2 else None)
    last = len(events) - 1
    return reduce(
        lambda left, k: Before(left, events[k], mode=mode, flat=True, condition=where if k == last else None),
        range(2, len(events)),
        begun,
    )


def both(*operands: Any, mode: Mode | None = None, where: Any = None) -> AnyOf:
    """Tuples with one occurrence of each operand, in any order of time, at the time of the newest.

    >>> on("A") & on("B")
    both(on('A'), on('B'))
    """
    return any_of(len(operands), *operands, mode=mode, where=where)


def any_of(number: int, *operands: Any, mode: Mode | None = None, where: Any = None) -> AnyOf:
    """Tuples with one occurrence of each of `number` different operands, at the time of the newest.

    >>> any_of(2, "A", "B", "C")
    any_of(2, on('A'), on('B'), on('C'))
    """
    if not 2 <= number <= len(operands):
        raise ParameterError(
            f"any_of: number must be from 2 to the {len(operands)} operands given, got {shorten(number)}"
        )
    return AnyOf(number, tuple(as_event(o, "any_of") for o in operands), mode=mode, condition=where)


def repeated(number: int, of: Any, *, mode: Mode | None = None, where: Any = None) -> Repeated:
    """Tuples of `number` different occurrences of one operand in order of arrival, at the time of the last.

    >>> repeated(3, "failure").within(60)
    repeated(3, on('failure'), within=60)
    """
    if number < 2:
        raise ParameterError(f"repeated: number must be at least 2, got {shorten(number)}")
    return Repeated(number, as_event(of, "repeated"), mode=mode, condition=where)


def either(*operands: Any) -> Either:
    """Every occurrence of every operand, unchanged.

    >>> on("A") | on("B")
    either(on('A'), on('B'))
    """
    if not operands:
        raise ParameterError("either: expected at least one operand")
    return Either(tuple(as_event(o, "either") for o in operands))


def first(of: Any) -> First:
    """The oldest occurrence, unchanged; of simultaneous ones, the first to arrive."""
    return First(as_event(of, "first"))


def last(of: Any) -> Last:
    """The newest occurrence, unchanged, at the end of the trace; of simultaneous ones, the last to arrive.

    Whatever is built on it waits for the end of the trace as well, and keeps its operands until then.
    """
    return Last(as_event(of, "last"))


def between(
    begin: Any,
    middle: Any,
    end: Any,
    *,
    least: int = 1,
    most: int | None = None,
    mode: Mode | None = None,
    where: Any = None,
) -> Between:
    """Tuples (a, b1, ..., bk, c): all b with t(a) < t(b) < t(c), and their number is in bounds; at t(c).

    >>> between("order", "reminder", "payment", least=1, most=2)
    between(on('order'), on('reminder'), on('payment'), least=1, most=2)
    """
    if least < 0 or (most is not None and most < least):
        raise ParameterError(f"between: expected 0 <= least <= most, got least={least}, most={most}")
    parts = [as_event(e, "between") for e in (begin, middle, end)]
    return Between(*parts, least=least, most=most, mode=mode, condition=where)


def without(begin: Any, missing: Any, end: Any, *, mode: Mode | None = None, where: Any = None) -> Between:
    """Pairs (a, c), t(a) < t(c), with no occurrence of `missing` strictly between them; at t(c).

    >>> without("order", "payment", "shipment")
    between(on('order'), on('payment'), on('shipment'), least=0, most=0)
    """
    return between(begin, missing, end, least=0, most=0, mode=mode, where=where)


def aperiodic_star(
    begin: Any, middle: Any, end: Any, *, mode: Mode | None = None, where: Any = None
) -> Between:
    """Snoop's A*: at the end, once, with all occurrences of the middle since the beginning (at least one)."""
    return between(begin, middle, end, mode=mode, where=where)


def aperiodic(begin: Any, middle: Any, end: Any, *, mode: Mode | None = None, where: Any = None) -> Aperiodic:
    """Snoop's A: pairs (a, b), t(a) < t(b), with no c of `end` that closed a strictly between; at t(b).

    A beginning is closed by the first c with t(a) < t(c). In CHRONICLE each c closes one, the oldest.
    """
    parts = [as_event(e, "aperiodic") for e in (begin, middle, end)]
    return Aperiodic(*parts, mode=mode, condition=where)


def periodic(begin: Any, period: Any, end: Any, *, mode: Mode | None = None) -> Periodic:
    """Snoop's P: (a,) at t(a) + period, t(a) + 2 period, ..., until the first c of `end` after a.

    >>> periodic("start", 60, "stop")
    periodic(on('start'), 60, on('stop'))
    """
    check_duration(period, "periodic", "more than")
    return Periodic(as_event(begin, "periodic"), period, as_event(end, "periodic"), mode=mode)


def plus(of: Any, delay: Any) -> Plus:
    """Snoop's PLUS: (a,) at t(a) + delay.

    >>> plus("order", 30)
    plus(on('order'), 30)
    """
    check_duration(delay, "plus")
    return Plus(as_event(of, "plus"), delay)


def lacking(begin: Any, missing: Any, duration: Any = None, *, mode: Mode | None = None) -> Lacking:
    """Absence: (a,) at t(a) + duration if no b of `missing` has t(a) < t(b) <= t(a) + duration.

    Without a duration, at the end of the trace if no b came after a. At the end of the trace nothing can
    come any more, so whatever is open then is lacking.

    >>> lacking("request", "reply", 5)
    lacking(on('request'), on('reply'), 5)
    """
    if duration is not None:
        check_duration(duration, "lacking", "more than")
    return Lacking(as_event(begin, "lacking"), as_event(missing, "lacking"), duration, mode=mode)
