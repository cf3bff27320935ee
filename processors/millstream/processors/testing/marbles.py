"""Marble diagrams: traces in time as text, one character for each moment, as in the reactive libraries.

| text | meaning |
|---|---|
| `-` | a moment without events |
| `a`, `7` | an event: the value given for this character, else a digit is a number, a letter a text |
| `(ab)` | several events in one moment |
| a bar | the trace ends; outputs that come because of it stand in the same moment, as in `(x|)` |
| `#` | the query fails |
| space | nothing: for alignment |

Outputs stand in the moment of the input that causes them. So a diagram says not only what comes out, but
when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import define, field, frozen

from ..clock import VirtualClock
from ..errors import StreamError, shorten
from ..query import Query, as_query


class _Sign:
    """The end of a trace, or a failure."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


END: Final = _Sign("|")
FAILURE: Final = _Sign("#")
SIGNS: Final = {"|": END, "#": FAILURE}


@frozen
class Marbles:
    """A diagram: for each moment, what happens in it.

    >>> Marbles.parse("a-(bc)|").moments
    (('a',), (), ('b', 'c'), (|,))
    >>> str(Marbles.parse("1 - 2", {"1": True, "2": False}))
    '1-2'
    """

    moments: tuple[tuple[Any, ...], ...]
    values: Mapping[str, Any] = field(factory=dict)

    @staticmethod
    def parse(text: str, values: Mapping[str, Any] | None = None) -> Marbles:
        """Read a diagram."""
        known = dict(values or {})
        return Marbles(tuple(_moments(text, known)), known)

    def events(self, moment: int) -> tuple[Any, ...]:
        """Return the events of a moment, without the end."""
        if moment >= len(self.moments):
            return ()
        return tuple(e for e in self.moments[moment] if not isinstance(e, _Sign))

    @property
    def end(self) -> int | None:
        """The moment at which the trace ends, if it does."""
        return next((k for k, events in enumerate(self.moments) if END in events), None)

    def __str__(self) -> str:
        return "".join(map(self.moment_text, self.moments))

    def moment_text(self, events: tuple[Any, ...]) -> str:
        """Return a moment as it is written."""
        signs = "".join(map(self.sign, events))
        return f"({signs})" if len(events) > 1 else signs or "-"

    def sign(self, event: Any) -> str:
        """Return the character of an event; a value without one stands between angle brackets."""
        if isinstance(event, _Sign):
            return event.text
        for sign, value in self.values.items():
            if type(value) is type(event) and value == event:
                return sign
        text = str(event)
        plain = len(text) == 1 and text not in "-()|# <>" and text not in self.values
        return text if plain and isinstance(event, int | str) else f"<{shorten(event, 40)}>"


