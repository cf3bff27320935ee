"""A job that is killed, by the real signal, at any line that it executes: run as a program by the test.

Usage: killing.py FOLDER SEED KILLS. Each process is a fork of this one, so that it starts quickly; it kills
itself with SIGKILL when it comes to a line chosen at random, until so many have been killed and the job has
come to its end. Prints how often it was killed, and on which lines of which functions.
"""

import json
import os
import random
import signal
import sys
from collections import Counter
from operator import add
from pathlib import Path

from millstream.palettes.ltl import Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Checkpoint, Cumulate, E, FileSink, Passthrough, connect

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


def main() -> None:
    folder, chance, kills = Path(sys.argv[1]), random.Random(int(sys.argv[2])), int(sys.argv[3])
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
