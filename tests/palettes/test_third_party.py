"""Somebody else's palette, built and installed beside ours, as palettes/README.md says."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PORTIONS = [str(ROOT / portion) for portion in ("processors", "palettes")]
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "millstream-demo"
version = "1.0"

[tool.hatch.build.targets.wheel]
only-include = ["millstream"]
"""
CODE = '''
"""A palette from elsewhere."""

from millstream.processors import Uniform, processor, state


@processor
class Difference(Uniform):
    """The difference to the event before."""

    last: float = state(0)

    def step(self, x):
        before, self.last = self.last, x
        return x - before
'''
USE = """
import millstream.palettes
from millstream.palettes.demo import Difference
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Cumulate, X

assert len(set(millstream.palettes.__path__)) == 2, list(millstream.palettes.__path__)
print(list(Slice(X % 2, Difference())([1, 2, 5, 8])), list(Window(Difference(), 2)([1, 4, 9])))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The sources of a small project."""
    package = tmp_path / "project" / "millstream" / "palettes" / "demo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(CODE)
    (package / "py.typed").touch()
    (tmp_path / "project" / "pyproject.toml").write_text(PROJECT)
    return tmp_path / "project"


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def use(folder: Path) -> str:
    """What a program prints that uses the palette from a folder beside ours."""
    return run("-c", f"import sys; sys.path[:0] = {[*PORTIONS, str(folder)]!r}\n{USE}")


EXPECTED = "[(1, 1), (0, 2), (1, 4), (0, 6)] [3, 5]\n"


def test_third_party_palette_works_from_its_sources(project):
    assert use(project) == EXPECTED


def test_third_party_palette_works_installed(project, tmp_path):
    pytest.importorskip("hatchling")
    pytest.importorskip("pip")
    target = tmp_path / "installed"
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    run("-m", "pip", "install", *offline, "--target", str(target), str(project))
    assert (target / "millstream" / "palettes" / "demo" / "py.typed").exists()
    assert not (target / "millstream" / "__init__.py").exists()
    assert use(target) == EXPECTED
