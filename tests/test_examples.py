"""Every example prints what its docstring says."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_prints_what_its_docstring_says(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring is not None
    expected = docstring.partition("Prints:\n")[2].strip()
    assert expected, f"{path.name} has no 'Prints:' in its docstring"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=60, env=environment, check=True
    )
    assert done.stdout.strip() == expected
