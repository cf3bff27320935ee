"""Turn around: a walker that meets a blocker turns: its velocity changes sign in the next event."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final

from millstream.palettes.ltl import Monitor
from millstream.processors import Apply, Query

from . import game
from .pingus import Pingu, PingusXml, parse
from .problem import Problem, Verdict, definite
from .spread import Messages

# The property

RULE: Final = "G forall w in walkers: forall b in blockers: meets(w, b) -> X turned(w)"

ATOMS: Final = {
    "meets": lambda event, w, b: game.meets(w, b),
    "turned": lambda event, w: w.vx * event["velocity"].get(w.id, 0.0) < 0,
}


def roles(snapshot: Iterable[Pingu]) -> dict[str, Any]:
    """Return the walkers, the blockers, and everybody's velocity."""
    return {
        "walkers": [p for p in snapshot if p.status == "WALKER"],
        "blockers": [p for p in snapshot if p.status == "BLOCKER"],
        "velocity": {p.id: p.vx for p in snapshot},
    }


def monitor() -> Monitor:
    """Return the monitor of walkers and blockers."""
    return Monitor(RULE, atoms=ATOMS, semantics="rv-ltl")


def query() -> Query:
    """Return the verdict on the snapshots so far."""
    return Apply(roles) | monitor()


def judge(verdicts: Iterable[Any]) -> Verdict:
    """Return where it is certain that somebody should have turned; the end of the game excuses everybody."""
    return definite(verdicts, at_end=False)


def check(events: Iterable[Any]) -> Verdict:
    """Return where somebody should have turned."""
    return judge(query()(events))


# From the text of messages: who meets whom is found where a message is read, and only that is passed on

MET: Final = "G forall w in met: X turned(w)"


def meetings(message: str) -> dict[str, Any]:
    """Return the walkers that meet a blocker, and everybody's velocity."""
    found = roles(parse(message))
    blockers = found["blockers"]
    met = [w for w in found["walkers"] if any(game.meets(w, b) for b in blockers)] if blockers else []
    return {"met": met, "velocity": found["velocity"]}


def met_monitor() -> Monitor:
    """Return the monitor of those who have met a blocker."""
    return Monitor(MET, atoms=ATOMS, semantics="rv-ltl")


TEXT: Final = Messages(meetings, met_monitor, judge)


def brute(events: Iterable[Any]) -> Verdict:
    """Try every pair of characters in every pair of events."""
    for position, (before, now) in enumerate(pairwise(events), 1):
        for w in before:
            for b in before:
                close = abs(w.x - b.x) < 6 and abs(w.y - b.y) < 10
                if w.status == "WALKER" and b.status == "BLOCKER" and close:
                    later = [p.vx for p in now if p.id == w.id]
                    if not later or not (later[0] < 0 < w.vx or w.vx < 0 < later[0]):
                        return position
    return None


PROBLEM: Final = Problem(
    name="turnaround",
    title="Turn around",
    says="a walker that meets a blocker turns in the next event",
    make=game.make,
    faults={"pusher": game.REBELS["pusher"]},
    format=PingusXml(),
    query=query,
    check=check,
    brute=brute,
    versions=TEXT.versions(),
    sizes=game.SIZES,
)
