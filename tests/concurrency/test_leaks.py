"""The fixture that fails a test which leaves a thread or a process behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = """
import subprocess, sys, threading
from millstream.concurrency import ThreadManager

def test_thread():
    threading.Thread(target=threading.Event().wait, daemon=True).start()

def test_process():
    subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

def test_manager():
    ThreadManager(1, "processes").request(list)

def test_clean():
    with ThreadManager(1) as manager:
        manager.request(list)
"""


def test_fixture_fails_tests_that_leave_something_behind(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_leaking.py").write_text(TESTS)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(tmp_path),
            "test_leaking.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert "4 passed, 2 errors" in done.stdout, done.stdout
    assert "ERROR test_leaking.py::test_thread" in done.stdout
    assert "ERROR test_leaking.py::test_process" in done.stdout
