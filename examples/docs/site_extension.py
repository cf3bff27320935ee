"""What the site needs beyond Markdown: pictures of queries, the examples as pages, a first page at its root.

- ```{drawing}`` runs Python and shows the query that it ends with.
- ```mermaid`` in a README becomes the picture that millstream itself draws for the same text, so that pages
  need no script from elsewhere; readers on the web see Mermaid's.
- ```{examples}`` shows every program of the folder with its picture, its output and its source.
"""

from __future__ import annotations

import ast
from operator import add
from pathlib import Path
from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

from millstream.cli import main
from millstream.palettes.fsm import MooreMachine
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, Cumulate, E

EXAMPLES = Path(__file__).parents[1]
REDIRECT = '<!doctype html><meta charset="utf-8"><title>millstream</title>' + (
    '<meta http-equiv="refresh" content="0; url=examples/docs/index.html">'
    '<p>The documentation begins at <a href="examples/docs/index.html">this page</a>.\n'
)


def picture(svg: str) -> nodes.raw:
    """Return a picture as part of a page."""
    return nodes.raw("", f'<div class="picture">{svg}</div>', format="html")


class DrawingDirective(Directive):
    """Run Python code, and show its text and the picture of the query that its last line is."""

    has_content = True
    option_spec = {"hidden": directives.flag}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Return the code and the picture."""
        text = "\n".join(self.content)
        *before, last = ast.parse(text).body
        if not isinstance(last, ast.Expr):
            raise self.error("the last line must be a query")
        names: dict[str, Any] = {}
        exec(compile(ast.Module(before, []), "<drawing>", "exec"), names)
        drawn = eval(compile(ast.Expression(last.value), "<drawing>", "eval"), names)
        shown = drawn.diagram() if hasattr(drawn, "diagram") else drawn.draw()
        code = [] if "hidden" in self.options else [nodes.literal_block(text, text, language="python")]
        return [*code, picture(shown.svg)]


def drawings() -> dict[str, str]:
    """Return the pictures in the READMEs: their Mermaid text, and our drawing of the same."""
    machine = MooreMachine.from_table("off", {"off": {"push": "on"}, "on": {"push": "off"}})
    queries = [Apply(E.price) | Window(Cumulate(add), 100), Slice(E.user, Count())]
    pictures: list[Any] = [*(q.draw() for q in queries), machine.diagram()]
    return {p.mermaid: p.svg for p in pictures}


class MermaidDirective(Directive):
    """Show the picture of a Mermaid text as millstream draws it; the text itself if it is not one of ours."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        text = "\n".join(self.content)
        svg = drawings().get(text)
        return [picture(svg)] if svg else [nodes.literal_block(text, text, language="text")]


class ExamplesDirective(Directive):
    """Show the programs of the folder."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each program."""
        lines: list[str] = []
        for path in sorted(EXAMPLES.glob("*.py")):
            head, _, rest = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")
            words, _, output = rest.partition("Prints:\n")
            lines += [f"## {path.name}", "", f"**{head}**", "", *_markdown(words), ""]
            lines += ["````text", *output.rstrip().splitlines(), "````", ""]
            lines += [":::{dropdown-source} " + path.name, ":::", ""]
        node = nodes.Element()
        self.state.nested_parse(StringList(lines, source=str(EXAMPLES)), 0, node, match_titles=True)
        return node.children


def _markdown(words: str) -> list[str]:
    """Return the words of a docstring as Markdown: its picture is the indented block after ``::``."""
    lines: list[str] = []
    inside = False
    for line in words.splitlines():
        if line == "::":
            lines, inside = [*lines, "````text"], True
        elif inside and line and not line.startswith("    "):
            lines, inside = [*lines, "````", "", line], False
        elif not (inside and not line and lines[-1] == "````text"):
            lines.append(line.removeprefix("    ") if inside else line)
    while inside and lines[-1] == "":
        lines.pop()
    return [*lines, "````"] if inside else lines


class SourceDirective(Directive):
    """Show the source of an example, folded."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the source without its docstring, which stands above."""
        text = (EXAMPLES / self.arguments[0]).read_text()
        code = text.split('"""\n', 2)[-1].strip()
        return [
            nodes.raw("", "<details><summary>source</summary>", format="html"),
            nodes.literal_block(code, code, language="python"),
            nodes.raw("", "</details>", format="html"),
        ]


class CommandsDirective(Directive):
    """Show what the command and its subcommands say about themselves."""

    def run(self) -> list[nodes.Node]:
        """Return the help texts."""
        found: list[nodes.Node] = []
        root = click.Context(main, info_name="millstream", max_content_width=100)
        for name in main.list_commands(root):
            command = main.get_command(root, name)
            assert command is not None
            context = click.Context(command, info_name=name, parent=root, max_content_width=100)
            text = command.get_help(context)
            section = nodes.section(ids=[f"millstream-{name}"])
            section += [
                nodes.title("", f"millstream {name}"),
                nodes.literal_block(text, text, language="text"),
            ]
            found.append(section)
        return found


def without_blank_ends(app: Any, doctree: nodes.document) -> None:
    """Take away the blank line that ends every example in a README, which doctest needs."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource, block.children = text, []
        block += nodes.Text(text)


def is_noise(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what Python says about the fields of named tuples."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def finish(app: Any, failure: Exception | None) -> None:
    """Put a first page at the root of the site."""
    if failure is None and app.builder.format == "html":
        Path(app.outdir, "index.html").write_text(REDIRECT)


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx what is here."""
    app.add_directive("drawing", DrawingDirective)
    app.add_directive("mermaid", MermaidDirective)
    app.add_directive("examples", ExamplesDirective)
    app.add_directive("dropdown-source", SourceDirective)
    app.add_directive("commands", CommandsDirective)
    app.connect("doctree-read", without_blank_ends)
    app.connect("autodoc-skip-member", is_noise)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
