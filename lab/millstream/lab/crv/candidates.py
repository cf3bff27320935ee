"""Candidate selection: every voter ranks all candidates of a party that he or she belongs to.

The events state facts: ``member(v, p)``, voter v belongs to party p; ``candidate(c, p)``; ``rank(v, c, r)``.
A voter is whoever is a member or ranks somebody. The property is judged on all facts, at the end of the
trace; the query also says after every event whether it holds of the facts so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

from millstream.palettes.fol import Facts
from millstream.processors import Query

from .logs import Log
from .parts import Parts
from .problem import SIZES, Event, Path, Problem, Verdict, last_false

LOG: Final = Log({"member": (str, str), "candidate": (str, str), "rank": (str, str, int)})

PARTIES: Final = 20
CANDIDATES: Final = 9
#: how many voters have their say at the same time
TOGETHER: Final = 50

FAULTS: Final = {
    "member": "a voter's only membership is missing",
    "rank": "a voter does not rank one of the candidates",
}

# The property

RULE: Final = """
    (rank(v, d, s) -> exists p: member(v, p))
    & (member(v, q) -> exists p: member(v, p) & forall c: candidate(c, p) -> exists r: rank(v, c, r))
"""


def query() -> Query:
    """Return a query that says after each event whether the rule holds of all facts so far."""
    return Facts(RULE)


def check(events: Iterable[Any]) -> Verdict:
    """Return the verdict at the end."""
    return last_false(query()(events))


def brute(events: Iterable[Any]) -> Verdict:
    """Try every voter, party and candidate."""
    trace = list(events)
    facts = set(trace)
    members = {e[1:] for e in facts if e[0] == "member"}
    ranked = {e[1:3] for e in facts if e[0] == "rank"}
    candidates = {e[1:] for e in facts if e[0] == "candidate"}
    for voter in {v for v, _ in members} | {v for v, _ in ranked}:
        parties = [p for v, p in members if v == voter]
        if not any(all((voter, c) in ranked for c, q in candidates if q == p) for p in parties):
            return len(trace)
    return None


# Traces


def make(events: int, random: Random, fault: str | None) -> Iterator[Any]:
    """Yield all candidates, then the voters, some at a time; a faulty trace lacks one event of a voter."""
    each = CANDIDATES + 1
    parties = max(1, min(PARTIES, (events - each) // CANDIDATES))
    yield from (("candidate", f"c{p}_{c}", f"p{p}") for p in range(parties) for c in range(CANDIDATES))
    voters, rest = divmod(max(each, events - parties * CANDIDATES), each)
    for first in range(0, voters, TOGETHER):
        together: list[Event] = []
        for voter in range(first, min(first + TOGETHER, voters)):
            mine = _voter(voter, parties, random)
            if fault and voter == voters // 2:
                del mine[0 if fault == "member" else -1]
            together += mine
        random.shuffle(together)
        yield from together
    # what is left of the length: ranks given a second time
    yield from (("rank", "v0", f"c0_{c % CANDIDATES}", c) for c in range(rest))


def _voter(voter: int, parties: int, random: Random) -> list[Event]:
    """Return the events of a voter: the membership, then a rank for each candidate of the party."""
    party, name = 0 if voter == 0 else int(parties * random.random()), f"v{voter}"
    ranks = random.sample(range(CANDIDATES), CANDIDATES)
    return [
        ("member", name, f"p{party}"),
        *(("rank", name, f"c{party}_{c}", r) for c, r in enumerate(ranks)),
    ]


# Several workers: each has some of the voters, and all of them know the candidates

KEYS: Final = {"member": 1, "rank": 1, "candidate": None}
PARTS: Final = Parts(LOG, KEYS, query, at_end=True)


def by_columns(path: Path) -> Verdict:
    """Return the verdict on a file, by arrays instead of events (needs the extra ``columns``)."""
    from .candidates_columns import by_columns

    return by_columns(path)


PROBLEM: Final = Problem(
    name="candidates",
    title="Candidate selection",
    says="every voter belongs to a party all of whose candidates he or she ranks",
    make=make,
    faults=FAULTS,
    format=LOG,
    query=query,
    check=check,
    brute=brute,
    versions={"workers": PARTS, "columns": by_columns, "spark": PARTS.on_spark},
    sizes={**SIZES, "quick": 30_000, "competition": 978_000},
)
