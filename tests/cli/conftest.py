"""The command, as a real program in a folder of its own."""

import os
import signal
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "millstream.cli"]
QUERY = """
from operator import add
from millstream.processors import Apply, Cumulate, E, Filter, Divert

query = Filter(E.kind == "temp") | Apply(E.c) | Cumulate(add)
both = Divert(E.kind == "temp")
"""


@pytest.fixture
def environment():
    """The environment of the command: it finds millstream, and buffers as it would for users."""
    ours = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
    kept = {k: v for k, v in os.environ.items() if k not in ours}
    return {**kept, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "COLUMNS": "200"}


@pytest.fixture
def write(tmp_path):
    """Write a file into the command's folder."""

    def write(name, text):
        (tmp_path / name).write_text(text)
        return name

    return write


@pytest.fixture
def millstream(tmp_path, environment, write):
    """Run the command; give status, output and errors."""
    write("query.py", QUERY)

    def millstream(*arguments, stdin="", status=0, **extra):
        done = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=tmp_path,
            env={**environment, **extra},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return millstream


def listen_to_ctrl_c():
    """Undo what a shell does to programs in its background, tests among them: they ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start(tmp_path, environment, write):
    """Start the command and talk to it."""
    write("query.py", QUERY)
    started = []

    def start(*arguments, **options):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        process = subprocess.Popen(
            [*PROGRAM, *arguments], cwd=tmp_path, env=environment, preexec_fn=listen_to_ctrl_c, **pipes
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
