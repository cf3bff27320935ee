"""One function for an event in a slice: find the state, move it in, run the inner query, move it out.

Calls cost more than the work between them, so the pieces are put together as text: the key expression, the
state fields of the inner query, and, if it consists of one region, its very lines (see `embedding`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from millstream.processors import MISSING, Run
from millstream.processors.apply import inline_call
from millstream.processors.embedding import lines_of, names_of, origins, raise_at
from millstream.processors.processor import fields, is_state

from .keys import ALL, Keys, several, unhashable

STEP = """\
def step(self, x):
    key = {by}
    states = self.states
    try:
        s = states.get(key, nothing)
    except TypeError as error:
        raise unhashable(key) from error
    if s is nothing:
        if key is None or key is ALL or key.__class__ is Keys:
            for key in several(key, states):
                touch(self, key, x)
            return {done}
        {fresh}
"""
TOUCH = """\
def touch(self, key, x):
    states = self.states
    s = states.get(key, nothing)
    if s is nothing:
        {fresh}
"""
KEEP = """\
    states[key] = s
"""
DROP = """\
    try:
        if s {same} first:
            states.pop(key, None)
        else:
            states[key] = s
    except Exception:
        states[key] = s
"""
#: the inner query is called, and puts its outputs into a list
CALL = """\
    try:
        entry(x)
    except BaseException:
        self.deliver(key)
        raise
"""
AFTER_CALL = """\
    if len(out) == 1:
        y = out.pop()
        {put}
    elif out:
        self.deliver(key)
"""
#: the lines of the inner query stand here, and give at most one output
AFTER_SOME = """\
    if y is not nothing:
        {put}
"""
AFTER_ONE = """\
    {put}
"""
#: what is done with an output y, and at the end of an event
PAIRS = ("self.emit((key, y))", "")
SNAPSHOTS = ("self.shown = self.shown.set(key, y)", "self.emit(self.shown)")


@frozen
class Fused:
    """The function, and for each of its lines the line of the inner query's code that it is."""

    step: Callable[[Any, Any], None]
    lines: dict[int, int]


def fuse(by: Any, run: Run, out: list[Any], keep: bool, shape: tuple[str, str]) -> Fused:
    """Return the step of slices, a function of (processor, event)."""
    first = run.fresh()
    slots = [(n, a.name) for n in run.processors for a in fields(n) if is_state(a)]
    moves = _moves(slots, first)
    key, names = inline_call(by, 1)
    moves["by"] = key.format("x", **{n: f"by_{n}" for n in names})
    if run.fresh() is first:
        moves["fresh"] = "s = first"
    moves["same"] = "is" if len(first) == 1 and first[0] is MISSING else "=="
    head = moves["give"] + "\n"
    body, after = _inner(run)
    moves["put"], moves["done"] = shape
    tail = moves["take"] + "\n" + (KEEP + after if keep else DROP + after).format(**moves)
    text = STEP.format(**moves) + head + body + tail + f"    {shape[1]}\n"
    text += TOUCH.format(**moves) + head + body + tail
    scope: dict[str, Any] = {
        **names_of(run),
        **{f"by_{n}": v for n, v in names.items()},
        **{f"o{k}": n for k, (n, _) in enumerate(slots)},
        **{"entry": run.entry, "give": run.give, "take": run.take, "fresh": run.fresh, "out": out},
        **{"ALL": ALL, "Keys": Keys, "several": several, "unhashable": unhashable, "raise_at": raise_at},
        **{"first": first[0] if len(first) == 1 else first, "nothing": object()},
    }
    exec(compile(text, "<slices>", "exec"), scope)
    return Fused(scope["step"], origins(text))


def _moves(slots: list[tuple[Any, str]], first: tuple[Any, ...]) -> dict[str, str]:
    """Return the lines that make a state, move it in and move it out."""
    comma = "," if len(first) == 1 else ""
    places = "".join(f"o{k}.{name}, " for k, (_, name) in enumerate(slots))
    moves = {"fresh": f"s{comma} = fresh()", "give": "    pass", "take": "    s = ()"}
    if len(slots) != len(first):  # the queues of joins have state too: leave it to the run
        moves |= {"give": f"    give({'(s,)' if comma else 's'})", "take": f"    s{comma} = take()"}
    elif slots:
        moves |= {"give": f"    {places}= s{comma}", "take": f"    s{comma} = {places}"}
    if comma and len(slots) == 1:
        moves |= {"give": f"    o0.{slots[0][1]} = s", "take": f"    s = o0.{slots[0][1]}"}
    return moves


def _inner(run: Run) -> tuple[str, str]:
    """Return the lines that run the inner query, and those that come after the state has been moved out."""
    lines = lines_of(run)
    if lines is None:
        return CALL, AFTER_CALL
    body = [] if lines.certain else ["    y = nothing"]
    body += ["    try:", *["        while True:"] * lines.leaves]
    margin = "        " + "    " * lines.leaves
    body += [
        f"{margin}{lines.event} = x",
        *lines.body(1 + lines.leaves, "break"),
        *[f"{margin}break"] * lines.leaves,
    ]
    body += ["    except Exception as error:", "        raise_at(self.run, self.fused.lines, error)"]
    return "\n".join(body) + "\n", AFTER_ONE if lines.certain else AFTER_SOME
