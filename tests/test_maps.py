"""The maps are true: what the READMEs name exists, and links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("processors", "concurrency", "palettes", "lab", "examples", "tests")
NAMES = {p.name for p in ROOT.iterdir()} | {p.name for folder in CODE for p in (ROOT / folder).rglob("*")}
READMES = sorted(p for folder in CODE for p in (ROOT / folder).rglob("README.md") if ".venv" not in p.parts)


@pytest.mark.parametrize("readme", [ROOT / "README.md", *READMES], ids=lambda p: str(p.relative_to(ROOT)))
def test_readme_names_files_that_exist(readme):
    text = readme.read_text()
    for name in re.findall(r"`(?:[\w/]+/)?(\w+\.(?:py|md|toml))`", text):
        assert name in NAMES, f"{readme} names {name}"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (readme.parent / link).exists(), f"{readme} links to {link}"


def test_map_of_processors_names_every_file():
    text = (ROOT / "processors" / "README.md").read_text()
    for path in (ROOT / "processors" / "millstream" / "processors").glob("*.py"):
        assert path.name == "__init__.py" or f"`{path.name}`" in text, f"{path.name} is missing from the map"
