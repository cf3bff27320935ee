"""Text to formula, by operator precedence with an explicit stack (nesting is limited by memory only).

Terms and formulas share one pass because ``(`` may open either. A bare name is kept undecided until its
neighbour tells whether it is an atom (operand of a logical operator) or a field or variable (operand of a
comparison or of arithmetic).
"""

from __future__ import annotations

import ast
from math import inf
from typing import Final

import attrs

from millstream.processors.errors import ParameterError

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .terms import RESERVED, Arith, Const, Field, Get, Neg, Term, Var
from .text import RIGHT, STRENGTH
from .tokens import ParseError, Token, tokenize

UNARY: Final = {"!": fm.Not, "X": fm.X, "F": fm.F, "G": fm.G, "Y": fm.Y, "O": fm.O, "H": fm.H}
LOGICAL: Final = {"&": fm.And, "|": fm.Or, "->": fm.Implies, "<->": fm.Iff}
TEMPORAL: Final = {"U": fm.U, "W": fm.W, "R": fm.R, "S": fm.S}
COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
BOUNDABLE: Final = frozenset("FGOHUWRS")
WORDS: Final = {"true": True, "false": False, "null": None}


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


def parse(text: str) -> Formula:
    """Parse a formula.

    >>> parse("G (request -> F[0,100] granted)  # a deadline")
    G (request -> F[0,100] granted)
    >>> parse("forall c in characters: c.x + 1 > limit U [start, stop)")
    forall c in characters: c.x + 1 > limit U [start, stop)
    """
    if isinstance(text, Formula):
        return text
    if not isinstance(text, str):
        raise ParameterError(f"parse: expected text or a formula, got {text!r}")
    return _Parser(text).run()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.place = 0
        self.operands: list[Operand] = []
        self.stack: list[Open] = []
        self.scope: list[str] = []

    # the two alternating phases

    def run(self) -> Formula:
        while True:
            while not self.operand():
                pass
            while self.after_operand():
                if self.tokens[self.place].kind == "end":
                    self.reduce(-1)
                    if self.stack:
                        raise self.error(f"expected {self.closer()}, got the end of the text", self.next)
                    return self.formula(self.operands.pop(), self.tokens[0])

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def error(self, problem: str, token: Token) -> ParseError:
        return ParseError(problem, self.text, token.offset)

    def take(self) -> Token:
        token = self.tokens[self.place]
        self.place += token.kind != "end"
        return token

    def expect(self, symbol: str) -> Token:
        token = self.take()
        if token.text != symbol:
            raise self.error(f"expected {symbol!r}, got {token}", token)
        return token

    def operand(self) -> bool:
        """Read one prefix operator (False) or one operand (True)."""
        token = self.take()
        text = token.text
        if token.kind == "number":
            self.operands.append(Const(_number(text)))
        elif token.kind == "string":
            self.operands.append(Const(_string(text)))
        elif token.kind == "variable":
            if text[1:] in RESERVED:
                raise self.error(f"expected a variable, got the reserved word {text[1:]!r}", token)
            self.operands.append(Var(text[1:]))
        elif text == "." and self.next.kind == "name":
            self.operands.append(Field(self.take().text))
        elif token.kind == "name" and text not in UNARY and text not in TEMPORAL:
            return self.word(token)
        elif text == "-" and self.next.kind == "number":
            self.operands.append(Const(-_number(self.take().text)))
        else:
            self.prefix(token)
            return False
        return True

    def prefix(self, token: Token) -> None:
        text = token.text
        if text in UNARY:
            bounds = self.bounds() if text in BOUNDABLE else None
            self.stack.append(Open(token, "prefix", text, STRENGTH[text], bounds))
        elif text == "-":
            self.stack.append(Open(token, "prefix", "neg", STRENGTH["neg"]))
        elif text in ("(", "["):
            self.stack.append(Open(token, text, text))
        else:
            raise self.error(f"expected a formula, got {token}", token)

    def word(self, token: Token) -> bool:
        if token.text in ("forall", "exists"):
            self.quantifier(token)
            return False
        if token.text in WORDS:
            value = WORDS[token.text]
            self.operands.append(Const(None) if value is None else fm.Truth(value))
        elif token.text == "in":
            raise self.error("expected a formula, got 'in'", token)
        elif self.next.text == "(" and self.next.kind == "symbol":
            self.operands.append(self.predicate(token))
        else:
            self.operands.append(Name(token))
        return True

    def after_operand(self) -> bool:
        """Read what may follow an operand: True if another thing may follow it, False if an operand must."""
        token = self.next
        text = token.text if token.kind in ("symbol", "name") else ""
        if token.kind == "end":
            return True
        if text == "." and token.glued and self.tokens[self.place + 1].kind == "name":
            self.take()
            self.operands.append(Get(self.term(self.operands.pop(), token), self.take().text))
            return True
        if (
            text in LOGICAL
            or text in TEMPORAL
            or text in COMPARISONS
            or (text in STRENGTH and text in "+-*/%")
        ):
            self.infix(self.take())
            return False
        return self.close(self.take())

    def infix(self, token: Token) -> None:
        strength = STRENGTH[token.text]
        self.reduce(strength + (token.text in RIGHT))
        if token.text in COMPARISONS and isinstance(self.operands[-1], fm.Test):
            raise self.error("comparisons do not chain: expected '&' or ')'", token)
        bounds = self.bounds() if token.text in BOUNDABLE else None
        self.stack.append(Open(token, "infix", token.text, strength, bounds))

    # brackets, quantifiers, bounds

    def closer(self) -> str:
        """What would close the innermost bracket or quantifier."""
        wanted = {
            "(": "')'",
            "[": "',' of an interval [p, q)",
            "[,": "')' of an interval [p, q)",
            "domain": "':'",
        }
        for item in reversed(self.stack):
            if item.kind in wanted:
                return f"{wanted[item.kind]} or an operator"
        return "an operator or the end of the text"

    def close(self, token: Token) -> bool:
        """Handle ``)``, ``,`` and ``:``."""
        self.reduce(0 if token.text == ":" else -1)
        top = self.stack[-1] if self.stack else None
        if top is not None and token.text == ")" and top.kind == "(":
            self.stack.pop()
            return True
        if top is not None and token.text == ")" and top.kind == "[,":
            self.stack.pop()
            right = self.formula(self.operands.pop(), token)
            self.operands.append(fm.Span(self.formula(self.operands.pop(), top.token), right))
            return True
        if top is not None and token.text == "," and top.kind == "[":
            top.kind = "[,"
            self.operands.append(self.formula(self.operands.pop(), top.token))
            return False
        if top is not None and token.text in (":", ".") and top.kind == "domain":
            top.domain = self.term(self.operands.pop(), token)
            self.bind(top)
            return False
        raise self.error(f"expected {self.closer()}, got {token}", token)

    def quantifier(self, token: Token) -> None:
        name = self.take()
        if name.kind != "name" or name.text in STRENGTH or name.text in (*WORDS, "in", "forall", "exists"):
            raise self.error(f"expected a variable after {token.text!r}, got {name}", name)
        item = Open(name, "domain", token.text)
        self.stack.append(item)
        separator = self.take()
        if separator.text in (":", "."):
            self.bind(item)
        elif separator.text != "in":
            raise self.error(f"expected 'in', ':' or '.', got {separator}", separator)

    def bind(self, item: Open) -> None:
        if item.token.text in self.scope:
            raise self.error(
                f"variable {item.token.text!r} is already bound here: choose another name", item.token
            )
        item.kind = "quantifier"
        self.scope.append(item.token.text)

    def bounds(self) -> Bounds | None:
        """Bounds, if what follows looks like ``[number,`` or ``(number,``."""
        opening, first = self.next, self.place + 1
        if opening.text not in ("[", "("):
            return None
        signed = self.tokens[first].text == "-"
        if self.tokens[first + signed].kind != "number" or self.tokens[first + signed + 1].text != ",":
            return None
        self.take()
        low = self.bound_end()
        self.expect(",")
        high = self.bound_end()
        closing = self.take()
        if closing.text not in (")", "]"):
            raise self.error(f"expected ']' or ')' after the bounds, got {closing}", closing)
        try:
            return Bounds(low, high, opening.text == "(", closing.text == ")" and high != inf)
        except ParameterError as problem:
            raise self.error(str(problem), opening) from None

    def bound_end(self) -> float:
        sign = -1 if self.next.text == "-" else 1
        token = self.take() if sign == 1 else (self.take(), self.take())[1]
        if token.text == "inf":
            return inf
        if token.kind != "number":
            raise self.error(f"expected a number or 'inf', got {token}", token)
        return sign * _number(token.text)

    def predicate(self, name: Token) -> Formula:
        self.expect("(")
        args: list[Term] = []
        while args or self.next.text != ")":
            args.append(self.argument(self.take()))
            if self.next.text == ")":
                break
            self.expect(",")
        self.take()
        return fm.Predicate(name.text, *args)

    def argument(self, token: Token) -> Term:
        if token.kind == "number":
            return Const(_number(token.text))
        if token.text == "-" and self.next.kind == "number":
            return Const(-_number(self.take().text))
        if token.kind == "string":
            return Const(_string(token.text))
        if token.kind == "name" and token.text in WORDS:
            return Const(WORDS[token.text])
        if (
            token.kind == "name"
            and token.text not in STRENGTH
            and token.text not in ("in", "forall", "exists")
        ):
            return Var(token.text)
        raise self.error(f"expected a variable or a constant, got {token}", token)

    # building

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


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


def _string(text: str) -> str:
    return str(ast.literal_eval(text))
