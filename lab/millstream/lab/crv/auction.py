"""Auction bidding: items are created, bid for, and sold, before their days have passed.

The property, for every item:

* it is created once, and nothing is said about it before;
* bids strictly increase;
* its auction is over when it is sold, or after `period` ends of day; nothing is said about it afterwards;
* it is sold only if the last bid has reached the minimum, and an auction that runs out of days with such a
  bid violates the property at that end of day. An auction that is open when the trace ends does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from millstream.palettes.fol import Violations
from millstream.palettes.fsm import OTHERWISE, MooreMachine, On, V
from millstream.palettes.slicer import ALL, Slice
from millstream.processors import Fork, Multiplex, Query, X

from .auction_traces import COMPETITION, FAULTS, make
from .logs import Log
from .parts import Parts
from .problem import SIZES, Event, Path, Problem, Verdict, first_output

LOG: Final = Log(
    {"create_auction": (str, int, int), "bid": (str, int), "sold": (str,), "endOfDay": ()},
)

# The property


#: what an auction remembers before it begins
NOTHING: Final = {"last": float("-inf"), "minimum": 0, "days": 0}


def item_of(event: Event) -> Any:
    """Return the item of an event; the end of a day concerns all of them."""
    return ALL if event[0] == "endOfDay" else event[1]


def auction() -> MooreMachine:
    """Return the life of one auction; after its end it is as if it had never been."""
    name, amount = X[0], X[2]
    rules = [
        On("open", (name == "bid") & (amount > V.last), "open", set={"last": amount}),
        On("open", (name == "endOfDay") & (V.days > 1), "open", set={"days": V.days - 1}),
        On("open", (name == "endOfDay") & (V.last < V.minimum), "closed", set=NOTHING),
        On("open", (name == "sold") & (V.last >= V.minimum), "closed", set=NOTHING),
        On("closed", name == "create_auction", "open", set={"minimum": X[2], "days": X[3]}),
        On("closed", name == "endOfDay", "closed"),
        On("wrong", OTHERWISE, "wrong"),
        *[On(state, OTHERWISE, "wrong") for state in ("open", "closed")],
    ]
    return MooreMachine("closed", rules, {"wrong": X}, variables=NOTHING)


#: an item that is created has not been created before
ONCE: Final = "create_auction(i, m, d) -> !(exists n: exists e: Y O create_auction(i, n, e))"


def query() -> Query:
    """Return a query whose outputs are violations."""
    rules: Query = Slice(item_of, auction()) & Violations(ONCE)
    return Fork(2) | rules | Multiplex(2)


def check(events: Iterable[Any]) -> Verdict:
    """Return the first violation, event by event."""
    return first_output(query(), events)


def brute(events: Iterable[Any]) -> Verdict:
    """Judge each item's own events one after the other, straight from the definition."""
    trace = list(events)
    days = [p for p, event in enumerate(trace) if event[0] == "endOfDay"]
    found = []
    for item in {event[1] for event in trace if event[0] != "endOfDay"}:
        mine = [(p, event) for p, event in enumerate(trace) if event[0] != "endOfDay" and event[1] == item]
        found.append(_wrong(mine, days))
    return min((p for p in found if p is not None), default=None)


def _wrong(mine: list[tuple[int, Event]], days: list[int]) -> Verdict:
    """Return where the events of one item first violate the property, given the positions of ends of day."""
    start, first = mine[0]
    if first[0] != "create_auction":
        return start
    minimum, period = first[2:]
    ends = [p for p in days if p > start]
    over = ends[period - 1] if len(ends) >= period else None
    last = None
    for position, event in mine[1:]:
        if over is not None and position > over:
            break
        if event[0] == "bid" and (last is None or event[2] > last):
            last = event[2]
        elif event[0] == "sold" and last is not None and last >= minimum:
            return next((p for p, _ in mine if p > position), None)
        else:
            return position
    if over is None:
        return None
    return over if last is not None and last >= minimum else next((p for p, _ in mine if p > over), None)


# Several workers: each has some of the items, and all of them know the end of a day

KEYS: Final = {"create_auction": 1, "bid": 1, "sold": 1, "endOfDay": None}


def is_violation(_: Any) -> bool:
    """Tell that the query's outputs are violations."""
    return True


PARTS: Final = Parts(LOG, KEYS, query, wrong=is_violation)


def by_columns(path: Path) -> Verdict:
    """Return the verdict on a file, by arrays instead of events (needs the extra ``columns``)."""
    from .auction_columns import by_columns

    return by_columns(path)


PROBLEM: Final = Problem(
    name="auction",
    title="Auction bidding",
    says="bids for an item rise; it is sold once they reach its minimum, before its days have passed",
    make=make,
    faults=FAULTS,
    format=LOG,
    query=query,
    check=check,
    brute=brute,
    versions={"workers": PARTS, "columns": by_columns, "spark": PARTS.on_spark},
    sizes={**SIZES, "competition": sum(COMPETITION.values())},
)
