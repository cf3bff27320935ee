"""Formulas and terms as text that parses back to the same value, with no parenthesis that could be left out.

Works through an explicit list of things still to be written, so that depth does not matter.
"""

from __future__ import annotations

from math import inf
from typing import Final

from . import formula as fm
from .base import Binary, BoundedBinary, BoundedUnary, Unary
from .terms import RESERVED, Arith, Const, Field, Get, Neg, Term, Var
from .values import Value

#: Binding strength, shared with the parser. Right-associative operators are listed in RIGHT.
STRENGTH: Final[dict[str, int]] = {
    **{"<->": 1, "->": 2, "|": 3, "&": 4, "U": 5, "W": 5, "R": 5, "S": 5},
    **dict.fromkeys("!XFGYOH", 6),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 7),
    **{"+": 8, "-": 8, "*": 9, "/": 9, "%": 9, "neg": 10},
}
RIGHT: Final = frozenset({"<->", "->", "U", "W", "R", "S"})
TIGHT: Final = 11

Piece = str | tuple[Value, int, frozenset[str]]


def show(value: Value) -> str:
    """Text of a formula or term."""
    written: list[str] = []
    todo: list[Piece] = [(value, 0, frozenset())]
    while todo:
        piece = todo.pop()
        if isinstance(piece, str):
            written.append(piece)
            continue
        node, least, bound = piece
        strength, pieces = _term(node, bound) if isinstance(node, Term) else _formula(node, bound)
        if strength < least:
            pieces = ["(", *pieces, ")"]
        todo.extend(reversed(pieces))
    return "".join(written)


def _infix(
    symbol: str, text: str, left: Value, right: Value, bound: frozenset[str]
) -> tuple[int, list[Piece]]:
    strength = STRENGTH[symbol]
    up = symbol in RIGHT
    return strength, [(left, strength + up, bound), f" {text} ", (right, strength + (not up), bound)]


def _formula(node: Value, bound: frozenset[str]) -> tuple[int, list[Piece]]:
    match node:
        case fm.Truth():
            return TIGHT, ["true" if node.value else "false"]
        case fm.Atom():
            return TIGHT, [node.name]
        case fm.Test():
            strength = STRENGTH[node.op]
            return strength, [
                (node.left, strength + 1, bound),
                f" {node.op} ",
                (node.right, strength + 1, bound),
            ]
        case fm.Predicate():
            return TIGHT, [node.name, "(", ", ".join(_argument(arg) for arg in node.args), ")"]
        case fm.Span():
            return TIGHT, ["[", (node.left, 1, bound), ", ", (node.right, 1, bound), ")"]
        case fm.Quantifier():
            inside = bound | {node.variable}
            domain: list[Piece] = [] if node.domain is None else [" in ", (node.domain, 8, bound)]
            return 0, [f"{node.symbol} {node.variable}", *domain, ": ", (node.body, 0, inside)]
        case Unary():
            return _prefix(node, bound)
        case Binary():
            limits = _limits(node) if isinstance(node, BoundedBinary) else ""
            return _infix(node.symbol, node.symbol + limits, node.left, node.right, bound)
    raise TypeError(f"cannot write {type(node).__name__}")


def _prefix(node: Unary, bound: frozenset[str]) -> tuple[int, list[Piece]]:
    limits = _limits(node) if isinstance(node, BoundedUnary) else ""
    gap = "" if node.symbol == "!" else " "
    return STRENGTH[node.symbol], [node.symbol + limits + gap, (node.operand, STRENGTH[node.symbol], bound)]


def _limits(node: BoundedUnary | BoundedBinary) -> str:
    return "" if node.bounds is None else repr(node.bounds)


def _argument(arg: Term) -> str:
    return arg.name if isinstance(arg, Var) else constant(arg.parts[0])


def constant(value: object) -> str:
    """A constant as text; values that have no literal are shown as Python shows them."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        body = value.encode("unicode_escape").decode("ascii").replace('"', '\\"')
        return f'"{body}"'
    return repr(value).replace("inf", "1e999") if value in (inf, -inf) else repr(value)


def _term(node: Term, bound: frozenset[str]) -> tuple[int, list[Piece]]:
    match node:
        case Const():
            number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
            return (STRENGTH["neg"] if number and str(node.value)[0] == "-" else TIGHT), [
                constant(node.value)
            ]
        case Field():
            return TIGHT, [f".{node.name}" if node.name in bound or node.name in RESERVED else node.name]
        case Var():
            return TIGHT, [node.name if node.name in bound else f"${node.name}"]
        case Get():
            return TIGHT, [*_closed(node.base, bound), f".{node.name}"]
        case Arith():
            return _infix(node.op, node.op, node.left, node.right, bound)
        case Neg():
            return STRENGTH["neg"], ["-", *_closed(node.operand, bound)]
    raise TypeError(f"cannot write {type(node).__name__}")


def _closed(node: Term, bound: frozenset[str]) -> list[Piece]:
    return ["(", (node, 0, bound), ")"] if isinstance(node, Const) else [(node, TIGHT, bound)]
