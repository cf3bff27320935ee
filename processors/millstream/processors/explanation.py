"""Explanation: where an output comes from, as text and as a small picture."""

from __future__ import annotations

from html import escape
from typing import Any, ClassVar

from attrs import frozen

from .errors import shorten
from .lineage import Lineage


@frozen
class Explanation:
    """Where an output comes from: prints as text, and notebooks show its picture.

    Attributes
    ----------
    number, output
        Which output, and its value.
    lineage
        The input events it comes from, and how many older ones have been left out.
    query
        What it went through.
    """

    #: characters of an event in the picture, and how many events are shown there and in the text
    WIDTH: ClassVar[int] = 44
    SHOWN: ClassVar[int] = 20
    number: int
    output: Any
    lineage: Lineage
    query: str

    @property
    def positions(self) -> list[int]:
        """Return the positions of the input events."""
        return [cause.position for cause in self.lineage.causes]

    @property
    def events(self) -> list[Any]:
        """Return the input events, oldest first."""
        return [cause.event for cause in self.lineage.causes]

    def __str__(self) -> str:
        lines = [f"output {self.number}: {shorten(self.output)}"]
        lines += [f"  from {text}" for text in self._causes(120)]
        return "\n".join([*lines, f"  by {shorten(self.query)}"])

    def _causes(self, width: int) -> list[str]:
        """Return a text for each cause; of more than `SHOWN`, the newest ones."""
        causes = self.lineage.causes[-self.SHOWN :]
        hidden = len(self.lineage.causes) - len(causes) + self.lineage.omitted
        several = any(cause.port for cause in self.lineage.causes)
        return [f"{hidden} older events"] * bool(hidden) + [
            f"event {c.position}{f' of input {c.port}' if several else ''}: {shorten(c.event, width)}"
            for c in causes
        ]

    @property
    def svg(self) -> str:
        """Return a picture: the events on the left, what they became on the right."""
        causes, row = self._causes(self.WIDTH), 30
        middle, height = len(causes) * row / 2 + 10, max(len(causes), 1) * row + 20
        boxes = [_box(10, 10 + k * row, text) for k, text in enumerate(causes)]
        lines = [
            f'<path d="M 430 {22 + k * row} C 480 {22 + k * row} 470 {middle} 518 {middle}"/>'
            for k in range(len(causes))
        ]
        output = _box(520, middle - 12, f"output {self.number}: {shorten(self.output, self.WIDTH)}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 950 {height}" '
            f'width="950" height="{height}" '
            'font-family="sans-serif" font-size="13"><g fill="none" stroke="#888">'
            f"{''.join(lines)}</g>{''.join(boxes)}{output}</svg>"
        )

    def _repr_svg_(self) -> str:
        return self.svg


def _box(x: float, y: float, text: str) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="420" height="24" rx="4" fill="#f4f6f8" stroke="#667"/>'
        f'<text x="{x + 8}" y="{y + 16}" fill="#222">{escape(text)}</text>'
    )
