"""Results in a database that survives whatever happens to the processes around it.

SQLite, in a file: every figure is committed when it is told, so killing the laboratory loses at most the
point that was being measured, and a run can be continued. A *run* is one session of measuring on one
machine; figures are compared within a run only. When it begins, all its points are written down as
``waiting``: what is left to do is a query, not something to remember.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import RLock
from typing import Any

from attrs import frozen

from .experiment import Point, key
from .rows import Row, Rows

VERSION = 1
#: what can be the matter with a point; the last five are final, the others are done (again) on resuming
WAITING, RUNNING, STOPPED, DONE, WRONG, FAILED, SKIPPED, LATE = (
    "waiting", "running", "stopped", "done", "wrong", "failed", "skipped", "timed out",
)  # fmt: skip
OPEN = (WAITING, RUNNING, STOPPED)

SCHEMA = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY, begun REAL NOT NULL, quick INTEGER NOT NULL, seed INTEGER NOT NULL,
    machine TEXT NOT NULL
);
CREATE TABLE result (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, experiment TEXT NOT NULL,
    point TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'waiting', begun REAL, seconds REAL,
    share REAL NOT NULL DEFAULT 0, what TEXT NOT NULL DEFAULT '', figures TEXT NOT NULL DEFAULT '{}',
    error TEXT NOT NULL DEFAULT '', UNIQUE (run, experiment, point)
);
CREATE TABLE row (result INTEGER NOT NULL REFERENCES result, figures TEXT NOT NULL);
CREATE INDEX row_of_result ON row (result);
CREATE TABLE sample (
    result INTEGER NOT NULL REFERENCES result, time REAL NOT NULL, loads TEXT NOT NULL, own REAL NOT NULL,
    memory REAL NOT NULL
);
CREATE INDEX sample_of_result ON sample (result);
"""


@frozen
class Run:
    """A session of measuring."""

    id: int
    begun: float
    quick: bool
    seed: int
    machine: dict[str, Any]


@frozen
class Result:
    """What is known of one point in one run."""

    id: int
    experiment: str
    point: Point
    status: str
    begun: float | None
    seconds: float | None
    share: float
    what: str
    figures: Row
    error: str


@frozen
class Sample:
    """The machine some seconds after a point began.

    The load of each core (0 to 1), the share of all cores that is the experiment's, and its memory in MB.
    """

    time: float
    loads: list[float]
    own: float
    memory: float


