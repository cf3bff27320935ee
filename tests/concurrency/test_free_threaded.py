"""These tests again on a free-threaded Python, where there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NEEDED = ["attrs", "hypothesis", "more_itertools", "pytest", "pytest_benchmark", "xdist"]
CHECK = f"import sys, {', '.join(NEEDED)}; sys.exit(sys._is_gil_enabled())"


def free_threaded():
    """A free-threaded interpreter that has what the tests need, or None."""
    names = [os.environ.get("FREE_THREADED_PYTHON"), "python3.14t", "python3.13t"]
    for path in filter(None, (shutil.which(name) for name in names if name)):
        if subprocess.run([path, "-c", CHECK], capture_output=True, check=False).returncode == 0:
            return path
    return None


@pytest.mark.slow
@pytest.mark.free_threaded
def test_suite_passes_on_a_free_threaded_python():
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("this is a free-threaded Python")
    python = free_threaded()
    if python is None:
        pytest.skip(
            "no free-threaded Python with attrs, more-itertools, hypothesis, pytest, pytest-benchmark and "
            "pytest-xdist; name one in FREE_THREADED_PYTHON"
        )
    files = [str(p) for p in Path(__file__).parent.glob("test_*.py") if p != Path(__file__)]
    run(python, *files, marks="not slow")
    run(python, str(Path(__file__).parent / "test_stress.py"), "-k", "threads", marks="slow")


def run(python, *arguments, marks):
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", marks, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
