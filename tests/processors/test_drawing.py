"""Pictures of queries: their texts literally, and the SVG by its structure."""

import re
from itertools import combinations, pairwise
from operator import add
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.processors import (
    Apply,
    Cumulate,
    Filter,
    Fork,
    Graph,
    Group,
    Passthrough,
    X,
    Y,
    chain,
    connect,
)
from millstream.processors.drawing import Drawing
from millstream.processors.drawing.crossings import inversions
from millstream.processors.drawing.layout import isotonic
from millstream.processors.graph import Edge

SVG = "{http://www.w3.org/2000/svg}"


def even_sum():
    fork, even, keep, total = Fork(2), Apply(X % 2 == 0), Filter(), Cumulate(add)
    return connect(
        fork.outputs[0] >> keep.inputs[0],
        fork.outputs[1] >> even.inputs[0],
        even.outputs[0] >> keep.inputs[1],
        keep.outputs[0] >> total.inputs[0],
    )


def running_total():
    plus, same = Apply(X + Y), Passthrough()
    return connect(
        plus.outputs[0] >> same.inputs[0],
        (same.outputs[0] >> plus.inputs[1]).after(0),
        inputs=[plus.inputs[0]],
        outputs=[same.outputs[0]],
    )


class Rectangle(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other):
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def inside(self, other):
        return (
            other.left <= self.left
            and other.top <= self.top
            and self.right <= other.right
            and self.bottom <= other.bottom
        )


class Picture:
    """A parsed SVG: rectangles of boxes by name, in the coordinates of the whole picture."""

    def __init__(self, query):
        self.root = ElementTree.fromstring(query.draw().svg)
        self.boxes: dict[str, Rectangle] = {}
        self.frames: dict[str, Rectangle] = {}
        self._visit(self.root, 0.0, 0.0)

    def _visit(self, element, x, y):
        moved = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        for child in element:
            if child.get("class") in ("box", "frame"):
                left, top, width, height = (float(child.get(k)) for k in ("x", "y", "width", "height"))
                where = self.boxes if child.get("class") == "box" else self.frames
                where[element.get("data-node")] = Rectangle(
                    x + left, y + top, x + left + width, y + top + height
                )
            self._visit(child, x, y)

    def of(self, kind):
        return [e for e in self.root.iter() if e.get("class", "") == kind]

    def texts(self):
        return [e.text for e in self.root.iter(f"{SVG}text")]


@st.composite
def graphs(draw):
    """Random graphs without cycles, with some arrows that lead back and hold an event."""
    arities = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=9))
    nodes = tuple(
        Group(chain([X + 1]), "g") if a == (1, 1) and draw(st.booleans()) else Apply(max, ins=a[0], outs=a[1])
        for a in arities
    )
    edges, entries = [], []
    for n, (ins, _) in enumerate(arities):
        for i in range(ins):
            source = draw(st.integers(-1, len(nodes) - 1))
            if source < 0:
                entries.append((n, i))
                continue
            out = draw(st.integers(0, arities[source][1] - 1))
            edges.append(Edge((source, out), (n, i), () if source < n else (0,)))
    used = {edge.source for edge in edges}
    exits = [(n, o) for n, (_, outs) in enumerate(arities) for o in range(outs) if (n, o) not in used]
    return Graph(nodes, tuple(edges), tuple(entries), tuple(exits))


def test_mermaid_of_a_chain_is_literal():
    assert (Apply(X + 1) | Filter(X > 2)).draw().mermaid.splitlines() == [
        "flowchart LR",
        "  in0((in))",
        '  n0["ƒ Apply(X + 1)"]',
        '  n1["▽ Filter(X #gt; 2)"]',
        "  out0((out))",
        "  in0 --> n0",
        "  n0 --> n1",
        "  n1 --> out0",
    ]


def test_mermaid_leads_arrows_into_groups_and_shows_ports():
    lines = (Apply(X + 1) | Group(even_sum(), "even sum")).draw().mermaid.splitlines()
    assert '  subgraph n1["even sum"]' in lines
    assert '    n1_0["⋔ Fork()"]' in lines
    assert "  n0 --> n1_0" in lines
    assert '  n1_1 -->|"0 → 1"| n1_2' in lines


def test_dot_of_a_feedback_is_literal():
    assert running_total().draw().dot.splitlines() == [
        "digraph {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  in0 [label="in", shape=circle];',
        '  n0 [label="ƒ Apply(X + Y)"];',
        '  n1 [label="Passthrough()"];',
        '  out0 [label="out", shape=circle];',
        '  in0 -> n0 [label="→ 0"];',
        "  n0 -> n1;",
        '  n1 -> n0 [style=dashed, constraint=false, label="0 → 1 [0]"];',
        "  n1 -> out0;",
        "}",
    ]


