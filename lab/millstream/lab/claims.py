"""Claims: statements about figures that a run confirms or refutes."""

from __future__ import annotations

from typing import Any

from attrs import frozen

#: what became of a claim -> how it is said
CONFIRMED, REFUTED, UNTRIED = "confirmed", "NOT confirmed", "not tried"


@frozen
class Claim:
    """A statement, what became of it, and the figures it rests on."""

    what: str
    holds: bool | None
    ours: Any = ""
    paper: Any = ""

    @property
    def outcome(self) -> str:
        """Return `confirmed`, `NOT confirmed` or `not tried`."""
        return UNTRIED if self.holds is None else CONFIRMED if self.holds else REFUTED


def claim(what: str, holds: bool | None, ours: Any = "", paper: Any = "") -> Claim:
    """State something about figures: whether it holds (None: not tried), our figures, and a paper's.

    >>> claim("multi-threading raises throughput", 1.7 > 1, ours="1.7 times", paper="2.0 times").outcome
    'confirmed'
    >>> claim("jumps at multiples of 64 streams", None, "integers of any size").outcome
    'not tried'
    """
    return Claim(what, None if holds is None else bool(holds), ours, paper)


def near(ours: float, paper: float, share: float = 0.1) -> bool:
    """Tell whether a figure is that of the paper, up to a share of it.

    >>> near(95, 100), near(80, 100)
    (True, False)
    """
    return abs(ours - paper) <= share * abs(paper)
