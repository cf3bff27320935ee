"""From operators and operands to formulas: the stack of an operator-precedence parser.

A bare name is kept undecided until its neighbour tells whether it is an atom (operand of a logical operator)
or a field or variable (operand of a comparison or of arithmetic).
"""

from __future__ import annotations

from typing import Final

import attrs

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .pieces import Pieces
from .terms import COMPARISONS, Arith, Const, Field, Neg, Term, Var
from .tokens import Token

UNARY: Final = {"!": fm.Not, "X": fm.X, "F": fm.F, "G": fm.G, "Y": fm.Y, "O": fm.O, "H": fm.H}
LOGICAL: Final = {"&": fm.And, "|": fm.Or, "->": fm.Implies, "<->": fm.Iff}
TEMPORAL: Final = {"U": fm.U, "W": fm.W, "R": fm.R, "S": fm.S}
BOUNDABLE: Final = frozenset("FGOHUWRS")


@attrs.frozen
class Name:
    """A bare name whose role is not known yet."""

    token: Token


Operand = Formula | Term | Name


@attrs.define
class Open:
    """An operator, bracket or quantifier waiting for its right operand."""

    token: Token
    kind: str  # "prefix", "infix", "(", "[", "[,", "quantifier"
    symbol: str
    strength: int = 0
    bounds: Bounds | None = None
    domain: Term | None = None


class Builder(Pieces):
    """Operands that are complete, operators that wait for their right operand, and the variables in scope."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.operands: list[Operand] = []
        self.stack: list[Open] = []
        self.scope: list[str] = []

    def reduce(self, strength: int) -> None:
        """Apply the waiting operators that bind at least as strongly."""
        while self.stack and self.stack[-1].kind in ("prefix", "infix", "quantifier"):
            if self.stack[-1].strength < strength or (strength == 0 and self.stack[-1].kind == "quantifier"):
                return
            self.apply(self.stack.pop())

    def apply(self, item: Open) -> None:
        right = self.operands.pop()
        if item.kind == "quantifier":
            self.scope.pop()
            cls = fm.ForAll if item.symbol == "forall" else fm.Exists
            self.operands.append(cls(item.token.text, item.domain, self.formula(right, item.token)))
        elif item.symbol == "neg":
            self.operands.append(Neg(self.term(right, item.token)))
        elif item.kind == "prefix":
            operand = self.formula(right, item.token)
            extra = (item.bounds,) if item.symbol in BOUNDABLE else ()
            self.operands.append(UNARY[item.symbol](operand, *extra))
        else:
            self.operands.append(self.binary(item, self.operands.pop(), right))

    def binary(self, item: Open, left: Operand, right: Operand) -> Operand:
        symbol, at = item.symbol, item.token
        if symbol in COMPARISONS:
            return fm.Test(symbol, self.term(left, at), self.term(right, at))
        if symbol in LOGICAL:
            return LOGICAL[symbol](self.formula(left, at), self.formula(right, at))
        if symbol in TEMPORAL:
            return TEMPORAL[symbol](self.formula(left, at), self.formula(right, at), item.bounds)
        return Arith(symbol, self.term(left, at), self.term(right, at))

    def formula(self, operand: Operand, at: Token) -> Formula:
        if isinstance(operand, Formula):
            return operand
        if isinstance(operand, Name):
            if operand.token.text in self.scope:
                problem = (
                    f"expected a formula, got the variable {operand.token.text!r}: compare it with something"
                )
                raise self.error(problem, operand.token)
            return fm.Atom(operand.token.text)
        raise self.error(f"expected a formula, got the term {operand!r}: compare it with something", at)

    def term(self, operand: Operand, at: Token) -> Term:
        if isinstance(operand, Term):
            return operand
        if isinstance(operand, fm.Truth):
            return Const(operand.value)
        if isinstance(operand, Name):
            name = operand.token.text
            return Var(name) if name in self.scope else Field(name)
        raise self.error(f"expected a field, a variable or a constant, got the formula {operand!r}", at)
