"""What runs tell Prometheus, OpenTelemetry and the log."""

import logging
import urllib.request
from operator import add

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import CollectorRegistry, start_http_server

from millstream.processors import Apply, Filter, Passthrough, X, connect
from millstream.processors.metrics import RunCollector, observe


def busy_run(**options):
    """A run with a queue: the sum of each event and the next one above 1."""
    start, some, join = Passthrough(), Filter(X > 1), Apply(add)
    query = connect(
        start.outputs[0] >> join.inputs[0],
        start.outputs[0] >> some.inputs[0],
        some.outputs[0] >> join.inputs[1],
    )
    run = query.into(**options)
    run.push_all([0, 1, 2])
    return run


def test_prometheus_scrapes_a_real_server():
    registry = CollectorRegistry()
    registry.register(RunCollector(busy_run(counting=True), "sums"))
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as page:
            lines = page.read().decode().split("\n")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert 'millstream_events_total{input="0",query="sums"} 3.0' in lines
    assert 'millstream_taken_total{processor="1:Filter",query="sums"} 3.0' in lines
    assert 'millstream_emitted_total{processor="1:Filter",query="sums"} 1.0' in lines
    assert 'millstream_waiting{input="0",processor="2:Apply",query="sums"} 2.0' in lines


def test_opentelemetry_reads_the_same():
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    observe(busy_run(), "sums", provider.get_meter("test"))
    found = {
        metric.name: [(dict(p.attributes), p.value) for p in metric.data.data_points]
        for resource in reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    provider.shutdown()
    assert found["millstream.events"] == [({"input": "0", "query": "sums"}, 3)]
    assert ({"processor": "2:Apply", "input": "0", "query": "sums"}, 2) in found["millstream.waiting"]


def test_log_names_a_skipped_failure_once_for_each_processor(caplog):
    with caplog.at_level(logging.WARNING):
        Apply(lambda x: 1 / x).into(on_error="skip").push_all([1, 0, 0])
    (record,) = caplog.records
    assert record.name == "millstream.processors.wiring"
    assert "failed on 0 at input event 1" in record.getMessage()
