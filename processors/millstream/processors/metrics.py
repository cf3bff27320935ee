"""What a run does, for Prometheus and OpenTelemetry.

Both ask the run when they want to know (`Run.statistics`): nothing is added to the path of events. Make the
run with ``counting=True`` to see each processor; positions, queues and skipped failures are known anyway.

    pip install millstream[metrics]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from attrs import frozen

from .statistics import Statistics


class Watched(Protocol):
    """What can be watched: a `Run`, or a `Checkpoint`, which tells of the run that it makes."""

    def statistics(self) -> Statistics:
        """Return what has been done so far."""


#: name -> what it means, and whether it only ever grows
FIGURES = {
    "events": ("events taken by an input of the query", True),
    "skipped": ("failures that a tolerant run has survived", True),
    "taken": ("events taken by a processor", True),
    "emitted": ("events emitted by a processor", True),
    "waiting": ("events that wait at an input of a processor", False),
}


@frozen
class Reading:
    """One figure of a run."""

    name: str
    value: int
    labels: dict[str, str]


def readings(run: Watched) -> Iterator[Reading]:
    """Yield all figures of a run.

    >>> from millstream.processors import Count
    >>> run = Count().into(counting=True)
    >>> run.push_all("abc")
    >>> [(r.name, r.value) for r in readings(run)]
    [('events', 3), ('skipped', 0), ('taken', 3), ('emitted', 3)]
    """
    found = run.statistics()
    for port, position in enumerate(found.positions):
        yield Reading("events", position, {"input": str(port)})
    yield Reading("skipped", found.skipped, {})
    for flow in found.processors:
        here = {"processor": flow.place}
        if flow.taken is not None and flow.emitted is not None:
            yield Reading("taken", flow.taken, here)
            yield Reading("emitted", flow.emitted, here)
        for port, length in enumerate(flow.waiting):
            yield Reading("waiting", length, {**here, "input": str(port)})


@frozen(eq=False)
class RunCollector:
    """A collector of prometheus_client: registered once, asked at every scrape.

    Parameters
    ----------
    run
        The run, or a `Checkpoint`.
    query
        A name for it, which becomes a label.

    Examples
    --------
    >>> from prometheus_client import CollectorRegistry, generate_latest
    >>> from millstream.processors import Count
    >>> run = Count().into()
    >>> run.push_all("abc")
    >>> registry = CollectorRegistry()
    >>> registry.register(RunCollector(run, "letters"))
    >>> print([line for line in generate_latest(registry).decode().split("\\n") if "_events_total{" in line])
    ['millstream_events_total{input="0",query="letters"} 3.0']
    """

    run: Watched
    query: str

    def collect(self) -> Iterator[Any]:
        """Yield the metrics."""
        try:
            from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
        except ImportError as error:
            raise _missing("prometheus-client") from error
        families: dict[str, Any] = {}
        for r in readings(self.run):
            labels = {**r.labels, "query": self.query}
            if r.name not in families:
                meaning, grows = FIGURES[r.name]
                kind = CounterMetricFamily if grows else GaugeMetricFamily
                families[r.name] = kind(f"millstream_{r.name}", meaning, labels=list(labels))
            families[r.name].add_metric(list(labels.values()), r.value)
        yield from families.values()


def observe(run: Watched, query: str, meter: Any = None) -> None:
    """Let OpenTelemetry read the figures of a run.

    Parameters
    ----------
    run
        The run, or a `Checkpoint`.
    query
        A name for it, which becomes an attribute.
    meter
        A meter of OpenTelemetry; that of the global provider if left out.
    """
    try:
        from opentelemetry import metrics
    except ImportError as error:
        raise _missing("opentelemetry-api") from error
    meter = meter or metrics.get_meter("millstream")

    def reader(name: str) -> Any:
        def read(_: Any) -> Iterator[Any]:
            for r in readings(run):
                if r.name == name:
                    yield metrics.Observation(r.value, {**r.labels, "query": query})

        return read

    for name, (meaning, grows) in FIGURES.items():
        create = meter.create_observable_counter if grows else meter.create_observable_gauge
        create(f"millstream.{name}", callbacks=[reader(name)], description=meaning)


def _missing(package: str) -> ImportError:
    return ImportError(f"{package} is not installed: pip install millstream[metrics]")
