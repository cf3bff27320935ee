"""What all formulas share: operators, operands, bounds."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from .bounds import Bounds
from .terms import Term
from .values import Value


class Formula(Value):
    """Base of all formulas."""

    __slots__ = ()

    def __and__(self, other: Formula) -> Formula:
        from .formula import And

        return And(self, _operand(other))

    def __or__(self, other: Formula) -> Formula:
        from .formula import Or

        return Or(self, _operand(other))

    def __rshift__(self, other: Formula) -> Formula:
        from .formula import Implies

        return Implies(self, _operand(other))

    def __invert__(self) -> Formula:
        from .formula import Not

        return Not(self)

    def __repr__(self) -> str:
        from .text import show

        return show(self)

    def __bool__(self) -> bool:
        raise TypeError(
            "a formula has no truth value of its own; combine formulas with & | ~ >>, not and, or, not"
        )

    @property
    def children(self) -> tuple[Formula, ...]:
        """The direct subformulas."""
        return tuple(part for part in self.parts if isinstance(part, Formula))

    @property
    def terms(self) -> tuple[Term, ...]:
        """The direct terms."""
        return tuple(part for part in self.parts if isinstance(part, Term))


def _operand(value: object) -> Formula:
    if not isinstance(value, Formula):
        raise TypeError(f"expected a formula, got {value!r}")
    return value


class Unary(Formula):
    """An operator with one operand."""

    __slots__ = ()
    symbol: ClassVar[str]

    @property
    def operand(self) -> Formula:
        """The operand."""
        return self.parts[0]  # type: ignore[no-any-return]


class Binary(Formula):
    """An operator with two operands."""

    __slots__ = ()
    symbol: ClassVar[str]

    @property
    def left(self) -> Formula:
        """Left operand."""
        return self.parts[0]  # type: ignore[no-any-return]

    @property
    def right(self) -> Formula:
        """Right operand."""
        return self.parts[1]  # type: ignore[no-any-return]


class _Bounded(Formula):
    """An operator that may carry bounds, its last part."""

    __slots__ = ()
    width: ClassVar[int]

    def __new__(cls, *parts: Any) -> Self:
        if len(parts) == cls.width:
            parts += (None,)
        if isinstance(parts[-1], Bounds) and parts[-1] == Bounds():
            parts = (*parts[:-1], None)
        return super().__new__(cls, *parts)

    @property
    def bounds(self) -> Bounds | None:
        """The bounds, ``None`` for all distances."""
        return self.parts[-1]  # type: ignore[no-any-return]


class BoundedUnary(_Bounded, Unary):
    """``F G O H``."""

    __slots__ = ()
    width = 1


class BoundedBinary(_Bounded, Binary):
    """``U W R S``."""

    __slots__ = ()
    width = 2
