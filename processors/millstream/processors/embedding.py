"""The code of an inner query, to stand inside the function of the processor that hosts it.

A hook for processors that host a query, as windows and slices do. Calling the inner query costs more than
what many queries do with an event. If it consists of one region (see `plan`), its lines can be put into the
host's own function instead. They come from the code generator; events and states are only ever values. A
failure in such a line must still be traced to the inner processor: every line carries its number in the inner
query's own code as a comment, and `raise_at` raises the error there.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from .codegen import push_source
from .push import Run

MARK = "  # "


@frozen
class Lines:
    """The lines of an inner query of one region, which gives at most one output for an event.

    Attributes
    ----------
    event, output : str
        The variable that the event comes in, and the one that holds the output.
    texts : tuple of str
        The lines, indented once.
    leaves : bool
        Whether the lines may be left early.
    certain : bool
        Whether there is an output for every event.
    """

    event: str
    output: str
    texts: tuple[str, ...]
    leaves: bool
    certain: bool

    def body(self, depth: int, leave: str) -> list[str]:
        """Return the lines, `depth` levels deeper, with an output assigned to y and `leave` for return."""
        found = []
        for number, line in enumerate(self.texts, 2):
            text = line.lstrip()
            margin = line[: len(line) - len(text)] + "    " * depth
            text = leave if text == "return" else f"y = {self.output}" if text.startswith("sink_0(") else text
            found.append(f"{margin}{text}{MARK}{number}")
        return found


def lines_of(run: Run) -> Lines | None:
    """Return the lines of an inner query, None if it has several regions or outputs.

    >>> from millstream.processors import Count
    >>> lines_of(Count().into()).body(0, "break")
    ['    v1 = n0.seen = n0.seen + 1  # 2', '    y = v1  # 3']
    """
    plan = run.processors[0].wiring.plan
    if len(plan.regions) != 1 or plan.joins or len(plan.regions[0].sends) != 1:
        return None
    region = plan.regions[0]
    texts = push_source(plan, tolerant=False, counting=False).text[1:-1]
    leaves = any(line.strip() == "return" for line in texts)
    certain = not leaves and any(line.startswith("    sink_0(") for line in texts)
    return Lines(region.params[0], region.sends[0].values[0], tuple(texts), leaves, certain)


def names_of(run: Run) -> dict[str, Any]:
    """Return the names that the lines use; `wiring` is not one of them, since the function is the host's."""
    names = dict(run.processors[0].wiring.names)
    del names["wiring"]
    return names


def origins(text: str) -> dict[int, int]:
    """Return the numbers that comments tell, by the lines they stand on."""
    marked = ((k, line.rpartition(MARK)) for k, line in enumerate(text.split("\n"), 1))
    return {k: int(number) for k, (_, mark, number) in marked if mark}


def raise_at(run: Run, lines: dict[int, int], error: Exception) -> None:
    """Raise an error again, at the line of the inner query's code where it came from."""
    trace = error.__traceback__
    line = lines.get(trace.tb_lineno) if trace is not None else None
    if line is None:
        raise error
    scope = {"wiring": run.processors[0].wiring, "error": error}
    exec(compile("\n" * (line - 1) + "raise error", "<inner>", "exec"), scope)
