"""The map from the papers to the code is whole, and true: each part of a paper has a row, names exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "examples" / "docs" / "papers.md"
#: a word of each paper's title -> its sections, and its other numbered parts
PARTS = {
    "Correlating": (
        "1 2 3 3.1 3.1.1 3.1.2 3.2 3.3 3.3.1 3.3.2 3.3.3 3.3.4 4 5 6 7",
        ["Figure 1", "Figure 2", "Figure 3", "Listing 1", "Listing 2"],
    ),
    "Multiple Threads": (
        "1 2 2.1 2.2 3 3.1 3.2 4 4.1 4.2 4.3 4.4 5 5.1 5.2 6",
        [*(f"Figure {n}" for n in range(1, 6)), "Table 1"],
    ),
    "Active Database": (
        "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 3.3 4 4.1 4.2 4.3 5 6",
        [*(f"Figure {n}" for n in range(1, 4)), *(f"Table {n}" for n in range(1, 7))],
    ),
    "Sliding Window over": (
        "1 2 2.1 2.2 2.3 3 3.1 3.2 4 4.1 4.2 4.2.1 4.2.2 4.2.3 5 5.1 5.2 5.3 6 6.1 6.2 6.3 6.3.1 6.3.2 "
        "6.3.2.1 6.3.2.2 6.3.2.3 7 8",
        [
            *(f"Figure {n}" for n in range(1, 8)),
            *(f"Theorem {n}" for n in (1, 2, 4, 5, 6, 7)),
            *(f"Algorithm {n}" for n in range(1, 4)),
            *("Lemma 3", "Table 1", "Table 2"),
        ],
    ),
    "binary trees": (
        "I II III.A III.B IV IV.A IV.B IV.C IV.D IV.E V",
        [*(f"Figure {n}" for n in range(1, 7)), *(f"Algorithm {n}" for n in range(1, 5)), "Table I"],
    ),
}


def rows(word):
    """The rows of a paper's table: what, files, names."""
    (section,) = (s for s in PAGE.read_text().split("\n## ")[1:] if word in s.partition("\n")[0])
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    return [(c[0], re.findall(r"\]\(([^)]+)\)", c[1]), re.findall(r"`([\w.]+)`", c[-1])) for c in cells]


@cache
def defined(path):
    """What a file defines: functions, classes, their methods and fields, names."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        found.update(names(node, ""))
    return found


def names(node, prefix):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield prefix + node.name
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from names(inner, f"{prefix}{node.name}.")
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    yield from (prefix + t.id for t in targets if isinstance(t, ast.Name))


@pytest.mark.parametrize("word", PARTS)
def test_map_has_every_part_of_the_paper(word):
    text = "; ".join(what for what, _, _ in rows(word))
    sections, others = PARTS[word]
    assert [s for s in sections.split() if f"Section {s}," not in text] == []
    assert [part for part in others if not re.search(rf"\b{part}\b(?!\.)", text)] == []


@pytest.mark.parametrize("word", PARTS)
def test_map_names_what_exists(word):
    for what, files, wanted in rows(word):
        paths = [(PAGE.parent / link).resolve() for link in files]
        assert [p for p in paths if not p.exists()] == [], what
        known = set().union(*(defined(p) for p in paths)) if paths else set()
        assert [name for name in wanted if name not in known] == [], what
        assert wanted or not files or "`" not in what
