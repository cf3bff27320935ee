"""Spans of an OTLP/JSON export (OpenTelemetry), as plain mappings for `from_spans`.

An export nests spans by resource (a service) and scope (a library). Ids of spans are unique within a trace
only, so here they are ``trace/span``. Collectors write one document a line:
``(span for document in JsonLines(path) for span in otlp_spans(document))``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from millstream.processors.errors import shorten

#: the kinds of spans; exports give the number or SPAN_KIND_ and the word
KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")


def otlp_spans(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans of an OTLP/JSON document: ids, service, name, kind, start, end (ns) and attributes.

    Examples
    --------
    >>> service = {"key": "service.name", "value": {"stringValue": "shop"}}
    >>> span = {"traceId": "5b", "spanId": "ee", "name": "buy", "kind": 2,
    ...         "startTimeUnixNano": "100", "endTimeUnixNano": "250"}
    >>> document = {"resourceSpans": [
    ...     {"resource": {"attributes": [service]}, "scopeSpans": [{"spans": [span]}]}]}
    >>> [read] = otlp_spans(document)
    >>> read["span_id"], read["service"], read["kind"], read["end"] - read["start"]
    ('5b/ee', 'shop', 'server', 150)
    """  # fmt: skip
    if "resourceSpans" not in document:
        raise ValueError(f"expected an OTLP/JSON document with resourceSpans, got {shorten(document)}")
    for resource in document["resourceSpans"]:
        about = _attributes(resource.get("resource", {}).get("attributes", ()))
        service = str(about.get("service.name", "unknown_service"))
        for scope in resource.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                yield _plain(span, service)


def _plain(span: Mapping[str, Any], service: str) -> dict[str, Any]:
    try:
        trace, parent = span["traceId"], span.get("parentSpanId")
        return {
            "span_id": f"{trace}/{span['spanId']}",
            "parent_id": f"{trace}/{parent}" if parent else None,
            "service": service,
            "name": span.get("name", span["spanId"]),
            "kind": _kind(span.get("kind", 0)),
            "start": int(span["startTimeUnixNano"]),
            "end": int(span["endTimeUnixNano"]),
            "attributes": _attributes(span.get("attributes", ())),
        }
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(
            f"expected a span with traceId, spanId, startTimeUnixNano and endTimeUnixNano ({error!r}),"
            f" got {shorten(span)} of service {service!r}"
        ) from error


def _kind(kind: int | str) -> str:
    return KINDS[kind] if isinstance(kind, int) else kind.removeprefix("SPAN_KIND_").lower()


def _attributes(pairs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {pair["key"]: _value(pair.get("value", {})) for pair in pairs}


def _value(value: Mapping[str, Any]) -> Any:
    """Return what a typed value of OTLP stands for; 64-bit integers are written as text."""
    for kind, content in value.items():
        if kind == "intValue":
            return int(content)
        if kind == "arrayValue":
            return [_value(item) for item in content.get("values", ())]
        if kind == "kvlistValue":
            return _attributes(content.get("values", ()))
        return content
    return None
