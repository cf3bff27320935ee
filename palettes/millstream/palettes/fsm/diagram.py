"""StateDiagram: a picture of a machine's states and transitions, as Mermaid, Graphviz and SVG text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from millstream.processors import MISSING
from millstream.processors.describing import describe
from millstream.processors.expressions import Expression

from .svg import svg

if TYPE_CHECKING:
    from .machine import MooreMachine


@frozen(repr=False)
class StateDiagram:
    """A picture of a machine; a notebook shows it by itself.

    >>> from millstream.palettes.fsm import MooreMachine
    >>> machine = MooreMachine.from_table("off", {"off": {"push": "on"}, "on": {"push": "off"}}, {"on": 1})
    >>> print(machine.diagram().mermaid)
    stateDiagram-v2
      s0 : off
      s1 : on → 1
      [*] --> s0
      s0 --> s1 : 'push'
      s1 --> s0 : 'push'
    """

    machine: MooreMachine

    @property
    def boxes(self) -> list[str]:
        """Return what is written on each state: its name, and its symbol if that is another."""
        symbols = self.machine.symbols or {}
        return [_box(s, symbols.get(s, MISSING)) for s in self.machine.states]

    @property
    def arrows(self) -> list[tuple[int, int, str]]:
        """Return the arrows, those between the same states as one: (source, target, label)."""
        states, found = self.machine.states, dict[tuple[int, int], list[str]]()
        for t in self.machine.transitions:
            found.setdefault((states.index(t.source), states.index(t.target)), []).append(t.label)
        return [(a, b, ", ".join(labels)) for (a, b), labels in found.items()]

    @property
    def mermaid(self) -> str:
        """Return the picture as a Mermaid state diagram, which Markdown viewers draw."""
        lines = [f"s{k} : {_plain(text)}" for k, text in enumerate(self.boxes)]
        lines.append("[*] --> s0")
        lines += [f"s{a} --> s{b} : {_plain(label)}" for a, b, label in self.arrows]
        return "\n  ".join(["stateDiagram-v2", *lines])

    @property
    def dot(self) -> str:
        """Return the picture in Graphviz's language."""
        lines = ["rankdir=LR", "node [shape=box, style=rounded]", "start [shape=point]", "start -> s0"]
        lines += [f"s{k} [label={_quoted(text)}]" for k, text in enumerate(self.boxes)]
        lines += [f"s{a} -> s{b} [label={_quoted(label)}]" for a, b, label in self.arrows]
        return "\n  ".join(["digraph {", *lines]) + "\n}"

    @property
    def svg(self) -> str:
        """Return the picture as an SVG document."""
        return svg(self.boxes, self.arrows)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file: .svg, .dot or .mmd by its ending."""
        texts = {".svg": "svg", ".dot": "dot", ".mmd": "mermaid"}
        kind = texts.get(Path(path).suffix)
        if kind is None:
            raise ValueError(f"a picture is saved as .svg, .dot or .mmd, got {str(path)!r}")
        Path(path).write_text(getattr(self, kind), encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg


def _box(name: Any, symbol: Any) -> str:
    same = symbol is MISSING or (not isinstance(symbol, Expression) and symbol == name)
    return str(name) if same else f"{name} → {describe(symbol)}"


def _plain(text: str) -> str:
    """Return a text that a Mermaid state diagram can carry: it knows no quotes, only numbered characters."""
    return "".join(f"#{ord(c)};" if c in '#;:<>"{}\n' else c for c in text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
