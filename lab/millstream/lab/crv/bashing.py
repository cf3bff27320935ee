"""Endless bashing: a Pingu that has begun to bash goes on until it walks again.

Strong: a Pingu that still bashes when the trace ends, or that is gone, violates the property.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from millstream.palettes.ltl import Monitor
from millstream.processors import Apply, Query

from . import game
from .pingus import Pingu, PingusXml, statuses
from .problem import Problem, Verdict, definite
from .spread import Messages

# The property

RULE: Final = "G forall i in bashers: bashes(i) U walks(i)"

ATOMS: Final = {
    "bashes": lambda event, i: i in event["bashers"],
    "walks": lambda event, i: i in event["walkers"],
}


def roles(snapshot: Iterable[Pingu]) -> dict[str, Any]:
    """Return who bashes and who walks.

    >>> roles([Pingu(1, "BASHER", 0, 0, 0, 0), Pingu(2, "WALKER", 0, 0, 0, 0)])
    {'bashers': [1], 'walkers': [2]}
    """
    return {
        "bashers": [p.id for p in snapshot if p.status == "BASHER"],
        "walkers": [p.id for p in snapshot if p.status == "WALKER"],
    }


def roles_in(message: str) -> dict[str, Any]:
    """Return the same of the text of a message; positions are not read."""
    found = statuses(message)
    return {
        "bashers": [i for i, status in found if status == "BASHER"],
        "walkers": [i for i, status in found if status == "WALKER"],
    }


def monitor() -> Monitor:
    """Return the monitor of who bashes and who walks."""
    return Monitor(RULE, atoms=ATOMS, semantics="rv-ltl")


def query() -> Query:
    """Return the verdict on the snapshots so far, as if the game ended here."""
    return Apply(roles) | monitor()


def judge(verdicts: Iterable[Any]) -> Verdict:
    """Return where it is certain, or the end if somebody still bashes."""
    return definite(verdicts, at_end=True)


def check(events: Iterable[Any]) -> Verdict:
    """Return where somebody stops bashing in the wrong way, or never does."""
    return judge(query()(events))


def brute(events: Iterable[Any]) -> Verdict:
    """Follow everybody who bashes, from every event on."""
    trace = [{p.id: p.status for p in snapshot} for snapshot in events]
    found = [
        _stops(trace, i, who)
        for i, statuses in enumerate(trace)
        for who, status in statuses.items()
        if status == "BASHER"
    ]
    return min((p for p in found if p is not None), default=None)


def _stops(trace: list[dict[int, str]], start: int, who: int) -> Verdict:
    for position in range(start, len(trace)):
        status = trace[position].get(who)
        if status == "WALKER":
            return None
        if status != "BASHER":
            return position
    return len(trace)


TEXT: Final = Messages(roles_in, monitor, judge)

PROBLEM: Final = Problem(
    name="bashing",
    title="Endless bashing",
    says="a Pingu that begins to bash goes on until it walks again",
    make=game.make,
    faults={name: game.REBELS[name] for name in ("stubborn", "vanishing", "endless")},
    format=PingusXml(),
    query=query,
    check=check,
    brute=brute,
    versions=TEXT.versions(),
    sizes=game.SIZES,
)
