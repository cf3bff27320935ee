"""SQL injection: no string that comes from outside is used before it is sanitised.

``input(s)`` makes string s dirty, also one that was sanitised before. ``derive(a, b)``: b is made from a, and
is dirty from then on if a is. ``sanitise(s)`` cleans s, but nothing derived from it. ``use(s)`` of a dirty
string violates the property.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

from millstream.processors import Inline, Query, Uniform, processor, state

from .logs import Log
from .problem import SIZES, Event, Path, Problem, Verdict, Wrong, first_false
from .taint import in_pieces, on_spark

LOG: Final = Log({"input": (str,), "derive": (str, str), "sanitise": (str,), "use": (str,)})

FAULTS: Final = {
    "input": "an input is used as it came",
    "derived": "a string derived from an input over several steps is used, after the input was sanitised",
    "again": "a sanitised string is input again and used",
}

# The property


@processor
class CleanUses(Uniform):
    """Say of each event whether it is anything but the use of a dirty string.

    >>> list(
    ...     CleanUses()([("input", "a"), ("derive", "a", "b"), ("sanitise", "a"), ("use", "a"), ("use", "b")])
    ... )
    [True, True, True, True, False]
    """

    dirty: set[Any] = state(of=lambda self: set())

    def step(self, event: Any) -> bool:
        """Keep the set of dirty strings up to date."""
        return event[1] not in self.dirty if event[0] == "use" else self.change(event)

    def change(self, event: Any) -> bool:
        """Take an event that is no use; return True."""
        name, dirty = event[0], self.dirty
        if name == "derive":
            if event[1] in dirty:
                dirty.add(event[2])
        elif name == "input":
            dirty.add(event[1])
        elif name == "sanitise":
            dirty.discard(event[1])
        return True

    def inline(self) -> Inline:
        """Return `step` without a call for uses, the most frequent events."""
        return Inline(
            out=("({0}[1] not in {me}.dirty if {0}[0] == 'use' else {change}({0}))",),
            names={"me": self, "change": self.change},
        )


def query() -> Query:
    """Return a query that is false where the property is violated."""
    return CleanUses()


def check(events: Iterable[Any]) -> Verdict:
    """Return the first use of a dirty string."""
    return first_false(query()(events))


def brute(events: Iterable[Any]) -> Verdict:
    """Ask of each use whether its string is dirty, looking back through the whole trace."""
    trace = list(events)

    def is_dirty(string: Any, until: int) -> bool:
        for i in range(until - 1, -1, -1):
            name, *args = trace[i]
            if name == "sanitise" and args[0] == string:
                return False
            if name == "input" and args[0] == string:
                return True
            if name == "derive" and args[1] == string and is_dirty(args[0], i):
                return True
        return False

    return next((i for i, e in enumerate(trace) if e[0] == "use" and is_dirty(e[1], i)), None)


# Traces


def make(events: int, random: Random, fault: str | None) -> Iterator[Any]:
    """Yield a trace: requests one after the other, each with strings of its own and some shared ones."""
    wrong = _wrong(fault)
    made, request = 0, 0
    while made < events:
        story = _request(request, random)
        if wrong and made + len(story) > events // 2:
            story, wrong = [*story, *wrong], []
        yield from story[: events - made]
        made += len(story)
        request += 1


def _request(number: int, random: Random) -> list[Event]:
    """Return the events of a request: an input, what is derived from it, and uses once it is clean."""
    raw, page = f"s{number}", f"t{int(1000 * random.random())}"
    parts = [f"{raw}_{i}" for i in range(1 + int(4 * random.random()))]
    story: list[Event] = [("input", raw), ("use", page)]
    story += [("derive", before, after) for before, after in zip([raw, *parts], parts, strict=False)]
    story += [("sanitise", string) for string in (raw, *parts)]
    story += [("use", string) for string in parts for _ in range(3)]
    return [*story, ("derive", raw, page), ("use", page)]


def _wrong(fault: str | None) -> list[Event]:
    """Return events that end in a violation; their strings occur nowhere else."""
    return {
        None: [],
        "input": [("input", "bad"), Wrong(("use", "bad"))],
        "derived": [
            *(("input", "bad"), ("derive", "bad", "worse"), ("derive", "worse", "worst")),
            *(("sanitise", "bad"), ("use", "bad"), Wrong(("use", "worst"))),
        ],
        "again": [("input", "bad"), ("sanitise", "bad"), ("input", "bad"), Wrong(("use", "bad"))],
    }[fault]


def by_columns(path: Path) -> Verdict:
    """Return the verdict on a file, by arrays instead of events (needs the extra ``columns``)."""
    from .injection_columns import by_columns

    return by_columns(path)


PROBLEM: Final = Problem(
    name="injection",
    title="SQL injection",
    says="no string from outside, nor one derived from it, is used before it is sanitised",
    make=make,
    faults=FAULTS,
    format=LOG,
    query=query,
    check=check,
    brute=brute,
    versions={"workers": in_pieces, "columns": by_columns, "spark": on_spark},
    sizes={**SIZES, "competition": 9_400_000},
)
