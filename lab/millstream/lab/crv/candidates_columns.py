"""Candidate selection by columns: who ranks how many of a party's candidates, counted for all at once."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .log_columns import Ints, Names, blocks
from .problem import Path, Verdict

EVENTS: Final = ("member", "candidate", "rank")
MEMBER, CANDIDATE, RANK = range(3)


def pairs(left: list[Ints], right: list[Ints]) -> tuple[Ints, Ints]:
    """Return the distinct pairs of two columns.

    >>> [column.tolist() for column in pairs([np.array([3, 1, 3])], [np.array([2, 2, 2])])]
    [[1, 3], [2, 2]]
    """
    a, b = np.concatenate(left), np.concatenate(right)
    width = int(b.max(initial=0)) + 1
    joined = np.unique(a * width + b)
    return joined // width, joined % width


def by_columns(path: Path) -> Verdict:
    """Return the verdict on a log, at its end."""
    voters, parties, candidates = Names(), Names(), Names()
    length = 0
    empty = np.empty(0, np.int64)
    columns: list[tuple[list[Ints], list[Ints]]] = [([empty], [empty]) for _ in EVENTS]
    names = {MEMBER: (voters, parties), CANDIDATE: (candidates, parties), RANK: (voters, candidates)}
    for block in blocks(path, EVENTS):
        length += len(block.kinds)
        for kind, (one, other) in names.items():
            these = block.kinds == kind
            columns[kind][0].append(one.of(block.column(1, these)))
            columns[kind][1].append(other.of(block.column(2, these)))
    member, candidate, rank = (pairs(*column) for column in columns)
    content = content_voters(member, candidate, rank, len(voters.known), len(parties.known))
    return None if content.all() else length


def content_voters(
    member: tuple[Ints, Ints],
    candidate: tuple[Ints, Ints],
    rank: tuple[Ints, Ints],
    voters: int,
    parties: int,
) -> NDArray[np.bool_]:
    """Return which voters have a party all of whose candidates they rank."""
    size = np.bincount(candidate[1], minlength=parties)
    # each rank counts for every party of the candidate
    begin, end = (np.searchsorted(candidate[0], rank[1], side) for side in ("left", "right"))
    many = end - begin
    voter = np.repeat(rank[0], many)
    place = np.arange(len(voter)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(begin, many)
    ranked, count = np.unique(voter * parties + candidate[1][place], return_counts=True)
    wanted = member[0] * parties + member[1]
    ranked, count = np.append(ranked, np.iinfo(np.int64).max), np.append(count, 0)  # so that all find a place
    at = np.searchsorted(ranked, wanted)
    found = np.where(ranked[at] == wanted, count[at], 0)
    content = np.zeros(voters, bool)
    content[member[0][found == size[member[1]]]] = True
    return content