def test_svg_shows_every_node_port_and_edge():
    picture = Picture(even_sum())
    assert sorted(picture.boxes) == ["0", "1", "2", "3"]
    assert [e.get("data-port") for e in picture.of("port in")] == ["0.0", "1.0", "2.0", "2.1", "3.0"]
    assert [e.get("data-port") for e in picture.of("port out")] == ["0.0", "0.1", "1.0", "2.0", "3.0"]
    assert [(e.get("data-source"), e.get("data-target")) for e in picture.of("edge")] == [
        ("in0.0", "0.0"),
        ("0.0", "2.0"),
        ("0.1", "1.0"),
        ("1.0", "2.1"),
        ("2.0", "3.0"),
        ("3.0", "out0.0"),
    ]
    assert len(picture.of("input")) == len(picture.of("output")) == 1


def test_svg_escapes_labels():
    query = Group(Filter(X < "<&>"), "a <b> & c") | Apply(X + 1)
    assert "a <b> & c" in Picture(query).texts()
    assert "X < '<&>'" in Picture(query).texts()
    assert "<b>" not in query.draw().svg


def test_svg_shortens_long_parameters():
    shown = Picture(Filter(X == "long" * 50)).texts()
    assert shown == ["▽ Filter", "X == 'longlonglonglonglo", "nglonglonglongl…", "in", "out"]


def test_svg_feedback_is_dashed_and_shows_its_events():
    picture = Picture(running_total())
    dashed = [e.get("data-source") for e in picture.of("edge") if e.get("stroke-dasharray")]
    assert dashed == ["1.0"]
    assert len(picture.of("initial")) == 1
    assert "0" in picture.texts()


def test_svg_group_surrounds_its_content():
    picture = Picture(Apply(X * 2) | Group(Apply(X + 1) | Group(running_total(), "inner"), "outer"))
    assert sorted(picture.frames) == ["1", "1/1"]
    assert picture.frames["1/1"].inside(picture.frames["1"])
    for name in ("1/1/0", "1/1/1"):
        assert picture.boxes[name].inside(picture.frames["1/1"])
    assert not picture.boxes["0"].meets(picture.frames["1"])


def test_svg_of_an_empty_graph_is_empty():
    assert Picture(Graph((), (), (), ())).boxes == {}


def test_svg_has_no_scripts_and_no_ids():
    text = even_sum().draw().svg
    assert "<script" not in text
    assert " id=" not in text


@given(graphs())
def test_svg_boxes_never_overlap(graph):
    picture = Picture(graph)
    outer = [box for name, box in {**picture.boxes, **picture.frames}.items() if "/" not in name]
    assert len(outer) == len(graph.nodes)
    assert not any(a.meets(b) for a, b in combinations(outer, 2))
    assert len([e for e in picture.of("edge") if "/" not in e.get("data-source")]) == (
        len(graph.edges) + len(graph.entries) + len(graph.exits)
    )


@given(graphs())
def test_texts_name_every_box_once(graph):
    drawing = Drawing(graph)
    for text, opening in ((drawing.mermaid, "["), (drawing.dot, " [label=")):
        for k, node in enumerate(graph.nodes):
            name = f"n{k}_0" if isinstance(node, Group) else f"n{k}"
            assert len(re.findall(rf"^ *{name}{re.escape(opening)}", text, re.MULTILINE)) == 1


@given(st.lists(st.integers(-50, 50), max_size=12))
def test_isotonic_is_the_nearest_rising_sequence(values):
    result = isotonic([float(v) for v in values])
    assert all(a <= b for a, b in pairwise(result))
    # the closed form: the largest, over starts, of the smallest, over ends, of the means
    for k, value in enumerate(result):
        means = [
            min(sum(values[i : j + 1]) / (j + 1 - i) for j in range(k, len(values))) for i in range(k + 1)
        ]
        assert value == pytest.approx(max(means))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=12))
def test_inversions_are_counted(values):
    assert inversions(values) == sum(a > b for a, b in combinations(values, 2))


@pytest.mark.parametrize(
    ("suffix", "beginning"), [(".svg", "<svg"), (".dot", "digraph"), (".mmd", "flowchart")]
)
def test_save_writes_the_form_of_the_suffix(tmp_path, suffix, beginning):
    path = Apply(X + 1).draw().save(tmp_path / f"picture{suffix}")
    assert path.read_text(encoding="utf-8").startswith(beginning)


def test_save_refuses_another_suffix(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.svg, \.dot or \.mmd, got '.*picture\.png'"):
        Apply(X + 1).draw().save(tmp_path / "picture.png")
    assert list(tmp_path.iterdir()) == []


def test_notebook_shows_svg():
    drawing = even_sum().draw()
    assert drawing._repr_svg_() == drawing.svg == even_sum()._repr_svg_()
    assert drawing.svg in drawing._repr_html_()
