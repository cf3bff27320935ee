"""The leaves of formulas as columns of truth values, and the automata over them as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Neg, Term
from millstream.processors.expressions import Attribute, Binary, Constant, Expression, Input, Unary

from ..column import Array, Unfit
from ..comparing import truth
from ..evaluating import Function, NotColumnar, compiled
from ..frame import Frame
from ..scanning import Automaton

#: how many letters and states are tabulated
LETTERS, STATES = 8, 64
EVENT = Input(0, "E")


def leaf(f: Formula, atoms: Any) -> Function:
    """Return the function of frames for a leaf of a formula."""
    match f:
        case fm.Truth():
            return compiled(Constant(f.value))
        case fm.Atom() if atoms is None:
            return compiled(Attribute(EVENT, f.name))
        case fm.Atom():
            return compiled(atoms[f.name])
        case fm.Test():
            return compiled(Binary(f.op, term(f.left), term(f.right)))
    raise NotColumnar(f"{f!r} is not about fields of the event")


def term(t: Term) -> Expression:
    """Return a term of a formula as an expression of the event."""
    match t:
        case Const():
            return Constant(t.value)
        case Field():
            return Attribute(EVENT, t.name)
        case Get():
            return Attribute(term(t.base), t.name)
        case Arith():
            return Binary(t.op, term(t.left), term(t.right))
        case Neg():
            return Unary("neg", term(t.operand))
    raise NotColumnar(f"{t!r} is not about fields of the event")


def holds(function: Function, frame: Frame) -> Array:
    """Return where a leaf holds."""
    value = function((frame,))
    if isinstance(value, Frame):
        raise Unfit("the truth of whole rows")
    return truth(value, frame.length)


def symbols_of(letters: Sequence[Function], frame: Frame) -> Array:
    """Return for each event the number whose bit k says whether letter k holds."""
    found = np.zeros(frame.length, np.uint8)
    for k, letter in enumerate(letters):
        bits = holds(letter, frame).view(np.uint8)
        found |= bits << np.uint8(k) if k else bits
    return found


class Explored:
    """The states that can be reached from one, numbered, and their table; `step` gives None to refuse."""

    def __init__(self, start: Any, width: int, step: Callable[[Any, int], Any]) -> None:
        self.states, self.number = [start], {start: 0}
        #: what each step has given, by state and symbol
        self.given: list[Any] = []
        table: list[list[int]] = []
        for state in self.states:
            row = []
            for v in range(width):
                target, given = step(state, v)
                self.given.append(given)
                if target not in self.number:
                    if len(self.states) >= STATES:
                        target = None
                    if target is not None or None not in self.number:
                        self.number[target] = len(self.states)
                        self.states.append(target)
                row.append(self.number[target])
            table.append(row)
        self.automaton = Automaton(np.array(table))
        #: the number of the state that is not followed further
        self.refused = self.number.get(None, -1)
