"""Text into tokens, each knowing its line and column; and the error that points at one."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from millstream.processors import ParameterError

PATTERN: Final = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<number>(?:\d+\.\d+|\d+)(?:[eE][+-]?\d+)?)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<name>[^\W\d]\w*)
      | (?P<variable>\$[^\W\d]\w*)
      | (?P<symbol><->|->|==|!=|<=|>=|&&|\|\||[!~&|()\[\],:.<>+\-*/%=])""",
    re.VERBOSE,
)
ALIASES: Final = {"&&": "&", "||": "|", "~": "!", "=": "=="}


class ParseError(ParameterError):
    """A text that is not a formula; the message points at the place and says what was expected.

    >>> from millstream.palettes.ltl import parse
    >>> parse("G (a -> F )")
    Traceback (most recent call last):
    millstream.palettes.ltl.tokens.ParseError: line 1, column 11: expected a formula, got ')'
    G (a -> F )
              ^
    """

    def __init__(self, problem: str, text: str, offset: int) -> None:
        self.problem, self.text, self.offset = problem, text, offset
        start = text.rfind("\n", 0, offset) + 1
        self.line, self.column = text.count("\n", 0, offset) + 1, offset - start + 1
        super().__init__(f"line {self.line}, column {self.column}: {problem}\n{self._pointer(start)}")

    def _pointer(self, start: int) -> str:
        line = self.text[start:].split("\n", 1)[0]
        at = self.offset - start
        first = max(0, at - 60)
        shown = line[first : at + 40]
        lead = "..." if first else ""
        pad = re.sub(r"[^\t]", " ", lead + shown[: at - first])
        return f"{lead}{shown}\n{pad}^"

    def __reduce__(self) -> Any:
        return type(self), (self.problem, self.text, self.offset)


@attrs.frozen
class Token:
    """A piece of the text and where it begins; ``glued`` if nothing separates it from the last."""

    kind: str
    text: str
    offset: int
    glued: bool = False

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else repr(self.text)


def tokenize(text: str) -> list[Token]:
    """Tokens of the text, the last one of kind ``end``."""
    tokens: list[Token] = []
    place, glued = 0, False
    while place < len(text):
        found = PATTERN.match(text, place)
        if found is None:
            what = (
                "a string that is not closed"
                if text[place] in "'\""
                else f"an unexpected character {text[place]!r}"
            )
            raise ParseError(what, text, place)
        kind = str(found.lastgroup)
        if kind != "space":
            word = found.group()
            tokens.append(Token(kind, ALIASES.get(word, word) if kind == "symbol" else word, place, glued))
        glued = kind != "space"
        place = found.end()
    tokens.append(Token("end", "", len(text)))
    return tokens
