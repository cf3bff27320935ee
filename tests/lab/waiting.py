"""Experiments for tests: they wait, fail, print and give rows when told to, by files in the folder DOOR."""

import os
import subprocess
import sys
from pathlib import Path

from millstream.lab import Rows, claim, experiment

DOOR = "LAB_TEST_DOOR"


def wait_at(door: Path) -> None:
    """Block until whoever opened the other side of a named pipe closes it."""
    with door.open("rb") as pipe:
        pipe.read()


@experiment(parameters={"n": [0, 1, 2, 3]}, quick={"n": [0]}, repetitions=2)
def waits(trial, n):
    """Give two rows, and wait between them if there is a door for it."""
    trial.row(part=1, square=n * n)
    door = Path(os.environ[DOOR], f"door{n}")
    if door.exists():
        wait_at(door)
    trial.row(part=2, square=n * n)


@waits.claim
def squares(rows: Rows):
    """Squares are squares."""
    return claim("squares are squares", rows.one(n=2, part=2)["square"] == 4, ours=4)


@experiment(
    parameters={"how": ["print", "raise", "wrong", "skip", "die", "offspring", "late"]},
    quick={"how": ["raise", "wrong", "skip", "die"]},
    limit=3600,
)
def ends(trial, how):
    """End in all the ways in which an experiment can."""
    if how == "print":
        print('{"kind": "row", "figures": {"not": "a figure"}}')
    elif how == "raise":
        print("just before")
        raise ValueError("on purpose")
    elif how == "wrong":
        trial.check(1 + 1 == 3, "one and one make three")
    elif how == "skip":
        trial.skip("no Java here")
    elif how == "die":
        os._exit(3)
    elif how == "offspring":
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        trial.record(offspring=child.pid)
    elif how == "late":
        wait_at(Path(os.environ[DOOR], "door"))


@experiment(parameters={"n": [1000]})
def measures(trial, n):
    """Measure something small in every way."""
    numbers = [trial.random.randrange(100) for _ in range(n)]
    trial.measure(lambda: sum(numbers), events=n)
    trial.latency([].append, numbers)
    trial.record(first=numbers[0])
