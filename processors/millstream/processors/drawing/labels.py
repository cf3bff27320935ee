"""What is written on a box, and how much room it takes.

There are no font metrics here: widths are estimated generously, so that text stays inside its box in any
common font.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from unicodedata import east_asian_width

from attrs import frozen

from ..processor import Processor

LONGEST = 40  # characters of a processor's parameters that are shown
LINE = 24  # characters in a line of parameters
TITLE_SIZE, TEXT_SIZE = 13, 11  # font sizes in pixels
TITLE_HEIGHT, LINE_HEIGHT = 18, 14


@frozen
class Label:
    """The texts on a box: a pictogram (may be empty), a title, and lines of parameters."""

    icon: str
    title: str
    lines: tuple[str, ...]

    @property
    def heading(self) -> str:
        """Return pictogram and title."""
        return f"{self.icon} {self.title}".lstrip()

    @property
    def width(self) -> float:
        """Return the room that the texts need, in pixels."""
        return max(
            [columns(self.heading) * TITLE_SIZE * 0.65, *(columns(t) * TEXT_SIZE * 0.62 for t in self.lines)]
        )

    @property
    def height(self) -> float:
        """Return the room that the texts need, in pixels."""
        return TITLE_HEIGHT + LINE_HEIGHT * len(self.lines)


def columns(text: str) -> int:
    """Count the columns of a text in a monospaced font; a wide character takes two.

    >>> columns("abc"), columns("和")
    (3, 2)
    """
    return sum(1 + (east_asian_width(character) in "WF") for character in text)


def parameters(node: Processor) -> str:
    """Return the configuration of a processor as its repr shows it, without the class name.

    >>> from millstream.processors import Apply, X
    >>> parameters(Apply(X + 1))
    'X + 1'
    """
    text, opening = repr(node), f"{type(node).__name__}("
    if text.startswith(opening) and text.endswith(")"):
        text = text[len(opening) : -1]
    return " ".join(text.split())


def line(node: Processor) -> str:
    """Return the label of a processor on one line.

    >>> from millstream.processors import Apply, X
    >>> line(Apply(X + 1))
    'ƒ Apply(X + 1)'
    """
    text = f"{node.name}({shorten_text(parameters(node))})"
    return f"{type(node).icon} {text}".lstrip()


def label(node: Processor) -> Label:
    """Return the texts on the box of a processor.

    >>> from millstream.processors import Apply, X
    >>> label(Apply(X + 1)).lines
    ('X + 1',)
    """
    lines = textwrap.wrap(shorten_text(parameters(node)), LINE)
    return Label(type(node).icon, node.name, tuple(lines))


def shorten_text(text: str, longest: int = LONGEST) -> str:
    """Cut a text and mark the cut.

    >>> shorten_text("abcdefgh", 5)
    'abcd…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def terminal_names(side: str, count: int) -> Iterator[tuple[str, str]]:
    """Yield name and label of each input or output; a number is shown where there are several.

    >>> list(terminal_names("in", 2))
    [('in0', 'in 0'), ('in1', 'in 1')]
    """
    for k in range(count):
        yield f"{side}{k}", side if count == 1 else f"{side} {k}"
