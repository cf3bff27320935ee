"""Kernels of formulas: `Monitor`, and `Verdicts` of formulas that need few states or only the past.

The letters of a formula become columns of truth values, those together a column of symbols, and the states of
the formula's own automaton are found for the whole batch (`scanning`). States and configurations are the
objects of the temporal logic palette, so that the saved state is the same.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from millstream.palettes.ltl import Monitor, Verdicts
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.configs import Config
from millstream.palettes.ltl.inorder import InOrder, Pending
from millstream.palettes.ltl.monitor import SEMANTICS
from millstream.palettes.ltl.past import Previous, Since
from millstream.palettes.ltl.pastonly import Memories, PastEngine
from millstream.palettes.ltl.verdict import STRENGTH
from millstream.palettes.ltl.walk import subformulas

from ..column import VERDICTS, Array, Column, Unfit
from ..evaluating import Front, Function, NotColumnar
from ..frame import Frame, of_values
from ..loops import loops
from .base import Fields, Kernel, Outputs, kernel_for
from .leaves import LETTERS, STATES, Explored, holds, leaf, symbols_of
from .temporal import filled, given, since


@kernel_for(Monitor)
class MonitorKernel(Kernel):
    """What is known of the whole trace after each event."""

    def __init__(self, node: Monitor) -> None:
        if node.explain or node.compact is None:
            raise NotColumnar("a monitor that explains, or whose formula has no small automaton")
        if len(node.compact.letters) > LETTERS:
            raise NotColumnar(f"a formula with more than {LETTERS} letters")
        self.letters = [leaf(f, node.atoms) for f in node.compact.letters]
        self.says = SEMANTICS[node.semantics]
        self.explored: Explored | None = None
        self.codes = np.zeros(0, np.uint8)

    def alone(self) -> MonitorKernel:
        return copy(self)  # what has been explored is noted, and programs may run in several threads

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        now, why = state
        explored = self._from(now)
        symbols = symbols_of(self.letters, front[0])
        found, last = explored.automaton.outputs(explored.number[now], symbols, self.codes)
        if last == explored.refused:  # which is never left
            raise Unfit(f"a monitor that reaches more than {STATES} states")
        return (of_values(Column("e", found, type=VERDICTS)),), (explored.states[last], why)

    def _from(self, now: Any) -> Explored:
        if self.explored is None or now not in self.explored.number:
            self.explored = Explored(now, 1 << len(self.letters), _advance)
            said = [STRENGTH[getattr(s, self.says).name] if s else 0 for s in self.explored.states]
            self.codes = np.array(said, np.uint8)
        return self.explored


def _advance(state: Any, v: int) -> tuple[Any, None]:
    return (None if state is None else state.step(v)), None


#: where a decided stretch ends: where the second run begins, before this event, after it
SECOND, HERE, BEHIND = 0, 1, 2


@kernel_for(Verdicts)
def verdicts(node: Verdicts) -> Kernel:
    """Return the kernel for the engine that the formula has chosen."""
    if node.earliest or node.explain or node.at_end == "both":
        raise NotColumnar("verdicts out of order, with reasons, or in pairs")
    engine = node.compiled()
    if isinstance(engine, PastEngine) and engine.time is None:
        return PastFormulaKernel(node, engine)
    if isinstance(engine, InOrder) and len(engine.machine.letters) <= LETTERS:
        return InOrderKernel(node, engine)
    raise NotColumnar("a formula with long bounds, times, quantifiers or too many letters")


class InOrderKernel(Kernel):
    """The verdicts of all positions, in order, where at most two kinds of positions wait."""

    def __init__(self, node: Verdicts, engine: InOrder) -> None:
        self.ends = node.at_end is not None
        self.letters = [leaf(f, node.atoms) for f in engine.machine.letters]
        self.explored: Explored | None = None

    def alone(self) -> InOrderKernel:
        return copy(self)

    def enter(self, fields: Fields) -> Any:
        pending, kept, told = fields
        starts = None if pending.log is not None else tuple(pending.starts)
        return pending if starts is None else (pending.row, starts, pending.n), kept, told

    def leave(self, state: Any) -> Fields:
        held, kept, told = state
        if isinstance(held, Pending):
            return state  # type: ignore[no-any-return]
        row, starts, n = held
        return Pending(row, list(starts), n), kept, told

    def run(self, state: Any, front: Front) -> tuple[Outputs, Any]:
        held, kept, told = state
        if isinstance(held, Pending) or len(held[1]) > 2:
            raise Unfit("positions that wait in more than two ways")
        row, starts, n = held
        explored = self._from(row)
        symbols = symbols_of(self.letters, front[0])
        if not len(symbols):
            return given(np.zeros(0, bool)), state
        first, compiled = explored.number[row], loops(len(symbols))
        if compiled is not None:
            found, last, head, second = self._followed(compiled, first, symbols, starts, n)
        else:
            numbers = explored.automaton.states(first, symbols)
            if explored.refused >= 0 and (numbers == explored.refused).any():
                raise Unfit("positions that wait in more than two ways")
            before = np.concatenate([[first], numbers[:-1]])
            found, head, second = self._decided(before * (1 << len(self.letters)) + symbols, starts, n)
            last = numbers[-1]
        to = explored.states[last]
        after = (to, (head, second)[: len(to.runs)], n + len(symbols))
        return given(found), (after, kept, told)

    def _followed(
        self, compiled: Any, state: int, symbols: Array, starts: tuple[int, ...], n: int
    ) -> tuple[Array, int, int, int]:
        """Return what `_decided` does, and the last state, by the compiled loop."""
        head, second = (starts[0] if starts else n), (starts[1] if len(starts) > 1 else 0)
        at, explored = np.array([state, 0, second - head, n - head]), self.explored
        assert explored is not None
        table, shift = explored.automaton.packed, explored.automaton.shift
        found = None
        if self.only is None:
            found = np.empty(n + len(symbols) - head, np.uint8)
            compiled.decide(table, shift, symbols, self.marks.ravel(), self.marks.shape[1], at, found)
        else:
            compiled.reach(table, shift, symbols, self.last, at)
        state, many, second, _ = at.tolist()
        if state == explored.refused:
            raise Unfit("positions that wait in more than two ways")
        verdicts = np.full(many, self.only) if found is None else found[:many].view(np.bool_)
        return verdicts, state, head + many, head + second

    def _marked(self) -> Array:
        """Return what happens in each step as the compiled loop reads it."""
        marks = np.full((len(self.begins), 2 + self.stretches.shape[1]), 255, np.uint8)
        decided = self.stretches >= 0
        marks[:, 0] = self.begins
        marks[:, 1:-1][decided] = (self.stretches * 2 + self.values)[decided]
        return marks

    def _decided(self, steps: Array, starts: tuple[int, ...], n: int) -> tuple[Array, int, int]:
        """Return the verdicts that leave, the first position that waits, and where the second run begins."""
        beginning = self.begins.take(steps)
        begins = beginning.nonzero()[0]
        first = starts[1] if len(starts) > 1 else 0
        head = starts[0] if starts else n
        last = int(begins[-1]) + n if len(begins) else first
        places = self.decides.take(steps).nonzero()[0] if self.decides.any() else begins[:0]
        if not len(places):
            return np.zeros(0, bool), head, last
        taken = steps.take(places)
        rows, which = (self.stretches.take(taken, axis=0) >= 0).nonzero()
        places, taken = places.take(rows), taken.take(rows)
        kinds, values = (t[taken, which] for t in (self.stretches, self.values))
        ends = places + n + (kinds == BEHIND)
        if (kinds == SECOND).any():
            second = np.concatenate([[first], filled(first, beginning, begins + n)[:-1]])
            ends = np.where(kinds == SECOND, second.take(places), ends)
        return np.repeat(values, np.diff(ends, prepend=head)), int(ends[-1]), last

    def _from(self, row: Config) -> Explored:
        if self.explored is None or row not in self.explored.number:
            self.explored = Explored(row, 1 << len(self.letters), _configured)
            given = self.explored.given
            self.begins = np.array([g is not None and g[0] for g in given])
            widest = max((len(g[1]) for g in given if g is not None), default=0)
            self.stretches = np.full((len(given), max(1, widest)), -1)
            self.values = np.zeros_like(self.stretches, dtype=bool)
            for k, g in enumerate(given):
                for j, (value, end) in enumerate(g[1] if g is not None else ()):
                    self.stretches[k, j], self.values[k, j] = end, value
            self.decides = (self.stretches >= 0).any(axis=1)
            self.marks = self._marked()
            found = np.unique(self.values[self.stretches >= 0])
            self.only = None if len(found) > 1 else bool(found.any())
            ends = self.stretches.max(axis=1)
            self.last = (np.where(ends < 0, 3, ends) + 128 * self.begins).astype(np.uint8)
        return self.explored


def _configured(row: Config | None, v: int) -> tuple[Any, Any]:
    """Return where a configuration leads, whether the second run begins here, and what is decided."""
    edge: Any = None if row is None else row.step(v)
    if row is None or edge is None or len(edge.to.runs) > 2:
        return None, None
    if isinstance(edge, Config):
        return edge, (False, ())
    runs = len(row.runs)
    ends = {1: SECOND} if runs == 2 else {}
    ends |= {runs: HERE, runs + 1: BEHIND} if edge.born else {runs: BEHIND}
    begins = len(edge.kept) == 2 and edge.born and edge.kept[1] == runs
    return edge.to, (begins, tuple((value, ends[i]) for value, i in edge.decided))


class PastFormulaKernel(Kernel):
    """A formula about the present and the past: each operator over the whole batch."""

    def __init__(self, node: Verdicts, engine: PastEngine) -> None:
        self.formula, self.ends = engine.formula, node.at_end is not None
        self.leaves: dict[Formula, Function] = {}
        for f in subformulas(engine.formula):
            if getattr(f, "bounds", None) is not None:
                raise NotColumnar("a past operator with bounds")
            if not f.children:
                self.leaves[f] = leaf(f, node.atoms)

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        (pending, kept, told), frame = state, front[0]
        known: dict[Formula, Array] = {}
        memories: list[Any] = []
        for f in subformulas(self.formula):
            if f not in known:
                below = [known[c] for c in f.children]
                known[f] = self._value(f, below, frame, pending.memories, memories)
        after = Memories(memories, pending.n + frame.length, pending.last)
        return given(known[self.formula]), (after, kept, told)

    def _value(self, f: Formula, below: list[Array], frame: Frame, old: list[Any], new: list[Any]) -> Array:
        match f:
            case fm.Not():
                return ~below[0]
            case fm.And():
                return below[0] & below[1]
            case fm.Or():
                return below[0] | below[1]
            case fm.Implies():
                return ~below[0] | below[1]
            case fm.Iff():
                return below[0] == below[1]  # type: ignore[no-any-return]
            case fm.Y():
                last = old[len(new)].last
                new.append(Previous(bool(below[0][-1]) if frame.length else last))
                return np.concatenate([[last], below[0]])[: frame.length]
        if f in self.leaves:
            return holds(self.leaves[f], frame)
        everywhere = np.ones(frame.length, bool)
        left, right = everywhere, ~below[0] if isinstance(f, fm.H) else below[0]
        if isinstance(f, (fm.S, fm.Span)):
            left, right = (below[0], below[1]) if isinstance(f, fm.S) else (~below[1], below[0])
        held = old[len(new)].held
        found = since(held, left, right)
        new.append(Since(bool(found[-1]) if frame.length else held))
        return ~found if isinstance(f, fm.H) else found
