"""`assert_trace`: what comes out of a query for a given trace, with a readable difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, Final

from attrs import frozen

from ..errors import shorten
from ..query import Query, as_query
from .running import in_turn, pulled

#: how many equal outputs are shown before the first difference, and how many lines in all
CONTEXT: Final = 3
LINES: Final = 12
ABSENT: Any = object()


def assert_trace(query: Any, inputs: Any, outputs: Any) -> None:
    """Check that a query gives these outputs for these inputs, in push and in pull.

    Parameters
    ----------
    query
        A query, or a function or expression.
    inputs
        The trace, or for a query with several inputs a sequence of traces.
    outputs
        What has to come out, or for a query with several outputs a sequence of traces. Anything that can be
        compared with ``==`` may stand for an output, such as ``pytest.approx(0.3)``.

    Examples
    --------
    >>> from millstream.processors import Apply, Filter, X
    >>> assert_trace(Filter(X > 2), [1, 2, 3, 4], [3, 4])
    >>> assert_trace(Apply(X * 2), [1, 2, 3], [2, 5, 6])
    Traceback (most recent call last):
    AssertionError: push: Apply(X * 2) gives other outputs than expected, first at position 1:
      output  after input  expected  got
      0       0            2         2
    ! 1       1            5         4
      2       2            6         6
    """
    query = as_query(query)
    given = traces("inputs", inputs, query.arity[0])
    wanted = traces("outputs", outputs, query.arity[1])
    pairs = in_turn(given)
    timed = timed_push(query, pairs)
    _compare("push", query, wanted, timed)
    _compare("pull", query, wanted, [[(None, y) for y in out] for out in pulled(query, given)])


def traces(what: str, given: Any, count: int) -> list[list[Any]]:
    """Return one list for each input or output."""
    if count == 1:
        return [list(given)]
    found = list(map(list, given))
    if len(found) != count:
        raise ValueError(f"assert_trace: expected {count} traces of {what}, got {len(found)}")
    return found


def timed_push(query: Query, trace: Iterable[tuple[int, Any]]) -> list[list[tuple[Any, Any]]]:
    """Return each output with the position of the input after which it came, or "end"."""
    outs: list[list[tuple[Any, Any]]] = [[] for _ in range(query.arity[1])]
    now: Any = None

    def sink(k: int) -> Any:
        return lambda y: outs[k].append((now, y))

    run = query.into(*map(sink, range(len(outs))))
    for now, (port, event) in enumerate(trace):  # noqa: B007
        run.push_all((event,), port)
    now = "end"
    run.end()
    return outs


def _compare(
    way: str, query: Query, wanted: Sequence[list[Any]], got: Sequence[list[tuple[Any, Any]]]
) -> None:
    for k, (expected, found) in enumerate(zip(wanted, got, strict=True)):
        rows = _rows(expected, found)
        first = next((row.position for row in rows if not row.equal), None)
        if first is not None:
            which = f" of output {k}" if len(wanted) > 1 else ""
            raise AssertionError(
                f"{way}: {shorten(query)} gives other outputs than expected, "
                f"first at position {first}{which}:\n" + table(rows[max(0, first - CONTEXT) :])
            )


@frozen
class Row:
    """One position: what was expected, what came, and after which input."""

    position: int
    expected: Any
    got: Any
    after: Any

    @property
    def equal(self) -> bool:
        """Whether what came was expected."""
        if self.expected is ABSENT or self.got is ABSENT:
            return False
        return bool(self.expected == self.got) or repr(self.expected) == repr(self.got)

    def cells(self) -> tuple[str, ...]:
        """Return the texts of a line."""
        after = "" if self.after is None else str(self.after)
        return str(self.position), after, _text(self.expected), _text(self.got)


def _text(value: Any) -> str:
    return "(nothing)" if value is ABSENT else shorten(value, 60)


def _rows(expected: list[Any], found: list[tuple[Any, Any]]) -> list[Row]:
    pairs = zip_longest(expected, found, fillvalue=ABSENT)
    return [
        Row(n, want, ABSENT, None) if have is ABSENT else Row(n, want, have[1], have[0])
        for n, (want, have) in enumerate(pairs)
    ]


def table(rows: list[Row]) -> str:
    """Return rows as aligned text; lines that differ begin with an exclamation mark."""
    shown = rows[:LINES]
    lines = [("output", "after input", "expected", "got"), *(row.cells() for row in shown)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    marks = [" ", *(" " if row.equal else "!" for row in shown)]
    texts = [
        f"{mark} " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for mark, line in zip(marks, lines, strict=True)
    ]
    more = [f"  ... and {len(rows) - LINES} more"] if len(rows) > LINES else []
    return "\n".join(texts + more)
