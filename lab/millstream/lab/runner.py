"""Measuring one point: a clean process, what it tells, and what it takes from the machine meanwhile.

One thread reads what the process tells and keeps it; another looks at the machine several times a second,
and ends the process when its time is over or someone asks for it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import IO, Any

import psutil

from .experiment import Experiment
from .load import busy, cpu_seconds, memory, tree
from .store import DONE, FAILED, LATE, STOPPED, Result, Run, Sample, Store

#: seconds between two looks at the machine
INTERVAL = 0.25
#: the clock, the busy seconds of each core, the CPU seconds of the experiment
Counters = tuple[float, list[float], float]
#: how much of what an experiment printed is shown when it fails
SHOWN = 4000


class Runner:
    """Measures points, one at a time."""

    def __init__(self, store: Store) -> None:
        self.store = store
        #: set by whoever wants the run to stop; read by `_watch`
        self.stopping = Event()
        #: is told whenever something changes about a point
        self.watch: Callable[[Result], None] = lambda result: None

    def perform(self, run: Run, result: Result, experiment: Experiment) -> str:
        """Measure one point and keep everything about it; return how it ended."""
        self.store.start(result.id)
        self._tell(result.id)
        job = {
            "experiment": experiment.name, "module": experiment.home, "point": result.point,
            "seed": run.seed, "quick": run.quick,
        }  # fmt: skip
        with tempfile.TemporaryFile() as printed:
            try:
                status, error = self._measure(job, result.id, experiment.limit, printed)
            except BaseException:
                self.store.finish(result.id, STOPPED)
                raise
            self.store.finish(result.id, status, ("" if status == DONE else _tail(printed)) + error)
        self._tell(result.id)
        return status

    def _tell(self, result: int) -> None:
        self.watch(self.store.result(result))

    def _measure(self, job: dict[str, Any], result: int, limit: float, printed: IO[bytes]) -> tuple[str, str]:
        command = [sys.executable, "-m", "millstream.lab.child"]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        ) as child:
            watch = Watch(self, child, result, limit)
            try:
                ended = self._listen(child, json.dumps(job), result)
            finally:
                watch.close()
        if watch.reason:
            return watch.reason, f"given up after {limit:g} s" if watch.reason == LATE else ""
        if ended is None:
            return FAILED, f"its process ended with status {child.returncode} before it was done\n"
        if ended["status"] == DONE:
            self._keep_peak(result, watch.peak)
        return ended["status"], ended["error"]

    def _listen(self, child: subprocess.Popen[bytes], job: str, result: int) -> dict[str, Any] | None:
        """Hand over the job and keep what is told; return the last message, None when there was none."""
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(job.encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            return None
        for line in child.stdout:
            message = json.loads(line)
            match message.pop("kind"):
                case "row":
                    self.store.add_row(result, message["figures"])
                case "figures":
                    self.store.add_figures(result, message["figures"])
                case "progress":
                    self.store.add_progress(result, message["share"], message["what"])
                    self._tell(result)
                case "end":
                    return dict(message)
        return None

    def _keep_peak(self, result: int, sampled: float) -> None:
        """Keep the peak of the process itself, or the sampled one of its whole tree if that is more."""
        own = self.store.result(result).figures["memory MB"]
        self.store.add_figures(result, {"memory MB": round(max(sampled, own), 1)})


class Watch:
    """Looks at the machine while a process runs, and ends it when it must end."""

    def __init__(self, runner: Runner, child: subprocess.Popen[bytes], result: int, limit: float) -> None:
        self.runner, self.child, self.result, self.limit = runner, child, result, limit
        #: why the process was ended (written by the watching thread), empty when it ended by itself
        self.reason = ""
        #: the most memory that was seen, in MB (written by the watching thread)
        self.peak = 0.0
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        begun, process = monotonic(), psutil.Process(self.child.pid)
        before = counters(tree(process))
        while not self._over.wait(INTERVAL):
            processes = tree(process)
            after = counters(processes)
            passed = monotonic() - begun
            self._keep(sample(before, after, passed, memory(processes)))
            before = after
            if self.runner.stopping.is_set() or passed > self.limit:
                self.reason = LATE if passed > self.limit else STOPPED
                end_group(self.child)
                return

    def _keep(self, sample: Sample) -> None:
        self.peak = max(self.peak, sample.memory)
        self.runner.store.add_sample(self.result, sample)

    def close(self) -> None:
        """Stop looking; leave nothing of the process's group behind."""
        self._over.set()
        self._thread.join()
        end_group(self.child)


def counters(processes: list[psutil.Process]) -> Counters:
    """Read all counters."""
    return monotonic(), busy(), cpu_seconds(processes)


def sample(before: Counters, after: Counters, passed: float, used: float) -> Sample:
    """Make a sample of two readings of the counters.

    >>> sample((0.0, [5.0, 5.0], 1.0), (2.0, [7.0, 5.5], 2.0), passed=2.0, used=80.0)
    Sample(time=2.0, loads=[1.0, 0.25], own=0.25, memory=80.0)
    """
    seconds = after[0] - before[0]
    loads = [share((b - a) / seconds) for a, b in zip(before[1], after[1], strict=True)]
    return Sample(
        round(passed, 3), loads, share((after[2] - before[2]) / seconds / len(loads)), round(used, 1)
    )


def share(value: float) -> float:
    """Round a share, which counters that tick may put slightly outside of its bounds."""
    return round(min(1.0, max(0.0, value)), 3)


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End a process and all others of its group."""
    if not hasattr(os, "killpg"):
        child.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _tail(printed: IO[bytes]) -> str:
    """Return the end of what an experiment printed."""
    printed.seek(0, os.SEEK_END)
    printed.seek(max(0, printed.tell() - SHOWN))
    text = printed.read().decode(errors="replace").strip()
    return f"it printed:\n{text}\n\n" if text else ""
