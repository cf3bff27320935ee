"""Stop and go on: the whole state of a query in a file, and a new program that continues from it.

Whatever the query consists of, its state is data: here of a slicer with windows inside and a monitor. The
second half of the events gives the same outputs in a fresh run that loads the file as it would have given in
the first one.

::

    in ──> Slice(E.user, Window(Apply(E.n) | Cumulate(add), 2)) ──> out

Prints:
first run: ('a', 2)
first run: ('b', 4)
first run: ('a', 6)
second run: ('b', 8) ('a', 10) ('b', 12)
the same as in one go: True
"""

import pickle
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Cumulate, E

per_user = Slice(E.user, Window(Apply(E.n) | Cumulate(add), 2))
EVENTS: list[dict[str, Any]] = [{"user": "ab"[k % 2], "n": k} for k in range(8)]


def main() -> None:
    """Run half of the trace, save, and go on elsewhere."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "state")
        run = per_user.into(lambda pair: print("first run:", pair))
        run.push_all(EVENTS[:5])
        path.write_bytes(pickle.dumps(run.save()))

        outputs: list[Any] = []
        again = per_user.into(outputs)
        again.load(pickle.loads(path.read_bytes()))
        again.push_all(EVENTS[5:])
    print("second run:", *outputs)
    print("the same as in one go:", list(per_user(EVENTS))[-len(outputs) :] == outputs)


if __name__ == "__main__":
    main()
