"""The script behind the two commands."""

import ast
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "mill.py"
PRETEND_OLD = """
import runpy, sys
sys.version_info = (3, 8, 0)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def mill(*arguments: str, python=(sys.executable,), path=None) -> subprocess.CompletedProcess[str]:
    environment = None if path is None else {"PATH": path}
    command = [*python, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_mill_is_understood_by_old_pythons():
    ast.parse(SCRIPT.read_text(), feature_version=(3, 4))


def test_mill_without_command_explains_itself():
    done = mill()
    assert done.returncode == 2
    assert "python3 mill.py lab " in done.stdout
    assert "python3 mill.py test " in done.stdout


def test_mill_help_succeeds():
    assert mill("--help").returncode == 0


def test_mill_unknown_command_is_refused():
    assert mill("brew").returncode == 2


def test_mill_old_python_says_what_is_needed(tmp_path):
    done = mill("test", python=(sys.executable, "-c", PRETEND_OLD), path=str(tmp_path))
    assert done.returncode == 1
    assert "millstream needs Python 3.11 or newer; this is Python 3.8" in done.stdout
    assert "No python3.11 or newer was found on the PATH either" in done.stdout


def test_mill_old_python_continues_with_a_newer_one(tmp_path):
    newer = tmp_path / "python3.12"
    newer.write_text('#!/bin/sh\nif [ "$1" = -c ]; then exit 0; fi\necho continued with "$2" "$3"\nexit 7\n')
    newer.chmod(0o755)
    done = mill("test", "-x", python=(sys.executable, "-c", PRETEND_OLD), path=str(tmp_path))
    assert "continued with test -x" in done.stdout
    assert done.returncode == 7
