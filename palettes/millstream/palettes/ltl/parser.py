"""Text to formula, by operator precedence with an explicit stack (nesting is limited by memory only).

Terms and formulas share one pass because ``(`` may open either.
"""

from __future__ import annotations

from millstream.processors import ParameterError

from . import formula as fm
from .base import Formula
from .building import BOUNDABLE, LOGICAL, TEMPORAL, UNARY, Builder, Name, Open
from .pieces import WORDS
from .terms import COMPARISONS, RESERVED, Const, Field, Get, Var
from .text import RIGHT, STRENGTH
from .tokens import Token


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


class _Parser(Builder):
    """Reads an operand and what follows it, in turn."""

    def run(self) -> Formula:
        """Return the formula of the whole text."""
        while True:
            while not self.operand():
                pass
            while self.after_operand():
                if self.tokens[self.place].kind == "end":
                    self.reduce(-1)
                    if self.stack:
                        raise self.error(f"expected {self.closer()}, got the end of the text", self.next)
                    return self.formula(self.operands.pop(), self.tokens[0])

    def operand(self) -> bool:
        """Read one prefix operator (False) or one operand (True)."""
        token = self.take()
        text = token.text
        if token.kind in ("number", "string"):
            self.operands.append(Const(self.constant(token)))
        elif token.kind == "variable":
            if text[1:] in RESERVED:
                raise self.error(f"expected a variable, got the reserved word {text[1:]!r}", token)
            self.operands.append(Var(text[1:]))
        elif text == "." and self.next.kind == "name":
            self.operands.append(Field(self.take().text))
        elif token.kind == "name" and text not in UNARY and text not in TEMPORAL:
            return self.word(token)
        elif text == "-" and self.next.kind == "number":
            self.operands.append(Const(-self.constant(self.take())))
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

    # brackets and quantifiers

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
