"""next and hasNext: an iterator is asked whether there is an element before it is asked for it.

``hasNext(i, true)`` says that iterator i has told so. ``next(i)`` uses this up, and a later
``hasNext(i, false)`` takes it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

from millstream.palettes.fol import Verdicts
from millstream.processors import Query

from .logs import Log
from .parts import Parts
from .problem import Problem, Verdict, Wrong, first_false

LOG: Final = Log({"hasNext": (str, str), "next": (str,)})

FAULTS: Final = {
    "unasked": "next without hasNext since the last next",
    "empty": "next although hasNext said that there is nothing",
}

#: iterators in use at the same time
TOGETHER: Final = 20

# The property

RULE: Final = """next(i) -> Y [hasNext(i, "true"), next(i) | hasNext(i, "false"))"""


def query() -> Query:
    """Return a query that is false where the property is violated."""
    return Verdicts(RULE)


def check(events: Iterable[Any]) -> Verdict:
    """Return the first call of next without permission."""
    return first_false(query()(events))


def brute(events: Iterable[Any]) -> Verdict:
    """Look back from each next to the last event of its iterator."""
    trace = list(events)
    for i, event in enumerate(trace):
        if event[0] == "next":
            before = [e for e in trace[:i] if e[1] == event[1]]
            if not before or before[-1] != ("hasNext", event[1], "true"):
                return i
    return None


# Traces


def make(events: int, random: Random, fault: str | None) -> Iterator[Any]:
    """Yield a trace of iterators that are walked through side by side."""
    names = iter(range(events + TOGETHER))
    walks = [_walk(f"i{next(names)}", random) for _ in range(TOGETHER)]
    for position in range(events):
        if fault and position >= events // 2:
            answer, fault = "true" if fault == "unasked" else "false", None
            yield "hasNext", "rebel", answer
            yield from [("next", "rebel")] if answer == "true" else []
            yield Wrong(("next", "rebel"))
        k = int(TOGETHER * random.random())
        event = next(walks[k], None)
        if event is None:
            walks[k] = _walk(f"i{next(names)}", random)
            event = next(walks[k])
        yield event


def _walk(name: str, random: Random) -> Iterator[Any]:
    """Yield the calls on one iterator."""
    while random.random() < 0.9:
        for _ in range(1 + int(2 * random.random())):
            yield "hasNext", name, "true"
        yield "next", name
    yield "hasNext", name, "false"


# Several workers: each has some of the iterators

PARTS: Final = Parts(LOG, {"hasNext": 1, "next": 1}, query)


PROBLEM: Final = Problem(
    name="iterators",
    title="next and hasNext",
    says="next is called only after hasNext has said that there is an element",
    make=make,
    faults=FAULTS,
    format=LOG,
    query=query,
    check=check,
    brute=brute,
    versions={"workers": PARTS, "spark": PARTS.on_spark},
)
