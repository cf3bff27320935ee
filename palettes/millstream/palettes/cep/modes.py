"""Consumption modes: which of the possible combinations a constructor gives, and what it uses up."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    """What a constructor does when an operand completes a combination.

    A *candidate* is a combination that satisfies order, `within` and `where`, and contains the newcomer.

    ``ALL``
        Every candidate; nothing is used up. Memory grows unless `within` or `max_pending` bounds it.
    ``CHRONICLE``
        The oldest candidate; what it is made of is used up.
    ``RECENT``
        Only the newest occurrence of each operand competes; nothing is used up but by a newer one.
    ``CONTINUOUS``
        Every candidate; whatever took part is used up.
    ``CUMULATIVE``
        One composite of everything that is in some candidate; whatever took part is used up.
    """

    ALL = "ALL"
    CHRONICLE = "CHRONICLE"
    RECENT = "RECENT"
    CONTINUOUS = "CONTINUOUS"
    CUMULATIVE = "CUMULATIVE"

    def __repr__(self) -> str:
        return f"Mode.{self.name}"
