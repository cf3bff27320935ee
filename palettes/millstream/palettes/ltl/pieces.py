"""The pieces of a formula's text that are read straight off the tokens: bounds, predicates, constants."""

from __future__ import annotations

import re
from math import inf
from typing import Any, Final

from millstream.processors import ParameterError

from . import formula as fm
from .base import Formula
from .bounds import Bounds
from .terms import Const, Term, Var
from .text import STRENGTH
from .tokens import ParseError, Token, tokenize

WORDS: Final = {"true": True, "false": False, "null": None}

#: escapes in strings: those that Python's repr writes
ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
SIMPLE: Final = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


def unquoted(text: str) -> str:
    """Return the value of a quoted string.

    ``ast.literal_eval`` would do the same, but up to Python 3.11 it fails now and then when several threads
    parse at once.

    >>> unquoted(r"'it\\'s \\x41'")
    "it's A"
    """
    return ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    *codes, other = found.groups()
    if other is None:
        return chr(int(next(c for c in codes if c), 16))
    if other in "xuU":
        raise ValueError(f"\\{other} without its digits")
    return SIMPLE.get(other, f"\\{other}")


class Pieces:
    """The tokens of a text and the place of the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.place = 0

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
        value: float = self.constant(token)
        return sign * value

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
            return Const(self.constant(token))
        if token.text == "-" and self.next.kind == "number":
            return Const(-self.constant(self.take()))
        if token.kind == "string":
            return Const(self.constant(token))
        if token.kind == "name" and token.text in WORDS:
            return Const(WORDS[token.text])
        if (
            token.kind == "name"
            and token.text not in STRENGTH
            and token.text not in ("in", "forall", "exists")
        ):
            return Var(token.text)
        raise self.error(f"expected a variable or a constant, got {token}", token)

    def constant(self, token: Token) -> Any:
        """Return the value of a number or a quoted string."""
        if token.text.isdigit() and len(token.text) > 4000:
            raise self.error("a number of at most 4000 digits was expected", token)
        try:
            return unquoted(token.text) if token.kind == "string" else number(token.text)
        except ValueError:
            raise self.error(
                f"expected a string, got {token} with an escape that means nothing", token
            ) from None


def number(text: str) -> float:
    """Return the value of a number."""
    return int(text) if text.isdigit() else float(text)
