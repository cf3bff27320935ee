"""The two commands of a fresh checkout, the slow tests, and the benchmarks.

    python3 mill.py lab     set up .venv and run the main job (or: lab list, lab run, lab report, lab serve)
    python3 mill.py test    set up .venv, check style and types, run the tests
    python3 mill.py slow    set up .venv and run the tests that take long
    python3 mill.py bench   set up .venv and run the benchmarks
    python3 mill.py docs    set up .venv and build the documentation into build/docs

Further arguments go to what is run: `python3 mill.py test -k window`.

Only the standard library is used, and only syntax that every Python 3 understands: an old interpreter must
get as far as saying that it is too old.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, "mill-stamp.json")
NEEDED = (3, 11)
NEWEST = 30


class Failed(Exception):
    """A step failed; carries the exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def say(text: str) -> None:
    """Print at once, even into a pipe: our lines stay in order with those of the programs we start."""
    print("mill: " + text)
    sys.stdout.flush()


def run(what: str, command: "list[str]") -> None:
    """Run one step, with its time; raise Failed with its exit status when it does not succeed."""
    say(what)
    begun = time.time()
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    status = subprocess.call(command, cwd=ROOT, env=environment)
    seconds = time.time() - begun
    if status != 0:
        raise Failed("%s: FAILED with status %d after %.1f s" % (what, status, seconds), status)
    say("%s: ok (%.1f s)" % (what, seconds))


# The interpreter


def is_new_enough(python: str) -> bool:
    """Tell whether this program is a working Python that is new enough (a shim may be neither)."""
    question = "import sys, venv; sys.exit(sys.version_info[:2] < %r)" % (NEEDED,)
    try:
        with open(os.devnull, "w") as nowhere:
            return subprocess.call([python, "-c", question], stdout=nowhere, stderr=nowhere) == 0
    except OSError:
        return False


def find_python() -> "str | None":
    """Find a new enough Python on the PATH, the oldest such first."""
    names = ["python%d.%d" % (NEEDED[0], minor) for minor in range(NEEDED[1], NEWEST)]
    for name in names + ["python3", "python"]:
        path = shutil.which(name)
        if path and is_new_enough(path):
            return path
    return None


def continue_elsewhere(arguments: "list[str]") -> int:
    """Hand the whole call to a newer Python, or say what is missing."""
    ours, needed = "%d.%d" % sys.version_info[:2], "%d.%d" % NEEDED
    python = find_python()
    if python is None:
        say("millstream needs Python %s or newer; this is Python %s (%s)." % (needed, ours, sys.executable))
        say("No python%s or newer was found on the PATH either. Please install one, then try again." % needed)
        return 1
    say("this is Python %s; continuing with %s" % (ours, python))
    return subprocess.call([python, os.path.abspath(__file__)] + arguments)


def mention_java() -> None:
    """Say so when Java is missing; nothing but the Spark parts needs it."""
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        say("no Java found (neither on the PATH nor in JAVA_HOME): only the Spark parts need it")


# The environment


def venv_python() -> str:
    """Give the path of the interpreter inside .venv."""
    return os.path.join(VENV, *(["Scripts", "python.exe"] if os.name == "nt" else ["bin", "python"]))


def wanted_stamp() -> "dict[str, str]":
    """Describe what .venv depends on; it is set up again when any of this changes."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return {"pyproject": digest, "root": ROOT}


def read_stamp() -> "dict[str, dict[str, str]]":
    """Read what was installed for each extra, nothing if .venv is missing or broken."""
    try:
        with open(STAMP) as file:
            stamps = json.load(file)
    except (OSError, ValueError):
        return {}
    return stamps if is_new_enough(venv_python()) else {}


def set_up(extra: str) -> None:
    """Make .venv hold millstream with this extra; do nothing when it already does."""
    stamps, wanted = read_stamp(), wanted_stamp()
    if stamps.get(extra) == wanted:
        say("using .venv as it is (pyproject.toml has not changed)")
        return
    if not stamps:
        create_venv()
    pip = [venv_python(), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run("install millstream[%s] into .venv" % extra, pip + ["--editable", ".[%s]" % extra])
    stamps[extra] = wanted
    with open(STAMP, "w") as file:
        json.dump(stamps, file)


def create_venv() -> None:
    """Create .venv from scratch."""
    try:
        run("create .venv with %s" % sys.executable, [sys.executable, "-m", "venv", "--clear", VENV])
    except Failed:
        say("Python could not create an environment; on Debian and Ubuntu: apt install python3-venv")
        raise


# The commands


def lab(arguments: "list[str]") -> None:
    """Run the main job."""
    set_up("lab,columns,spark")
    run("run the lab", [venv_python(), "-m", "millstream.lab"] + arguments)


def test(arguments: "list[str]") -> None:
    """Check style and types, then run the tests."""
    set_up("all")
    python = venv_python()
    run("ruff check", [python, "-m", "ruff", "check", "."])
    run("ruff format --check", [python, "-m", "ruff", "format", "--check", "."])
    run("mypy", [python, "-m", "mypy"])
    run("pytest", [python, "-m", "pytest", "-m", "not slow"] + (arguments or ["-n", "auto"]))


def slow(arguments: "list[str]") -> None:
    """Run the tests that the test command leaves out."""
    set_up("all")
    run("slow tests", [venv_python(), "-m", "pytest", "tests", "-m", "slow"] + arguments)


def bench(arguments: "list[str]") -> None:
    """Run the benchmarks."""
    set_up("all")
    run("benchmarks", [venv_python(), "-m", "pytest", "tests/bench", "--dist=no"] + arguments)


def docs(arguments: "list[str]") -> None:
    """Build the documentation; a warning is an error."""
    set_up("all")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-c", "examples/docs", "-d", "build/doctrees"]
    run("documentation", [venv_python(), "-m", "sphinx"] + options + arguments + [".", "build/docs"])
    say("open build/docs/index.html")


COMMANDS = {"lab": lab, "test": test, "slow": slow, "bench": bench, "docs": docs}


def main(arguments: "list[str]") -> int:
    """Run one command and give its exit status."""
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"], ["help"]) else 2
    if sys.version_info[:2] < NEEDED:
        return continue_elsewhere(arguments)
    mention_java()
    begun = time.time()
    try:
        COMMANDS[arguments[0]](arguments[1:])
    except Failed as failure:
        say(str(failure))
        return failure.status
    except KeyboardInterrupt:
        say("stopped")
        return 130
    say("%s: all done (%.1f s)" % (arguments[0], time.time() - begun))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