class Store:
    """The database of a laboratory; may be used by several threads and processes.

    >>> store = Store(":memory:")
    >>> run = store.begin([("totals", {"n": 10})], quick=True, seed=1, machine={"cores": 2})
    >>> [result] = store.results(run)
    >>> store.start(result.id)
    >>> store.add_row(result.id, {"Hz": 5.0})
    >>> store.finish(result.id, "done")
    >>> store.rows(run, "totals")
    Rows([{'n': 10, 'Hz': 5.0}])
    """

    def __init__(self, path: Path | str) -> None:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = RLock()
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._prepare()

    def _prepare(self) -> None:
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise ValueError(
                    f"{self.path} was written by another version of the lab (its format is {version}, "
                    f"this one is {VERSION}): choose another folder"
                )
            if version == 0:
                for statement in SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _do(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # Runs

    def begin(
        self, plan: Iterable[tuple[str, Point]], *, quick: bool, seed: int, machine: Mapping[str, Any]
    ) -> int:
        """Write down a new run with all its points; return its number."""
        values = (time.time(), int(quick), seed, json.dumps(machine))
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            cursor = self._db.execute(
                "INSERT INTO run (begun, quick, seed, machine) VALUES (?, ?, ?, ?)", values
            )
            run = int(cursor.lastrowid or 0)
            points = [(run, name, key(point)) for name, point in plan]
            self._db.executemany("INSERT INTO result (run, experiment, point) VALUES (?, ?, ?)", points)
        return run

    def runs(self) -> list[Run]:
        """Return all runs, the newest first."""
        rows = self._do("SELECT * FROM run ORDER BY id DESC")
        return [Run(r["id"], r["begun"], bool(r["quick"]), r["seed"], json.loads(r["machine"])) for r in rows]

    def run(self, number: int | None = None) -> Run:
        """Return one run, or the newest."""
        runs = self.runs()
        for run in runs:
            if number in (None, run.id):
                return run
        wanted = "no run" if number is None else f"no run {number}"
        raise LookupError(f"{self.path} has {wanted} (there are {len(runs)}); `millstream lab run` makes one")

    # Results

    def results(self, run: int, *statuses: str) -> list[Result]:
        """Return the results of a run in the order of its plan, perhaps only those with some statuses."""
        marks = f" AND status IN ({', '.join('?' * len(statuses))})" if statuses else ""
        rows = self._do(f"SELECT * FROM result WHERE run = ?{marks} ORDER BY id", run, *statuses)
        return [_result(row) for row in rows]

    def result(self, number: int) -> Result:
        """Return one result."""
        return _result(*self._do("SELECT * FROM result WHERE id = ?", number))

    def rows(self, run: int, experiment: str) -> Rows:
        """Return the rows of an experiment: of each point that is done, its own or one."""
        found: list[Row] = []
        for result in self.results(run, DONE):
            if result.experiment == experiment:
                common = result.point | result.figures
                own = self._do("SELECT figures FROM row WHERE result = ? ORDER BY rowid", result.id)
                found += [common | json.loads(r["figures"]) for r in own] or [common]
        return Rows(found)

    def start(self, result: int) -> None:
        """Begin a point, forgetting what an earlier attempt left."""
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM row WHERE result = ?", (result,))
            self._db.execute("DELETE FROM sample WHERE result = ?", (result,))
            self._db.execute(
                "UPDATE result SET status = ?, begun = ?, seconds = NULL, share = 0, what = '', "
                "figures = '{}', error = '' WHERE id = ?",
                (RUNNING, time.time(), result),
            )

    def add_row(self, result: int, figures: Row) -> None:
        """Keep a row."""
        self._do("INSERT INTO row VALUES (?, ?)", result, json.dumps(figures))

    def add_figures(self, result: int, figures: Row) -> None:
        """Keep figures of a point, beside those it has."""
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            (known,) = self._db.execute("SELECT figures FROM result WHERE id = ?", (result,)).fetchone()
            merged = json.dumps(json.loads(known) | figures)
            self._db.execute("UPDATE result SET figures = ? WHERE id = ?", (merged, result))

    def add_progress(self, result: int, share: float, what: str) -> None:
        """Keep how far a point is."""
        self._do("UPDATE result SET share = ?, what = ? WHERE id = ?", share, what, result)

    def add_sample(self, result: int, sample: Sample) -> None:
        """Keep a sample of the load."""
        loads = json.dumps(sample.loads)
        self._do(
            "INSERT INTO sample VALUES (?, ?, ?, ?, ?)", result, sample.time, loads, sample.own, sample.memory
        )

    def samples(self, result: int) -> list[Sample]:
        """Return the samples of a point in order of time."""
        rows = self._do("SELECT * FROM sample WHERE result = ? ORDER BY time", result)
        return [Sample(r["time"], json.loads(r["loads"]), r["own"], r["memory"]) for r in rows]

    def finish(self, result: int, status: str, error: str = "") -> None:
        """End a point."""
        self._do(
            "UPDATE result SET status = ?, error = ?, seconds = ? - begun WHERE id = ?",
            status, error, time.time(), result,
        )  # fmt: skip


def _result(row: sqlite3.Row) -> Result:
    known = {name: row[name] for name in row.keys() if name != "run"}  # noqa: SIM118 - a Row is no dict
    return Result(**known | {"point": json.loads(row["point"]), "figures": json.loads(row["figures"])})
