"""The micro-benchmarks of tests/bench, run and shown by the lab.

They belong to the source, not to the installed package: without the source there are no points. pytest runs
them; what is read is the statistics of pytest-benchmark, and what the tests themselves print.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .experiment import experiment
from .plots import bars
from .rows import Row, Rows
from .trial import Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = Path(__file__).parents[3]
FOLDER = SOURCE / "tests" / "bench"


def files(folder: Path = FOLDER) -> list[str]:
    """Return the names of all files with benchmarks.

    >>> files(Path("/nowhere"))
    []
    """
    return sorted(path.stem.removeprefix("test_") for path in folder.glob("test_*.py"))


@experiment(
    "bench",
    group="Micro-benchmarks",
    title="The micro-benchmarks of the source",
    parameters={"file": files()},
    quick=None,
)
def bench(trial: Trial, file: str) -> None:
    """Run the benchmarks of tests/bench with pytest-benchmark; microseconds of the fastest round.

    Many of them print figures of their own, which stand in the second table.
    """
    with TemporaryDirectory() as made:
        folder = Path(made)
        # a benchmark that thinks that it shares the machine with other tests does not measure
        alone = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
        done = subprocess.run(
            command(file, folder), cwd=SOURCE, env=alone, capture_output=True, text=True, check=False
        )
        trial.check(
            done.returncode == 0, f"pytest ended with status {done.returncode}:\n{done.stdout[-3000:]}"
        )
        for row in (*statistics(folder / "bench.json"), *printed(done.stdout)):
            trial.row(**row)


def command(file: str, folder: Path) -> list[str]:
    """Return the command that runs one file and leaves its results in a folder."""
    return [
        sys.executable, "-m", "pytest", "-v", "-s", f"tests/bench/test_{file}.py", "-p", "no:cacheprovider",
        f"--benchmark-json={folder / 'bench.json'}", "--benchmark-columns=min",
    ]  # fmt: skip


def statistics(path: Path) -> Iterator[Row]:
    """Yield a row for each benchmark, with events a second where it says how many events it has."""
    text = path.read_text() if path.exists() else ""
    for found in json.loads(text)["benchmarks"] if text else ():
        row: dict[str, Any] = {
            "benchmark": found["name"].removeprefix("test_"),
            "group": found["group"] or "",
        }
        row |= {"us": found["stats"]["min"] * 1e6, "rounds": found["stats"]["rounds"]}
        events = found["extra_info"].get("events")
        yield row | ({"Hz": events / found["stats"]["min"]} if events else {})


def printed(text: str) -> Iterator[Row]:
    """Yield a row for each line that a test has printed, out of what pytest prints with ``-v -s``.

    >>> list(printed("tests/bench/test_a.py::test_b \\n10 keys  3M\\nPASSED\\n== 1 passed =="))
    [{'benchmark': 'b', 'printed': '10 keys  3M'}]
    """
    test = ""
    for line in text.splitlines():
        begun = re.match(r"tests/bench/\S+?::test_(\w+(?:\[[^\]]*\])?) ?(.*)", line)
        if begun:
            test, line = begun.groups()
        ended = re.search(r"(PASSED|SKIPPED.*|XFAIL)\s*(\[ *\d+%\])?$", line)
        words = line[: ended.start()].rstrip() if ended else line.rstrip()
        if test and words:
            yield {"benchmark": test, "printed": words}
        test = "" if ended else test


@bench.table("Benchmarks")
def measured(rows: Rows) -> list[Row]:
    """Show the statistics."""
    kept = ("file", "group", "benchmark", "us", "Hz", "rounds")
    return [{k: row.get(k) for k in kept} for row in rows if "us" in row]


@bench.table("What benchmarks print")
def said(rows: Rows) -> list[Row]:
    """Show the lines."""
    return [{k: row[k] for k in ("file", "benchmark", "printed")} for row in rows if "printed" in row]


@bench.plot("Events per second")
def rates(rows: Rows, figure: Figure) -> None:
    """Draw the benchmarks that have a rate."""
    named = [
        {**row, "name": f"{row['group']} {row['benchmark']}".strip()[:60]} for row in rows if row.get("Hz")
    ]
    bars(figure, named, "name", ["Hz"], "events per second", log=True)
