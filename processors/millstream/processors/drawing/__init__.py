"""Pictures of queries: Mermaid and Graphviz text, and SVG drawn by our own code.

`labels` says what is written on a box and `text` writes Mermaid and dot. For SVG, `items` are what a picture
consists of, `layers` and `crossings` sort them into columns, `layout` gives them coordinates and `svg` draws.
None of it runs a query: a picture is made from the description alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from .svg import svg
from .text import dot, mermaid

if TYPE_CHECKING:
    from ..graph import Graph
    from ..query import Query

__all__ = ["Drawing"]


def _graph(query: Query) -> Graph:
    return query.graph


@frozen(repr=False)
class Drawing:
    """A picture of a query; a notebook shows it by itself.

    Examples
    --------
    >>> from millstream.processors import Apply, Filter, X
    >>> picture = (Apply(X + 1) | Filter(X > 2)).draw()
    >>> print(picture.mermaid)
    flowchart LR
      in0((in))
      n0["ƒ Apply(X + 1)"]
      n1["▽ Filter(X #gt; 2)"]
      out0((out))
      in0 --> n0
      n0 --> n1
      n1 --> out0
    >>> picture.svg.startswith("<svg")
    True
    """

    graph: Graph = field(converter=_graph)

    @property
    def mermaid(self) -> str:
        """Return the picture as a Mermaid flowchart, which Markdown viewers draw."""
        return mermaid(self.graph)

    @property
    def dot(self) -> str:
        """Return the picture in Graphviz's language."""
        return dot(self.graph)

    @property
    def svg(self) -> str:
        """Return the picture as SVG: no scripts, no fonts to load, readable on light and on dark pages."""
        return svg(self.graph)

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file; its suffix, .svg, .dot or .mmd, says in which form.

        >>> from millstream.processors import Passthrough
        >>> Passthrough().draw().save("picture.png")
        Traceback (most recent call last):
        ValueError: Drawing.save: the file must end in .svg, .dot or .mmd, got 'picture.png'
        """
        path = Path(path)
        forms = {".svg": svg, ".dot": dot, ".mmd": mermaid}
        if path.suffix not in forms:
            raise ValueError(f"Drawing.save: the file must end in .svg, .dot or .mmd, got {str(path)!r}")
        path.write_text(forms[path.suffix](self.graph) + "\n", encoding="utf-8")
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self.svg}</div>'

    def __repr__(self) -> str:
        return f"Drawing({self.graph!r})"

    def __str__(self) -> str:
        return self.mermaid
