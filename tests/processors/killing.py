"""A job that is killed, by the real signal, at any line that it executes: run as a program by the test.

Usage: killing.py FOLDER SEED KILLS [ways]. Each process is a fork of this one, so that it starts quickly; it
kills itself with SIGKILL when it comes to a line chosen at random, until so many have been killed and the job
has come to its end. Prints how often it was killed, and on which lines of which functions.

With `ways` the job is killed from outside, at a moment chosen at random, and each process goes on in another
way: plainly, with threads, with processes, or on columns. Prints which ways were killed.
"""

import json
import os
import random
import signal
import sys
from collections import Counter
from operator import add
from pathlib import Path
from time import perf_counter

import pyarrow as pa

from millstream.concurrency import ParallelSlice, PullGroup, ThreadManager
from millstream.palettes.columns import columnar
from millstream.palettes.ltl import Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Checkpoint, Cumulate, E, FileSink, Filter, Passthrough, connect

EVENTS = [{"user": "abc"[k * k % 3], "n": k, "a": k % 5 == 0, "b": k % 7 == 0} for k in range(400)]
#: files whose lines are counted, and how many of them a kill may wait for: often in the midst of a commit
WATCHED = [(("checkpoint.py",), 250), (("checkpoint.py", "sinks.py", "codec.py"), 2500)]


def query():
    """One input, two outputs: a slice of windows, and verdicts that come late."""
    start, verdicts = Passthrough(), Verdicts("a -> F b")
    slices = Slice(E.user, Apply(E.n) | Window(Cumulate(add), 3))
    return connect(
        start.outputs[0] >> slices.inputs[0],
        start.outputs[0] >> verdicts.inputs[0],
        inputs=[start.inputs[0]],
        outputs=[slices.outputs[0], verdicts.outputs[0]],
    )


def job(folder: Path) -> None:
    sinks = FileSink(folder / "slices.jsonl", json.dumps), FileSink(folder / "verdicts.txt")
    Checkpoint(folder / "job.state", every=23).run(EVENTS, query(), *sinks)


def killed_at(line: int, files: tuple[str, ...], folder: Path) -> str | None:
    """Run the job in a process that kills itself at the n-th line of some files; return where that was."""
    where = folder / "where"
    child = os.fork()
    if child == 0:
        left = line

        def trace(frame, event, _):
            nonlocal left
            if os.path.basename(frame.f_code.co_filename) not in files:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    where.write_text(frame.f_code.co_name)
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        job(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return where.read_text()
    assert os.WEXITSTATUS(status) == 0
    return None


def carried_on(folder: Path, way: str) -> None:
    """Run a job in one of several ways; its state is the same in all of them."""
    first, slices = Filter(E.n % 3 != 0), Slice(E.user, Apply(E.n) | Cumulate(add))
    job, sink = Checkpoint(folder / "job.state", every=50), FileSink(folder / "sums.jsonl", json.dumps)
    events = EVENTS * 5
    if way == "columns":
        job.run([pa.RecordBatch.from_pylist(events[k : k + 70]) for k in range(0, len(events), 70)],
                columnar(first | slices), sink)  # fmt: skip
        return
    with ThreadManager(
        0 if way == "plain" else 2, "processes" if way == "processes" else "threads"
    ) as manager:
        elsewhere = PullGroup(first, manager) | ParallelSlice(slices, manager)
        job.run(events, first | slices if way == "plain" else elsewhere, sink)


WAYS = ("plain", "threads", "processes", "columns")


def killed_after(seconds: float, way: str, folder: Path) -> bool:
    """Run the job in a process that is killed after some time; return whether it was."""
    signal.sigtimedwait({signal.SIGCHLD}, 0)  # of the last one
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        carried_on(folder, way)
        os._exit(0)
    signal.sigtimedwait({signal.SIGCHLD}, seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def kill_in_all_ways(folder: Path, chance: random.Random, kills: int) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    seconds = {}
    for way in WAYS:
        (folder / f"whole {way}").mkdir()
        begun = perf_counter()
        assert not killed_after(60, way, folder / f"whole {way}")
        seconds[way] = perf_counter() - begun
    killed: Counter[str] = Counter()
    jobs = 0
    while killed.total() < kills:
        home = folder / str(jobs)
        home.mkdir()
        way = chance.choice(WAYS)
        while killed_after(chance.uniform(0.05, 0.8) * seconds[way], way, home):
            killed[way] += 1
            way = chance.choice(WAYS)
        jobs += 1
    print(json.dumps({"jobs": jobs, "kills": killed}))


def main() -> None:
    folder, chance, kills = Path(sys.argv[1]), random.Random(int(sys.argv[2])), int(sys.argv[3])
    if sys.argv[4:] == ["ways"]:
        kill_in_all_ways(folder, chance, kills)
        return
    places: Counter[str] = Counter()
    jobs = 0
    while places.total() < kills:
        home = folder / str(jobs)
        home.mkdir()
        place: str | None = ""
        while place is not None:
            files, most = chance.choice(WATCHED)
            place = killed_at(chance.randint(1, most), files, home)
            places.update([place] if place else [])
        jobs += 1
    print(json.dumps({"jobs": jobs, "kills": places.total(), "places": places}))


if __name__ == "__main__":
    main()
