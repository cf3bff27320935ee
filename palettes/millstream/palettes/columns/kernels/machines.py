"""Kernel of state machines without variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millstream.palettes.fsm import MooreMachine
from millstream.palettes.fsm.transitions import OTHERWISE, is_constant
from millstream.processors import Expression
from millstream.processors.expressions import Binary, Constant, Input

from ..column import Array, Column, Unfit, of_codes
from ..comparing import compared, plain
from ..evaluating import Function, NotColumnar, compiled, event
from ..frame import Frame, of_values
from ..scanning import Automaton
from .base import Fields, Front, Kernel, Outputs, kernel_for
from .leaves import LETTERS, symbols_of

EVENT = Input(0, "X")
#: comparing texts with so many constants one by one is faster than looking them up
FEW = 6
#: the code of states that say nothing
SILENT = 255


@kernel_for(MooreMachine)
class MachineKernel(Kernel):
    """The symbol of each state entered."""

    def __init__(self, node: MooreMachine) -> None:
        if node.variables or node.overlap == "error":
            raise NotColumnar("a machine with variables, or that looks out for overlapping guards")
        self.node, self.states = node, node.states
        self.number = {s: k for k, s in enumerate(self.states)}
        guards = dict.fromkeys(map(_Guard, (t.guard for t in node.transitions if t.guard is not OTHERWISE)))
        self.guards = [g.guard for g in guards]
        self.constants = all(map(is_constant, self.guards))
        self.letters = [] if self.constants else self._compiled()
        width = len(self.guards) + 1 if self.constants else 1 << len(self.guards)
        stuck = len(self.states)
        table = [[self._next(s, v) for v in range(width)] for s in self.states] + [[stuck] * width]
        self.automaton = Automaton(np.array(table))
        self._say(node)

    def _compiled(self) -> list[Function]:
        if len(self.guards) > LETTERS:
            raise NotColumnar(f"a machine with more than {LETTERS} different guards, some of them conditions")
        return [compiled(Binary("==", EVENT, Constant(g)) if is_constant(g) else g) for g in self.guards]

    def _say(self, node: MooreMachine) -> None:
        shown = {s: s for s in self.states} if node.symbols is None else node.symbols
        if any(isinstance(y, Expression) for y in shown.values()):
            raise NotColumnar("a machine whose symbols are computed")
        self.said = tuple(shown[s] for s in self.states if s in shown)
        if len(self.states) >= SILENT:
            raise NotColumnar(f"a machine with {SILENT} states or more")
        self.silent = len(self.said) < len(self.states)
        codes = iter(range(len(self.said)))
        self.codes = np.array([next(codes) if s in shown else SILENT for s in (*self.states, None)], np.uint8)

    def _holds(self, guard: Any, v: int) -> bool:
        at = next(k for k, g in enumerate(self.guards) if _Guard(g) == _Guard(guard))
        return v == at if self.constants else bool(v >> at & 1)

    def _next(self, source: Any, v: int) -> int:
        """Return the state after a symbol; one more than there are if there is no transition."""
        own = [t for t in self.node.transitions if t.source == source]
        for t in own:
            if t.guard is not OTHERWISE and self._holds(t.guard, v):
                return self.number[t.target]
        for t in own:
            if t.guard is OTHERWISE:
                return self.number[t.target]
        return self.number[source] if self.node.unmatched == "stay" else len(self.states)

    def _symbols(self, frame: Frame) -> Array:
        if not self.constants:
            return symbols_of(self.letters, frame)
        value = event(frame)
        if not isinstance(value, Column):
            raise Unfit("whole rows as the events of a machine")
        if value.kind == "s" and len(self.guards) > FEW and all(isinstance(g, str) for g in self.guards):
            found = pc.index_in(plain(value.data), pa.array(self.guards, pa.string()))
            return found.fill_null(len(self.guards)).to_numpy()  # type: ignore[no-any-return]
        symbols = np.full(frame.length, len(self.guards), np.int32)
        for k in range(len(self.guards) - 1, -1, -1):
            np.copyto(symbols, k, where=compared("==", value, self.guards[k]).data)
        return symbols

    def run(self, state: Fields, front: Front) -> tuple[Outputs, Fields]:
        at, values = state
        codes, last = self.automaton.outputs(self.number[at], self._symbols(front[0]), self.codes)
        if last == len(self.states):  # which is never left
            raise Unfit("an event without a transition")
        if self.silent:
            codes = codes[codes != SILENT]
        return (of_values(of_codes(codes, self.said)),), (self.states[last], values)


class _Guard:
    """A guard as a key: values by type and value, conditions by identity or as they print."""

    def __init__(self, guard: Any) -> None:
        self.guard = guard
        self.key = (
            repr(guard) if isinstance(guard, Expression) else (guard if is_constant(guard) else id(guard))
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Guard)
            and bool(self.key == other.key)
            and (isinstance(self.guard, Expression) == isinstance(other.guard, Expression))
        )

    def __hash__(self) -> int:
        return hash(self.key)
