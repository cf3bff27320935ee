"""Mermaid and Graphviz: the same boxes and arrows as text for other programs to draw.

Both draw a group as a box around its content and connect the content directly, so an edge to a group's port
is led on to the port inside that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from ..graph import Group
from ..processor import Processor
from .labels import line, shorten_text, terminal_names

if TYPE_CHECKING:
    from ..graph import Graph, Spot

INDENT = "  "


@frozen
class Arrow:
    """An arrow between named boxes, port numbers where there are several, and the events waiting on it."""

    source: str
    target: str
    ports: str = ""
    initial: tuple[object, ...] = ()

    @property
    def label(self) -> str:
        """Return what is written on the arrow."""
        waiting = ", ".join(map(repr, self.initial))
        return " ".join(filter(None, (self.ports, shorten_text(f"[{waiting}]") if self.initial else "")))


def end(graph: Graph, spot: Spot, side: str, prefix: str = "n") -> tuple[str, Processor, int]:
    """Return the box's name, the processor and the port behind a port of a graph, inside of all groups."""
    number, port = spot
    node, name = graph.nodes[number], f"{prefix}{number}"
    if not isinstance(node, Group):
        return name, node, port
    inner = node.query.graph
    return end(inner, (inner.exits if side == "out" else inner.entries)[port], side, f"{name}_")


def arrows(graph: Graph, prefix: str = "n") -> Iterator[Arrow]:
    """Yield every arrow between processors, those inside groups too."""
    for edge in graph.edges:
        source, giver, out = end(graph, edge.source, "out", prefix)
        target, taker, port = end(graph, edge.target, "in", prefix)
        several = giver.arity[1] > 1 or taker.arity[0] > 1
        yield Arrow(source, target, f"{out} → {port}" if several else "", edge.initial)
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Group):
            yield from arrows(node.query.graph, f"{prefix}{number}_")


def outer_arrows(graph: Graph) -> tuple[list[Arrow], list[Arrow]]:
    """Return the arrows from the inputs and those to the outputs."""
    entering, leaving = [], []
    for k, spot in enumerate(graph.entries):
        name, node, port = end(graph, spot, "in")
        entering.append(Arrow(f"in{k}", name, f"→ {port}" if node.arity[0] > 1 else ""))
    for k, spot in enumerate(graph.exits):
        name, node, port = end(graph, spot, "out")
        leaving.append(Arrow(name, f"out{k}", f"{port} →" if node.arity[1] > 1 else ""))
    return entering, leaving


def boxes(
    graph: Graph,
    box: Callable[[str, str], str],
    opening: Callable[[str, str], str],
    closing: str,
    prefix: str = "n",
) -> Iterator[str]:
    """Yield the lines that declare the boxes, groups around theirs."""
    for number, node in enumerate(graph.nodes):
        name = f"{prefix}{number}"
        if not isinstance(node, Group):
            yield box(name, line(node))
            continue
        yield opening(name, node.name)
        for inner in boxes(node.query.graph, box, opening, closing, f"{name}_"):
            yield INDENT + inner
        yield closing


def assemble(
    head: list[str],
    graph: Graph,
    declared: Iterator[str],
    circle: Callable[[str, str], str],
    arrow: Callable[[Arrow], str],
) -> list[str]:
    """Return all lines: inputs, boxes, outputs, arrows."""
    entering, leaving = outer_arrows(graph)
    lines = [circle(*terminal) for terminal in terminal_names("in", len(graph.entries))]
    lines += declared
    lines += [circle(*terminal) for terminal in terminal_names("out", len(graph.exits))]
    lines += map(arrow, [*entering, *arrows(graph), *leaving])
    return [*head, *(INDENT + text for text in lines)]


def mermaid(graph: Graph) -> str:
    """Return a Mermaid flowchart."""

    def arrow(a: Arrow) -> str:
        stroke = "-.->" if a.initial else "-->"
        label = f"|{mermaid_quoted(a.label)}|" if a.label else ""
        return f"{a.source} {stroke}{label} {a.target}"

    declared = boxes(
        graph,
        lambda name, text: f"{name}[{mermaid_quoted(text)}]",
        lambda name, text: f"subgraph {name}[{mermaid_quoted(text)}]",
        "end",
    )
    return "\n".join(
        assemble(["flowchart LR"], graph, declared, lambda name, text: f"{name}(({text}))", arrow)
    )


def mermaid_quoted(text: str) -> str:
    """Quote a text; Mermaid writes special characters as entities with a number sign.

    >>> mermaid_quoted('E["a"] > 1')
    '"E[#quot;a#quot;] #gt; 1"'
    """
    for character, entity in {
        "#": "#35;",
        '"': "#quot;",
        "<": "#lt;",
        ">": "#gt;",
        "&": "#amp;",
        "`": "#96;",
    }.items():
        text = text.replace(character, entity)
    return f'"{text}"'


def dot(graph: Graph) -> str:
    """Return a Graphviz digraph."""

    def arrow(a: Arrow) -> str:
        attributes = ["style=dashed", "constraint=false"] * bool(a.initial)
        attributes += [f"label={dot_quoted(a.label)}"] * bool(a.label)
        listed = f" [{', '.join(attributes)}]" if attributes else ""
        return f"{a.source} -> {a.target}{listed};"

    declared = boxes(
        graph,
        lambda name, text: f"{name} [label={dot_quoted(text)}];",
        lambda name, text: f"subgraph cluster_{name} {{ label={dot_quoted(text)}; style=dashed;",
        "}",
    )
    head = [
        "digraph {",
        f"{INDENT}rankdir=LR;",
        f'{INDENT}node [shape=box, style=rounded, fontname="sans-serif"];',
    ]

    def circle(name: str, text: str) -> str:
        return f"{name} [label={dot_quoted(text)}, shape=circle];"

    return "\n".join([*assemble(head, graph, declared, circle, arrow), "}"])


def dot_quoted(text: str) -> str:
    r"""Quote a text for Graphviz.

    >>> print(dot_quoted('E["a"]'))
    "E[\"a\"]"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
