"""Every example prints what its docstring says, has a picture of its query, and stands in the README."""

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
ON_SPARK = [p for p in EXAMPLES if p.stem.startswith("spark")]
LOCAL = [p for p in EXAMPLES if p not in ON_SPARK]
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def docstring(path):
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def printed(path):
    expected = docstring(path).partition("Prints:\n")[2].strip()
    assert expected, f"{path.name} has no 'Prints:' in its docstring"
    return expected


@pytest.mark.parametrize("path", LOCAL, ids=lambda p: p.stem)
def test_example_prints_what_its_docstring_says(path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == printed(path)


@pytest.mark.spark
@pytest.mark.parametrize("path", ON_SPARK, ids=lambda p: p.stem)
def test_example_on_spark_prints_what_its_docstring_says(path, spark, capsys):
    """In this process, because starting Spark takes longer than the example; it finds the session."""
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip() == printed(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_is_short_and_has_a_picture(path):
    assert 30 <= len(path.read_text().splitlines()) <= 80
    assert re.search(r"^::\n\n(    .*\n|\n)*?    .*──", docstring(path), re.MULTILINE), "no picture"


def test_examples_are_listed_in_the_readme():
    listed = re.findall(r"^\| `([\w.]+)` \|", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(p.name for p in EXAMPLES + NOTEBOOKS)


@pytest.mark.filterwarnings("ignore")  # those of the notebook's libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_gives_what_is_stored_in_it(path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    stored = [shown(cell) for cell in notebook.cells]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert [shown(cell) for cell in notebook.cells] == stored


def shown(cell):
    """The texts and pictures below a cell."""
    outputs = cell.get("outputs", [])
    return [dict(o["data"]) if "data" in o else (o["output_type"], o.get("text")) for o in outputs]
