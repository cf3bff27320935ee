"""Log analysis: parse lines, tell good from bad ones, and survive the broken ones.

The log is forked by level with Divert; a line that cannot be parsed goes to the dead letters, with the
processor that failed and its position, and the rest goes on.

::

    in ──> Apply(parse) ──> Divert(level == ERROR) ──┬──> Count() ──> fine
                                                     └──> Apply(E.text) ──> errors

Prints:
fine: 1
error: disk full
fine: 2
error: disk on fire
not understood: 'garbage' (input event 3)
"""

import re
from typing import Any

from millstream.processors import Apply, Count, DeadLetter, Divert, E, connect

LOG = ["INFO started", "ERROR disk full", "INFO retrying", "garbage", "ERROR disk on fire"]


def parse(line: str) -> dict[str, Any]:
    """Return level and text of a line."""
    match = re.fullmatch(r"(INFO|ERROR) (.*)", line)
    if match is None:
        raise ValueError("neither INFO nor ERROR")
    return {"level": match[1], "text": match[2]}


def main() -> None:
    """Wire the query by its ports and push the log through."""
    lines, split, count, text = Apply(parse), Divert(E.level == "ERROR"), Count(), Apply(E.text)
    query = connect(
        lines.outputs[0] >> split.inputs[0],
        split.outputs[0] >> count.inputs[0],
        split.outputs[1] >> text.inputs[0],
        outputs=[count.outputs[0], text.outputs[0]],
    )
    letters: list[DeadLetter] = []
    run = query.into(lambda n: print("fine:", n), lambda t: print("error:", t), on_error=letters)
    run.push_all(LOG)
    for letter in letters:
        print(f"not understood: {letter.error.event} (input event {letter.error.position})")


if __name__ == "__main__":
    main()
