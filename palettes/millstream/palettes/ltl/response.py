"""Bounded response, ``G (p -> F[low,high] q)`` and its relatives, as one loop.

Only positions where ``p`` holds wait for ``q``. They form a queue in order of their deadlines: a ``q``
takes those that are old enough, a deadline that passes takes one and decides all older positions of ``G``
at once. An event costs a constant, whatever the bounds. ``F p``, ``p & G[0,5] q`` and negations are brought
to this form.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from attrs import define, field, frozen

from millstream.processors import Mutable

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .instant import Instant
from .letters import Atoms, Leaves
from .past import Memory
from .rewrite import core, instants

Runs = list[tuple[bool, int]]


@frozen
class Response:
    """``G (guard -> F bounds goal)``, without the G if not `always`, negated if `flip`."""

    flip: bool
    always: bool
    guard: Formula
    goal: Formula
    bounds: Bounds


def recognise(formula: Formula) -> Response | None:
    """Return the formula as a bounded response, if it is one.

    >>> from millstream.palettes.ltl.parser import parse
    >>> recognise(parse("F (a & G[0,3] b)"))
    Response(flip=True, always=True, guard=a, goal=!b, bounds=[0,3])
    """
    f, sign = _strip(core(formula), True)
    if isinstance(f, fm.F | fm.G) and f.bounds is None:
        inside = _strip(f.operand, isinstance(f, fm.G))
        flips = [(sign != isinstance(f, fm.G), inside)]
        always = True
    else:
        flips = [(False, (f, sign)), (True, (f, not sign))]
        always = False
    for flip, inner in flips:
        found = _disjunction(*inner)
        if found is not None:
            return Response(flip, always, *found)
    return None


def _strip(f: Formula, sign: bool) -> tuple[Formula, bool]:
    while isinstance(f, fm.Not):
        f, sign = f.operand, not sign
    return f, sign


def _signed(f: Formula, sign: bool) -> Formula:
    return f if sign else fm.Not(f)


def _disjunction(f: Formula, sign: bool) -> tuple[Formula, Formula, Bounds] | None:
    """Return guard, goal and bounds if the formula says ``guard -> F bounds goal``."""
    known = instants(f)
    parts, stack = [], [(f, sign)]
    while stack:
        g, s = stack.pop()
        if g not in known and isinstance(g, fm.Or if s else fm.And):
            stack += [_strip(c, s) for c in g.children]
        else:
            parts.append((g, s))
    waiting = [p for p in parts if p[0] not in known]
    goal = _goal(*waiting[0]) if len(waiting) == 1 else None
    if goal is None:
        return None
    guards = [_signed(g, not s) for g, s in parts if g in known]
    guard = guards[0] if guards else fm.TRUE
    for other in guards[1:]:
        guard = guard & other
    return guard, *goal


def _goal(f: Formula, sign: bool) -> tuple[Formula, Bounds] | None:
    if not isinstance(f, fm.F if sign else fm.G) or f.bounds is None or f.bounds.unbounded:
        return None
    goal = _signed(*_strip(f.operand, sign))
    return (goal, f.bounds) if goal in instants(goal) else None


LOOP = """
def loop(events, pending):
    due, head, m = pending.due, pending.head, pending.memories
    n = pending.n - 1
    {begin}
    for n, e in enumerate(events, pending.n):
{lines}
        if {guard}:
            due.append(n)
        if due:
            if {goal}:
{take}
            elif due[0] <= n - {high}:
{fail}
{quiet}
    pending.head, pending.n = head, n + 1
"""


@define
class Waiting(Mutable):
    """The state of a run: positions that wait for the goal, and the first position without verdict."""

    memories: list[Memory]
    due: deque[Any] = field(factory=deque)
    head: int = 0
    n: int = 0


@define
class ResponseEngine:
    """Verdicts of a bounded response whose bounds count positions."""

    shape: Response
    atoms: Atoms
    instant: Instant = field(init=False)
    low: int = field(init=False)
    high: int = field(init=False)
    _loop: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        low, high = self.shape.bounds.whole()
        assert high is not None
        self.low, self.high = low, high
        self.instant = Instant(Leaves("Verdicts", self.atoms), True)
        self._loop = self._generate()

    def _generate(self) -> Any:
        guard, goal = self.instant.add(self.shape.guard), self.instant.add(self.shape.goal)
        good, bad = repr(not self.shape.flip), repr(self.shape.flip)
        pad = " " * 16
        if self.low == 0:
            take = f"{pad}due.clear()"
        else:
            take = f"{pad}while due and due[0] <= n - {self.low}: due.popleft()"
        if self.shape.always:
            fail = f"{pad}p = due.popleft()\n{pad}yield from repeat({bad}, p + 1 - head)\n{pad}head = p + 1"
            quiet = ""
        else:
            fail = f"{pad}p = due.popleft()\n{pad}yield from repeat({good}, p - head)\n{pad}yield {bad}\n"
            fail += f"{pad}head = p + 1"
            pad = " " * 8
            quiet = f"{pad}p = due[0] if due else n + 1\n{pad}if head < p:\n"
            quiet += f"{pad}    yield from repeat({good}, p - head)\n{pad}    head = p"
        lines = "".join(f"        {line}\n" for line in ["t = n", *self.instant.lines] if self.instant.lines)
        text = LOOP.format(
            begin="; ".join(self.instant.begin) or "pass",
            lines=lines,
            guard=guard,
            goal=goal,
            take=take,
            fail=fail,
            quiet=quiet,
            high=self.high,
        )
        names = {"repeat": repeat, **self.instant.leaves.names}
        exec(compile(text, "<response>", "exec"), names)
        return names["loop"]

    def fresh(self) -> Waiting:
        """Return the state before the first event."""
        return Waiting(self.instant.fresh())

    def iterate(self, p: Waiting, events: Iterator[Any]) -> Iterator[bool]:
        """Yield the verdicts for events."""
        return self._loop(events, p)  # type: ignore[no-any-return]

    def step(self, p: Waiting, event: Any) -> Runs:
        """Read one event; return the verdicts that leave, as runs."""
        return [(value, 1) for value in self._loop((event,), p)]

    def end(self, p: Waiting) -> Runs:
        """Return the verdicts of pending positions if the trace ends now."""
        good, bad = not self.shape.flip, self.shape.flip
        head, out = p.head, []
        for position in p.due:
            out += [(bad if self.shape.always else good, position - head), (bad, 1)]
            head = position + 1
        return [*out, (good, p.n - head)]

    def left(self, p: Waiting) -> list[tuple[bool | None, int]]:
        """Return what is known of the pending positions."""
        if self.shape.always:
            return [(None, p.n - p.head)]
        bad = self.shape.flip
        return [(None if value is bad else value, count) for value, count in self.end(p)]