def _moments(text: str, values: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    group: list[Any] | None = None
    for k, sign in enumerate(text):
        if sign in " ,":
            continue
        if (sign == "(" and group is not None) or (sign == ")" and group is None):
            raise ValueError(f"marbles {text!r}: unexpected {sign!r} at {k}")
        if sign == "(":
            group = []
        elif sign == ")":
            yield tuple(group or ())
            group = None
        elif sign == "-":
            if group is not None:
                raise ValueError(f"marbles {text!r}: a moment within a moment at {k}")
            yield ()
        else:
            event = SIGNS[sign] if sign in SIGNS else values.get(sign, int(sign) if sign.isdigit() else sign)
            if group is None:
                yield (event,)
            else:
                group.append(event)
    if group is not None:
        raise ValueError(f"marbles {text!r}: the last group is not closed")


def assert_marbles(
    query: Any,
    inputs: str | Sequence[str],
    outputs: str | Sequence[str],
    values: Mapping[str, Any] | None = None,
    *,
    clock: VirtualClock | None = None,
    tick: float = 1.0,
) -> None:
    """Check what comes out of a query, and when.

    Parameters
    ----------
    query
        A query, or a function or expression.
    inputs
        A diagram, or for a query with several inputs one for each; in a moment, inputs come in their order.
        The end comes when all of them have ended.
    outputs
        A diagram, or for a query with several outputs one for each.
    values
        What the characters stand for.
    clock, tick
        A clock that is moved on by `tick` before each moment.

    Examples
    --------
    >>> from millstream.processors import Apply, Decimate, KeepLast, X, Y
    >>> assert_marbles(Decimate(2), "abc-d|", "a-c--|")
    >>> assert_marbles(Apply(X + Y), ["1--3|", "-12-|"], ["-2-5|"])
    >>> assert_marbles(KeepLast(), "ab--|", "----(b|)")
    >>> assert_marbles(Decimate(2), "abc|", "ab-|")
    Traceback (most recent call last):
    AssertionError: Decimate(2) gives other marbles than expected:
      input     abc|
      expected  ab-|
      got       a-c|
    """
    query = as_query(query)
    given = [Marbles.parse(text, values) for text in ([inputs] if isinstance(inputs, str) else inputs)]
    wanted = [Marbles.parse(text, values) for text in ([outputs] if isinstance(outputs, str) else outputs)]
    if (len(given), len(wanted)) != query.arity:
        raise ValueError(
            f"assert_marbles: {shorten(query)} has {query.arity[0]} inputs and {query.arity[1]} outputs, "
            f"got {len(given)} and {len(wanted)} diagrams"
        )
    got = Recorder(query, given, clock, tick).run(max(len(m.moments) for m in given + wanted))
    if any(_trimmed(w) != _trimmed(g) for w, g in zip(wanted, got, strict=True)):
        raise AssertionError(
            f"{shorten(query)} gives other marbles than expected:\n" + _picture(given, wanted, got)
        )


@define
class Recorder:
    """Plays diagrams into a query and writes down what comes out."""

    query: Query
    given: list[Marbles]
    clock: VirtualClock | None
    tick: float
    now: list[list[Any]] = field(init=False)

    def run(self, length: int) -> list[Marbles]:
        """Return the diagrams of the outputs."""
        self.now = [[] for _ in range(self.query.arity[1])]
        sinks = [lambda y, k=k: self.now[k].append(y) for k in range(len(self.now))]
        run = self.query.into(*sinks)
        ends = [m.end for m in self.given]
        end = None if None in ends else max(e for e in ends if e is not None)
        moments: list[list[tuple[Any, ...]]] = [[] for _ in self.now]
        for k in range(length):
            if self.clock is not None:
                self.clock.sleep(self.tick)
            goes_on = self.moment(run, k, k == end)
            for out, events in zip(moments, self.now, strict=True):
                out.append(tuple(events))
                events.clear()
            if not goes_on:
                break
        return [Marbles(tuple(out), self.given[0].values) for out in moments]

    def moment(self, run: Any, k: int, last: bool) -> bool:
        """Play one moment; return whether others may follow."""
        try:
            for port, marbles in enumerate(self.given):
                run.push_all(marbles.events(k), port)
            if last:
                run.end()
        except StreamError:
            for events in self.now:
                events.append(FAILURE)
            return False
        if last:
            for events in self.now:
                events.append(END)
        return True


def _trimmed(marbles: Marbles) -> list[tuple[Any, ...]]:
    """Return the moments without empty ones at the end."""
    moments = list(marbles.moments)
    while moments and not moments[-1]:
        moments.pop()
    return moments


def _picture(given: list[Marbles], wanted: list[Marbles], got: list[Marbles]) -> str:
    """Return all diagrams below each other, their moments aligned."""
    names = [*["input"] * len(given), *["expected", "got"] * len(wanted)]
    diagrams = [*given, *(m for pair in zip(wanted, got, strict=True) for m in pair)]
    rows = [list(map(m.moment_text, m.moments)) for m in diagrams]
    length = max(map(len, rows))
    rows = [row + [""] * (length - len(row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"  {name:8}  " + "".join(t.ljust(w) for t, w in zip(row, widths, strict=True)).rstrip()
        for name, row in zip(names, rows, strict=True)
    )
