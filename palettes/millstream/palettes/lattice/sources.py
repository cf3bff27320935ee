"""Local states from what real programs write: logs with vector clocks, and spans of distributed tracing.

Log lines with vector clocks (one JSON object a line, clocks as ``{"process": count}``, as ShiViz and GoVector
write them) need no more than reading. Spans know only their parents, so their clocks are computed: a span is
two events of its service, start and end; a span whose parent belongs to another service was caused by a
message, so the parent's start is known at its start, and its end is known at the parent's end. Events of one
service are ordered by its own clock; clocks of different services are never compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from millstream.processors import as_function
from millstream.processors.errors import shorten

from .clocks import LocalState

#: an event of a service: (span id, False at its start and True at its end)
Moment = tuple[str, bool]


def from_clock_log(lines: Iterable[str], processes: Sequence[str]) -> Iterator[LocalState]:
    """Read local states from JSON lines with ``process``, ``clock`` (a mapping) and ``value``.

    Examples
    --------
    >>> list(from_clock_log(['{"process": "b", "clock": {"a": 2, "b": 1}, "value": "got it"}'], ["a", "b"]))
    [LocalState(process='b', clock=(2, 1), value='got it')]
    """
    for position, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            process, clock = entry["process"], entry["clock"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"line {position}: expected a JSON object with process and clock ({error})"
            ) from error
        if unknown := [p for p in (process, *clock) if p not in processes]:
            known = ", ".join(map(repr, processes))
            raise ValueError(f"line {position}: unknown process {unknown[0]!r} (processes: {known})")
        yield LocalState(process, tuple(clock.get(p, 0) for p in processes), entry.get("value"))


def from_spans(
    spans: Iterable[Mapping[str, Any]], processes: Sequence[str] | None = None, label: Any = None
) -> list[LocalState]:
    """Turn spans (OpenTelemetry-like mappings) into local states of their services.

    The value of a local state is the tuple of the names of the service's open spans, oldest first. States
    start with number 0, where nothing is open.

    Parameters
    ----------
    spans
        Mappings with ``span_id``, ``service``, ``start``, ``end``, perhaps ``parent_id``, ``name`` and
        ``kind`` (``"consumer"``: nobody waits for its end). `otlp_spans` reads them from an export.
    processes
        The services, in the order of the clock's components; by default all, sorted.
    label
        What stands for an open span instead of its name: a function or expression of the span.

    Examples
    --------
    >>> shop = {"span_id": "1", "service": "shop", "name": "buy", "start": 0, "end": 9}
    >>> bank = {"span_id": "2", "parent_id": "1", "service": "bank", "name": "pay", "start": 500, "end": 501}
    >>> for state in from_spans([shop, bank]):
    ...     print(state.process, state.clock, state.value)
    bank (0, 0) ()
    shop (0, 0) ()
    shop (0, 1) ('buy',)
    bank (1, 1) ('pay',)
    bank (2, 1) ()
    shop (2, 2) ()
    """
    by_id = _checked(spans)
    services = sorted({span["service"] for span in by_id.values()}) if processes is None else list(processes)
    if unknown := [span["service"] for span in by_id.values() if span["service"] not in services]:
        raise ValueError(f"unknown process {unknown[0]!r} (processes: {', '.join(map(repr, services))})")
    return _stamp(by_id, services, _name if label is None else as_function(label))


def _name(span: Mapping[str, Any]) -> str:
    return str(span.get("name", span["span_id"]))


def _checked(spans: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the spans by their ids, if each makes sense."""
    by_id: dict[str, Mapping[str, Any]] = {}
    for span in spans:
        if missing := [key for key in ("span_id", "service", "start", "end") if key not in span]:
            raise ValueError(
                f"expected a span with span_id, service, start and end, got no {missing[0]} in"
                f" {shorten(dict(span))}"
            )
        key = str(span["span_id"])
        if key in by_id:
            raise ValueError(f"span {key!r} of service {span['service']!r} came twice")
        if span["end"] < span["start"]:
            raise ValueError(
                f"span {key!r} of service {span['service']!r} ends before it starts:"
                f" {span['end']} < {span['start']}"
            )
        by_id[key] = span
    return by_id


def _causes(by_id: Mapping[str, Mapping[str, Any]]) -> dict[Moment, list[Moment]]:
    """Return for each event the events that it knows of: the one before it, and the messages."""
    moments: list[Moment] = [(key, done) for key in by_id for done in (False, True)]
    moments.sort(key=lambda m: (by_id[m[0]]["end" if m[1] else "start"], m[1]))
    causes: dict[Moment, list[Moment]] = {}
    latest: dict[str, Moment] = {}
    for moment in moments:
        span = by_id[moment[0]]
        causes[moment] = [latest[span["service"]]] if span["service"] in latest else []
        latest[span["service"]] = moment
    for key, span in by_id.items():
        parent = str(span.get("parent_id"))
        if parent in by_id and by_id[parent]["service"] != span["service"]:
            causes[key, False].append((parent, False))
            if span.get("kind") != "consumer":  # nobody waits for a consumer
                causes[parent, True].append((key, True))
    return causes


def _stamp(
    by_id: Mapping[str, Mapping[str, Any]], services: list[str], label: Callable[[Any], Any]
) -> list[LocalState]:
    causes = _causes(by_id)
    clocks: dict[Moment, tuple[int, ...]] = {}
    try:
        order = list(TopologicalSorter(causes).static_order())
    except CycleError as error:
        key, done = error.args[1][0]
        raise ValueError(
            f"span {key!r} of service {by_id[key]['service']!r} {'ends' if done else 'starts'} before its own"
            " cause: check the parents, and that each service orders its spans by one clock"
        ) from error
    zero = (0,) * len(services)
    states = [LocalState(service, zero, ()) for service in services]
    running: dict[str, dict[str, Any]] = {service: {} for service in services}
    for moment in order:
        key, done = moment
        service = by_id[key]["service"]
        k = services.index(service)
        clock = [max(times) for times in zip(zero, *(clocks[c] for c in causes[moment]), strict=True)]
        clock[k] += 1
        clocks[moment] = tuple(clock)
        if done:
            del running[service][key]
        else:
            running[service][key] = label(by_id[key])
        states.append(LocalState(service, tuple(clock), tuple(running[service].values())))
    return states
