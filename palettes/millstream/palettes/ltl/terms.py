"""Terms: what a comparison compares. Constants, event fields, quantified variables, arithmetic."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from keyword import iskeyword
from typing import Any, Final, Self

from millstream.processors import ParameterError

from .values import Value

ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}

COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")

#: Words of the text syntax that cannot name an atom or a variable (a field can be written ``.name``).
RESERVED: Final = frozenset({"true", "false", "null", "forall", "exists", "in", *"XFGUWRYOHS"})


def check_name(kind: str, name: object) -> None:
    """Refuse a name that the text syntax could not express."""
    if not isinstance(name, str) or not name.isidentifier() or name in RESERVED:
        raise ParameterError(f"{kind}: expected a name (an identifier and not a reserved word), got {name!r}")


def check_field(kind: str, name: object) -> None:
    """Refuse a field that is not an identifier; unlike other names it may be a reserved word."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise ParameterError(f"{kind}: expected a field's name (an identifier), got {name!r}")


def check_symbol(kind: str, symbol: object, symbols: Collection[str]) -> None:
    """Refuse an operator that is not one of those of a kind."""
    if symbol not in symbols:
        raise ParameterError(f"{kind}: expected one of {' '.join(symbols)}, got {symbol!r}")


class Term(Value):
    """Base of all terms."""

    __slots__ = ()

    def __repr__(self) -> str:
        from .text import show

        return show(self)


class Const(Term):
    """A constant. ``1``, ``1.0`` and ``true`` are three different constants."""

    __slots__ = ()

    @classmethod
    def _key(cls, parts: tuple[Any, ...]) -> Any:
        (value,) = parts
        return (cls, type(value), repr(value) if isinstance(value, float) else value)

    @property
    def value(self) -> Any:
        """The constant itself."""
        return self.parts[0]


class Field(Term):
    """A field of the current event: a key of a mapping or an attribute."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Build from the field's name, which will stand in generated code as it is."""
        check_field("Field", name)
        return super().__new__(cls, name)

    @property
    def name(self) -> str:
        """Name of the field."""
        return str(self.parts[0])


class Var(Term):
    """A variable bound by a quantifier."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Build from the variable's name."""
        check_name("Var", name)
        return super().__new__(cls, name)

    @property
    def name(self) -> str:
        """Name of the variable."""
        return str(self.parts[0])


class Get(Term):
    """``base.name``: a field of the value of another term."""

    __slots__ = ()

    @property
    def base(self) -> Term:
        """The term whose field is read."""
        return self.parts[0]  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """Name of the field."""
        return str(self.parts[1])


class Arith(Term):
    """``left op right`` with op one of ``+ - * / %``."""

    __slots__ = ()

    def __new__(cls, op: str, left: Term, right: Term) -> Self:
        """Build from the symbol and two terms."""
        check_symbol("Arith", op, ARITHMETIC)
        return super().__new__(cls, op, left, right)

    @property
    def op(self) -> str:
        """The operator's symbol."""
        return str(self.parts[0])

    @property
    def left(self) -> Term:
        """Left operand."""
        return self.parts[1]  # type: ignore[no-any-return]

    @property
    def right(self) -> Term:
        """Right operand."""
        return self.parts[2]  # type: ignore[no-any-return]


class Neg(Term):
    """``-operand``."""

    __slots__ = ()

    @property
    def operand(self) -> Term:
        """The negated term."""
        return self.parts[0]  # type: ignore[no-any-return]
