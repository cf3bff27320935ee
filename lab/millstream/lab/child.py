"""The clean process in which one point is measured: ``python -m millstream.lab.child``.

The job comes as one line of JSON on standard input; what the trial tells goes out as lines of JSON. Whatever
the experiment itself prints goes to standard error, so that it cannot be taken for a figure. When standard
input ends, whoever started this process is gone: it ends as well, with all processes of its group.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from typing import IO, Any

from .catalogue import experiments
from .load import peak_memory
from .trial import CheckFailed, Skipped, Trial


def plain(value: Any) -> Any:
    """Turn what JSON does not know into what it knows: NumPy's numbers, tuples, and texts of all else."""
    if hasattr(value, "item"):
        return value.item()
    return list(value) if isinstance(value, tuple | set | frozenset) else str(value)


class Teller:
    """Writes messages, one on a line; threads may share it."""

    def __init__(self, out: IO[str]) -> None:
        self.out, self.lock = out, threading.Lock()

    def __call__(self, message: dict[str, Any]) -> None:
        """Write a message."""
        line = json.dumps(message, default=plain)
        with self.lock:
            self.out.write(line + "\n")
            self.out.flush()


def end_with_parent() -> None:
    """Wait for the end of standard input, then end this process and its group."""
    while os.read(0, 1024):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def perform(job: dict[str, Any], tell: Teller) -> tuple[str, str]:
    """Run the experiment of a job; return how it ended, and what there is to say about it."""
    experiment = experiments([job["module"]])[job["experiment"]]
    trial = Trial(tell, job["seed"], job["quick"], experiment.warm_up, experiment.repetitions)
    try:
        experiment.function(trial, **job["point"])
    except CheckFailed as failure:
        return "wrong", str(failure)
    except Skipped as reason:
        return "skipped", str(reason)
    except Exception:
        return "failed", traceback.format_exc()
    trial.record(**{"memory MB": peak_memory()})
    return "done", ""


def main() -> None:
    """Do one job."""
    tell = Teller(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)
    job = json.loads(_line())
    threading.Thread(target=end_with_parent, daemon=True).start()
    status, error = perform(job, tell)
    tell({"kind": "end", "status": status, "error": error})
    sys.stdout.flush()
    sys.stderr.flush()


def _line() -> bytes:
    """Read one line and not a byte more: the rest of standard input is for `end_with_parent`."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            raise SystemExit("the lab: no job on standard input")
        line += byte
    return line


if __name__ == "__main__":
    main()
