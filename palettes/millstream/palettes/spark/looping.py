"""One loop over the events of a batch: find the state of the key, move it in, run the query, move it out.

Calls cost more than the work between them, so the loop is put together as text: the state fields of the query
and, if it consists of one region, its very lines (see `embedding`; the slicer does the same for one event).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from textwrap import indent
from typing import Any

from attrs import frozen

from millstream.processors import Run, StreamError
from millstream.processors.embedding import Lines, lines_of, names_of, origins, raise_at
from millstream.processors.processor import fields, is_state

LOOP = """\
def loop(pairs, states, put):
    for key, x in pairs:
{find}
{body}
{keep}
{put}
"""
FIND = """\
s = states.get(key, nothing)
if s is nothing:
    s = fresh()
{places} = s"""
GIVE = """\
s = states.get(key, nothing)
give(fresh() if s is nothing else s)"""
SOME = """\
y = nothing
while True:
    {event} = x
{lines}
    break"""


@frozen
class Loop:
    """A run of a query, and the function that takes pairs of key and event through it.

    Attributes
    ----------
    run : Run
        What holds the state of the key at hand; its outputs go to `put` as well.
    take : callable
        The function of (pairs, states, put); states are tuples, or values if the query has only one.
    lines : dict
        For each of its lines the line of the query's own code that it is.
    single : bool
        Whether states are values.
    """

    run: Run
    take: Callable[[Iterable[tuple[Any, Any]], dict[Any, Any], Callable[[Any], None]], None]
    lines: dict[int, int]
    single: bool

    def blame(self, error: Exception) -> StreamError:
        """Return the error that names the failing processor."""
        inside = error.__traceback__ and error.__traceback__.tb_next
        try:
            raise_at(self.run, self.lines, error.with_traceback(inside))
        except Exception as again:
            error = again
        blamed: StreamError = self.run.processors[0].wiring.blame(error)
        return blamed


def keyed_loop(run: Run, always: bool) -> Loop:
    """Return the loop for a query; `always` keeps a state even if it is empty, so that keys are known.

    >>> from millstream.processors import Count
    >>> states, given = {}, []
    >>> keyed_loop(Count().into(), False).take(zip("aba", range(3)), states, given.append)
    >>> given, states
    ([1, 1, 2], {'a': 2, 'b': 1})
    """
    slots = [(n, a.name) for n in run.processors for a in fields(n) if is_state(a)]
    single = len(slots) == len(run.fresh()) == 1
    find, keep = _moves(slots, run.fresh(), always)
    lines = lines_of(run)
    body = "entry(x)" if lines is None else _body(lines)
    put = "" if lines is None else "put(y)" if lines.certain else "if y is not nothing:\n    put(y)"
    parts = {"find": find, "body": body, "keep": keep, "put": put}
    text = LOOP.format(**{name: indent(part, "        ") for name, part in parts.items()})
    scope: dict[str, Any] = {
        **names_of(run),
        **{f"o{k}": n for k, (n, _) in enumerate(slots)},
        **{"entry": run.entry, "give": run.give, "take": run.take, "nothing": object()},
        "fresh": _fresh(run) if single else run.fresh,
    }
    exec(compile(text, "<loop>", "exec"), scope)
    return Loop(run, scope["loop"], origins(text), single)


def _moves(slots: list[tuple[Any, str]], first: tuple[Any, ...], always: bool) -> tuple[str, str]:
    """Return the lines that move the state of a key in, and out."""
    if len(slots) != len(first):  # the queues of joins have state too: leave it to the run
        return GIVE, "states[key] = take()"
    if not slots:
        return "", "states[key] = ()" if always else ""
    places = ", ".join(f"o{k}.{name}" for k, (_, name) in enumerate(slots))
    return FIND.format(places=places), f"states[key] = {places}"


def _fresh(run: Run) -> Callable[[], Any]:
    return lambda: run.fresh()[0]


def _body(lines: Lines) -> str:
    """Return the lines of a query, which leave an output in y."""
    if not lines.leaves:
        text = "\n".join(line[4:] for line in lines.body(0, ""))
        return f"{'' if lines.certain else 'y = nothing'}\n{lines.event} = x\n{text}"
    return SOME.format(event=lines.event, lines="\n".join(lines.body(0, "break")))
