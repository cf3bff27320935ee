"""OTLP/JSON exports as spans and as local states."""

import json

import pytest

from millstream.palettes.lattice import LatticeWindow, from_spans, otlp_spans, possibly
from millstream.processors import E

DOCUMENT = json.loads("""
{"resourceSpans": [
  {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
   "scopeSpans": [{"scope": {"name": "web", "version": "1.0"}, "spans": [
     {"traceId": "5b8e", "spanId": "01", "name": "order", "kind": 2,
      "startTimeUnixNano": "1544712660000000000", "endTimeUnixNano": "1544712661000000000",
      "attributes": [
        {"key": "http.route", "value": {"stringValue": "/order"}},
        {"key": "http.status", "value": {"intValue": "200"}},
        {"key": "cached", "value": {"boolValue": false}},
        {"key": "items", "value": {"arrayValue": {"values": [{"intValue": "7"}, {"doubleValue": 0.5}]}}},
        {"key": "user", "value": {"kvlistValue": {"values": [{"key": "id", "value": {"intValue": 3}}]}}}]}
     ]}]},
  {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "bank"}}]},
   "scopeSpans": [{"spans": [
     {"traceId": "5b8e", "spanId": "02", "parentSpanId": "01", "name": "pay", "kind": 2,
      "startTimeUnixNano": 1544712999000000000, "endTimeUnixNano": 1544712999000000500}]}]},
  {"resource": {},
   "scopeSpans": [{"spans": [
     {"traceId": "5b8e", "spanId": "03", "parentSpanId": "01", "name": "mail", "kind": "SPAN_KIND_CONSUMER",
      "startTimeUnixNano": "1544712660900000000", "endTimeUnixNano": "1544712669000000000"}]}]}
]}
""")


def test_export_is_read_as_plain_spans():
    order, pay, mail = otlp_spans(DOCUMENT)
    assert order == {
        "span_id": "5b8e/01",
        "parent_id": None,
        "service": "shop",
        "name": "order",
        "kind": "server",
        "start": 1544712660000000000,
        "end": 1544712661000000000,
        "attributes": {
            "http.route": "/order",
            "http.status": 200,
            "cached": False,
            "items": [7, 0.5],
            "user": {"id": 3},
        },
    }
    assert (pay["parent_id"], pay["service"], pay["attributes"]) == ("5b8e/01", "bank", {})
    assert (mail["kind"], mail["service"]) == ("consumer", "unknown_service")


def test_export_becomes_a_computation():
    services = ["shop", "bank", "unknown_service"]
    states = from_spans(otlp_spans(DOCUMENT), services)

    def may(predicate):
        return any((LatticeWindow(services) | possibly(predicate))(states))

    assert [(s.clock, s.value) for s in states if s.process == "bank"] == [
        ((0, 0, 0), ()),
        ((1, 1, 0), ("pay",)),
        ((1, 2, 0), ()),
    ]
    assert not may(lambda shop, bank, post: bank == ("pay",) and shop == ()), (
        "the order waits for the payment"
    )
    assert may(lambda shop, bank, post: post == ("mail",) and shop == ()), "nobody waits for a consumer"


def test_label_says_what_stands_for_an_open_span():
    states = from_spans(otlp_spans(DOCUMENT), label=E.attributes)
    assert {s.value[0]["http.status"] for s in states if s.process == "shop" and s.value} == {200}


def test_other_documents_are_refused():
    with pytest.raises(ValueError, match=r"expected an OTLP/JSON document with resourceSpans, got \{"):
        list(otlp_spans({"spans": []}))
    broken = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "5b", "spanId": "01"}]}]}]}
    with pytest.raises(ValueError, match=r"KeyError\('startTimeUnixNano'\).* of service 'unknown_service'"):
        list(otlp_spans(broken))
