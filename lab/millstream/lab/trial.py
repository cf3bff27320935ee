"""What the function of an experiment works with: seeded randomness, measurements, figures, checks.

A trial lives in the process of one point. Whatever it finds is handed over at once (`tell`), so that figures
survive even if the process does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from random import Random
from time import perf_counter, perf_counter_ns
from typing import Any, NoReturn

from attrs import define, field

from .load import Moment, Usage
from .measure import collector_at_rest
from .rows import Row

Tell = Callable[[dict[str, Any]], None]
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


class CheckFailed(Exception):
    """What an experiment computed is wrong; its figures are worth nothing."""


class Skipped(Exception):
    """An experiment cannot run on this machine."""


@define(eq=False)
class Trial:
    """One execution of an experiment at one point.

    Examples
    --------
    >>> told = []
    >>> trial = Trial(told.append, seed=7, repetitions=2)
    >>> numbers = [trial.random.randrange(10) for _ in range(1000)]
    >>> trial.measure(lambda: sum(numbers), events=1000) == sum(numbers)
    True
    >>> list(told[-1]["figures"])
    ['events', 'seconds', 'Hz', 'best Hz', 'CPU s', 'load', 'own load']
    >>> trial.row(width=10, size=42)
    >>> told[-1]
    {'kind': 'row', 'figures': {'width': 10, 'size': 42}}
    """

    tell: Tell
    seed: int = 1
    quick: bool = False
    warm_up: int = 1
    repetitions: int = 3
    #: seeded; points of the same experiment get the same numbers
    random: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.random = Random(self.seed)

    def record(self, **figures: Any) -> None:
        """Keep figures of this point."""
        self.tell({"kind": "figures", "figures": figures})

    def row(self, **figures: Any) -> None:
        """Keep a row of figures: a point may give several."""
        self.tell({"kind": "row", "figures": figures})

    def progress(self, done: float, of: float = 1.0, what: str = "") -> None:
        """Tell those who watch how far this point is."""
        self.tell({"kind": "progress", "share": done / of, "what": what})

    def check(self, holds: object, what: str) -> None:
        """Fail unless something holds: figures of a wrong result are worth nothing."""
        if not holds:
            raise CheckFailed(what)

    def skip(self, why: str) -> NoReturn:
        """Give this point up because the machine lacks something."""
        raise Skipped(why)

    def measure(
        self,
        body: Callable[[], Any],
        events: int,
        *,
        warm_up: int | None = None,
        repetitions: int | None = None,
        **labels: Any,
    ) -> Any:
        """Run something several times; keep its figures and return its last result.

        ``Hz`` is the average number of events per second over all measured repetitions, ``best Hz`` that of
        the fastest one; ``load`` is the share of all cores in use (see `millstream.lab.load`). With labels,
        the figures become a row of their own.
        """
        for _ in range(self.warm_up if warm_up is None else warm_up):
            body()
        count = max(1, self.repetitions if repetitions is None else repetitions)
        times, begin = [], Moment.now()
        for k in range(count):
            result, seconds = timed(body)
            times.append(seconds)
            self.progress(k + 1, count)
        figures = summary(events, times, Usage.between(begin, Moment.now()))
        self._keep({**labels, **figures} if labels else figures, bool(labels))
        return result

    def _keep(self, figures: Row, as_row: bool) -> None:
        if as_row:
            self.row(**figures)
        else:
            self.record(**figures)

    def compare(self, forms: Mapping[str, Callable[[], Any]], events: int, **labels: Any) -> dict[str, Any]:
        """Measure several forms of the same thing in turns; keep one row, and return their last results.

        The row has ``<form> Hz`` of the fastest repetition of each, and ``<form> / <first>``, the ratios to
        the first form. Taking turns keeps a slow moment of the machine from falling on one of them alone.
        """
        results: dict[str, Any] = {}
        best = dict.fromkeys(forms, math.inf)
        for k in range(self.warm_up + self.repetitions):
            for name, body in forms.items():
                results[name], seconds = timed(body)
                if k >= self.warm_up:
                    best[name] = min(best[name], seconds)
            self.progress(k + 1, self.warm_up + self.repetitions)
        first = next(iter(forms))
        rates = {f"{name} Hz": events / best[name] for name in forms}
        ratios = {f"{name} / {first}": best[first] / best[name] for name in forms if name != first}
        self.row(**labels, events=events, **rates, **ratios)
        return results

    def latency(self, push: Callable[[Any], Any], events: Iterable[Any], **labels: Any) -> None:
        """Push events one by one; keep percentiles of the time that each took, in microseconds."""
        times: list[int] = []
        clock, keep = perf_counter_ns, times.append
        with collector_at_rest():
            for event in events:
                begin = clock()
                push(event)
                keep(clock() - begin)
        figures = {f"{name} us": value / 1000 for name, value in percentiles(times).items()}
        self._keep({**labels, **figures}, bool(labels))


def timed(body: Callable[[], Any]) -> tuple[Any, float]:
    """Run something with the garbage collector at rest; return its result and the seconds it took."""
    with collector_at_rest():
        begin = perf_counter()
        result = body()
        return result, perf_counter() - begin


def summary(events: int, times: list[float], usage: Usage) -> Row:
    """Return the figures of some repetitions, each with the same number of events."""
    return {
        "events": events,
        "seconds": sum(times) / len(times),
        "Hz": events * len(times) / sum(times),
        "best Hz": events / min(times),
        "CPU s": usage.cpu / len(times),
        "load": usage.load,
        "own load": usage.own,
    }


def percentiles(values: list[int]) -> dict[str, float]:
    """Return percentiles (the nearest rank) and the greatest value.

    >>> percentiles(list(range(1, 1001)))
    {'p50': 500, 'p90': 900, 'p99': 990, 'p99.9': 999, 'max': 1000}
    """
    if not values:
        raise ValueError("latency: no events, so there are no percentiles")
    ordered = sorted(values)
    found = {name: ordered[math.ceil(share * len(ordered)) - 1] for name, share in PERCENTILES.items()}
    return {**found, "max": ordered[-1]}
