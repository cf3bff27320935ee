"""Spontaneous Pingu creation: no Pingu appears that was not there in the event before."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final

from millstream.processors import Apply, Fork, Passthrough, Query, Trim, X, Y

from . import game
from .pingus import Pingu, PingusXml, statuses
from .problem import Problem, Verdict, first_false
from .spread import Messages

# The property


def ids(snapshot: Iterable[Pingu]) -> frozenset[int]:
    """Return who is there."""
    return frozenset([p.id for p in snapshot])


def ids_in(message: str) -> frozenset[str]:
    """Return who is in the text of a message; nothing else is read."""
    return frozenset([i for i, _ in statuses(message)])


def no_newcomer() -> Query:
    """Return a comparison of each set with the one before it, from the second one on."""
    return Fork(2) | (Trim(1) & Passthrough()) | Apply(X <= Y)


def query() -> Query:
    """Return a query that is false where somebody appears; its first output is about the second event."""
    return Apply(ids) | no_newcomer()


def check(events: Iterable[Any]) -> Verdict:
    """Return where somebody appears."""
    return first_newcomer(query()(events))


def first_newcomer(verdicts: Iterable[Any]) -> Verdict:
    """Return the position of the event that the first false verdict is about."""
    found = first_false(verdicts)
    return None if found is None else found + 1


def brute(events: Iterable[Any]) -> Verdict:
    """Compare everybody in every event with everybody in the event before."""
    for position, (before, now) in enumerate(pairwise(events), 1):
        if any(all(p.id != q.id for q in before) for p in now):
            return position
    return None


TEXT: Final = Messages(ids_in, no_newcomer, first_newcomer)

PROBLEM: Final = Problem(
    name="creation",
    title="Spontaneous Pingu creation",
    says="no Pingu appears that was not there before",
    make=game.make,
    faults={name: game.REBELS[name] for name in ("conjured", "revenant")},
    format=PingusXml(),
    query=query,
    check=check,
    brute=brute,
    versions=TEXT.versions(),
    sizes=game.SIZES,
)
