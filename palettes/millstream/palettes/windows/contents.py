"""What a window holds, and how its value is found: one small class for each way.

The objects of this file have no state of their own. What a window holds is a plain list or deque that the
processor keeps among its state, so that it is saved, copied and compared like any other state.

=========  ==========================================  =====================================
class      holds                                       for
=========  ==========================================  =====================================
`Stacks`   two stacks of partial folds                 associative folds, events may leave
`Total`    one value                                   associative folds, events do not leave
`Replay`   the events; the inner query is run again    any query, events may leave
`Copy`     the state of one copy of the inner query    any query, events do not leave
`Whole`    the events; a function is called on them    functions of a window
=========  ==========================================  =====================================
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from millstream.processors import MISSING, Processor, Query, Run, as_function
from millstream.processors.embedding import lines_of, names_of, origins, raise_at
from millstream.processors.errors import fail_parameter
from millstream.processors.expressions import Expression
from millstream.processors.lists import host

from .monoid import Monoid, monoid_of
from .recognise import as_monoid
from .sliding import suffixes


class Contents:
    """How windows are kept; `held` is always something that `empty` has made."""

    def empty(self) -> Any:
        """Return what an empty window holds."""
        raise NotImplementedError

    def add(self, held: Any, x: Any) -> None:
        """Take an event into the window."""
        raise NotImplementedError

    def drop(self, held: Any) -> None:
        """Let the oldest event leave the window."""
        raise NotImplementedError

    def value(self, held: Any, closing: bool = True) -> Any:
        """Return the output for the window, or MISSING; `closing` if no more events will come to it."""
        raise NotImplementedError


class _Fold(Contents):
    def __init__(self, monoid: Monoid) -> None:
        self.combine = as_function(monoid.combine)
        self.lift = None if monoid.lift is None else as_function(monoid.lift)
        self.lower = None if monoid.lower is None else as_function(monoid.lower)
        self.start = monoid.start
        self.suffixes = suffixes(monoid.combine)

    def finished(self, total: Any) -> Any:
        """Return the output for a fold."""
        return total if self.lower is None or total is MISSING else self.lower(total)


class Stacks(_Fold):
    """Two stacks: folds of suffixes of the older events, and the newer events with their fold.

    >>> from operator import add
    >>> stacks = Stacks(Monoid(add))
    >>> held = stacks.empty()
    >>> for x in "abc":
    ...     stacks.add(held, x)
    >>> stacks.drop(held)
    >>> stacks.value(held)
    'bc'
    """

    def empty(self) -> list[Any]:
        return [[], [], MISSING]

    def add(self, held: list[Any], x: Any) -> None:
        x = x if self.lift is None else self.lift(x)
        held[2] = self.combine(held[2], x) if held[1] else x
        held[1].append(x)

    def drop(self, held: list[Any]) -> None:
        if not held[0]:
            held[:] = self.suffixes(held[1]), [], MISSING
        held[0].pop()

    def value(self, held: list[Any], closing: bool = True) -> Any:
        front, back, total = held
        if front:
            total = self.combine(front[-1], total) if back else front[-1]
        if self.start is not MISSING and total is not MISSING:
            total = self.combine(self.start, total)
        return self.finished(total)


class Total(_Fold):
    """One running fold, from left to right."""

    def empty(self) -> list[Any]:
        return [MISSING]

    def add(self, held: list[Any], x: Any) -> None:
        x = x if self.lift is None else self.lift(x)
        before = self.start if held[0] is MISSING else held[0]
        held[0] = x if before is MISSING else self.combine(before, x)

    def value(self, held: list[Any], closing: bool = True) -> Any:
        return self.finished(held[0])


class Whole(Contents):
    """The events, and a function of the tuple of them."""

    def __init__(self, function: Callable[[tuple[Any, ...]], Any]) -> None:
        self.function = function

    def empty(self) -> deque[Any]:
        return deque()

    def add(self, held: deque[Any], x: Any) -> None:
        held.append(x)

    def drop(self, held: deque[Any]) -> None:
        held.popleft()

    def value(self, held: deque[Any], closing: bool = True) -> Any:
        return self.function(tuple(held)) if held else MISSING


class _Hosting(Contents):
    """The inner query, wired once; `last` gets its last output."""

    def __init__(self, owner: Processor, inner: Query) -> None:
        self.last: deque[Any] = deque(maxlen=1)
        self.run: Run = host(owner, inner, self.last)

    def finish(self, closing: bool) -> Any:
        """Return the last output of the copy that is in place, ended if the window closes."""
        if closing:
            self.run.finish()
        return self.last.pop() if self.last else MISSING


class Replay(_Hosting, Whole):
    """The events; a fresh copy of the inner query runs over them whenever the value is asked for."""

    def __init__(self, owner: Processor, inner: Query) -> None:
        super().__init__(owner, inner)
        self.feed, self.lines = self._looping()

    def _looping(self) -> tuple[Callable[[Any], None], dict[int, int]]:
        """Return a function that gives all events to the copy in place, and the origins of its lines."""
        lines, run = lines_of(self.run), self.run
        if lines is None:
            through = deque[Any](maxlen=0).extend  # runs through an iterator, in C
            return lambda held: through(map(run.entry, held)), {}
        text = "\n".join(
            [
                "def feed(held):",
                "    y = nothing",
                "    try:",
                f"        for {lines.event} in held:",
                *lines.body(2, "continue"),
                "    except Exception as error:",
                "        raise_at(error)",
                "    if y is not nothing:",
                "        put(y)",
            ]
        )
        numbers = origins(text)
        names = {**names_of(run), "nothing": MISSING, "put": self.last.append}
        names["raise_at"] = partial(raise_at, run, numbers)
        exec(compile(text, "<replay>", "exec"), names)
        return names["feed"], numbers

    def value(self, held: deque[Any], closing: bool = True) -> Any:
        run, last = self.run, self.last
        last.clear()
        run.give(run.fresh())
        self.feed(held)
        if closing:
            run.finish()
        return last.pop() if last else MISSING


class Copy(_Hosting):
    """The state of one copy of the inner query, and its last output."""

    def empty(self) -> list[Any]:
        return [None, MISSING]

    def add(self, held: list[Any], x: Any) -> None:
        run, last = self.run, self.last
        last.clear()
        run.give(run.fresh() if held[0] is None else held[0])
        run.entry(x)
        held[0] = run.take()
        if last:
            held[1] = last.pop()

    def value(self, held: list[Any], closing: bool = True) -> Any:
        if held[0] is None or not closing:
            return held[1]
        self.last.clear()
        self.run.give(held[0])
        value = self.finish(closing)
        return held[1] if value is MISSING else value


def contents(owner: Processor, inner: Any, leaving: bool, exact: bool = False) -> Contents:
    """Return the best way to keep windows over a query, a monoid or a function.

    Parameters
    ----------
    owner
        The processor that keeps the windows, for messages.
    inner
        A query, a `Monoid`, or a function or expression of the whole window.
    leaving
        Whether events leave a window one by one.
    exact
        Whether folds must run from left to right.
    """
    if isinstance(inner, Query):
        monoid = as_monoid(inner)
        if monoid is None or (exact and leaving):
            return (Replay if leaving else Copy)(owner, inner)
    else:
        monoid = monoid_of(inner)
        if monoid is None or exact:
            return Whole(inner.fold if isinstance(inner, Monoid) else as_function(inner))
    return (Stacks if leaving else Total)(monoid)


def check_inner(owner: Processor, inner: Any) -> None:
    """Raise a `ParameterError` unless windows can be valued by `inner`."""
    if isinstance(inner, Query):
        host(owner, inner, [])
    elif isinstance(inner, type) and issubclass(inner, Query):
        fail_parameter(owner, "inner", f"a query such as {inner.__name__}(...)", inner)
    elif not (isinstance(inner, (Monoid, Expression)) or callable(inner)):
        fail_parameter(owner, "inner", "a query, a Monoid or a function of the window", inner)
