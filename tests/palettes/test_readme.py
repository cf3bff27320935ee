"""The pictures in palettes/README.md are what the queries draw."""

from operator import add
from pathlib import Path

import pytest

from millstream.palettes.fsm import MooreMachine
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, Cumulate, E

README = Path(__file__).parents[2] / "palettes" / "README.md"
PICTURES = {
    "windows": (Apply(E.price) | Window(Cumulate(add), 100)).draw(),
    "slicer": Slice(E.user, Count()).draw(),
    "fsm": MooreMachine.from_table("off", {"off": {"push": "on"}, "on": {"push": "off"}}).diagram(),
}


@pytest.mark.parametrize("palette", PICTURES)
def test_readme_shows_the_picture(palette):
    section = README.read_text(encoding="utf-8").partition(f"\n## {palette}\n")[2].partition("\n## ")[0]
    assert f"```mermaid\n{PICTURES[palette].mermaid}\n```" in section
