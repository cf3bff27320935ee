"""The example of communicating processes prints what its docstring says."""

import ast
import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "lattice_processes.py"


def test_example_prints_what_its_docstring_says():
    docstring = ast.get_docstring(ast.parse(EXAMPLE.read_text()))
    assert docstring is not None
    expected = docstring.partition("Prints:\n")[2].strip()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, EXAMPLE], capture_output=True, text=True, timeout=60, env=environment, check=True
    )
    assert done.stdout.strip() == expected
