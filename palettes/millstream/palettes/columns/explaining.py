"""Explanation: which part of a columnar query runs how, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from .program import Program


@frozen
class Part:
    """One processor: its place in the query, itself, and how it runs."""

    place: str
    processor: str
    how: str

    @property
    def columnar(self) -> bool:
        """Whether it runs on columns."""
        return not self.how.startswith("event by event")


@frozen(repr=False)
class Explanation:
    """All processors of a query, in order; prints as a table."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, program: Program) -> Explanation:
        """Return the explanation of a compiled query."""
        layout = program.layout
        whole = None if layout.unfit is None else f"event by event: {layout.unfit}"
        rows = zip(layout.places, layout.graph.nodes, program.kernels, strict=True)
        return cls(tuple(Part(place, repr(node), whole or kernel.how) for place, node, kernel in rows))

    def __repr__(self) -> str:
        widths = [max(len(getattr(p, name)) for p in self.parts) for name in ("place", "processor")]
        return "\n".join(f"{p.place:{widths[0]}}  {p.processor:{widths[1]}}  {p.how}" for p in self.parts)
