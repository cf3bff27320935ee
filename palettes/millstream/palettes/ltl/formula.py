"""Formulas as values: frozen, hash-consed trees with ``~ & | >>``.

>>> from millstream.palettes.ltl.bounds import Bounds
>>> a, b = Atom("a"), Atom("b")
>>> G(a >> F(b))
G (a -> F b)
>>> ~a & O(b, Bounds(0, 5)) | X(a)
!a & O[0,5] b | X a

Semantics of ``w, i |= f`` on a trace ``w``: ``X`` next, ``F`` some position from ``i`` on, ``G`` all,
``p U q`` some ``q`` and ``p`` until then, ``p W q = p U q | G p``, ``p R q = !(!p U !q)``, and their mirror
images towards the past ``Y`` (false at position 0), ``O``, ``H``, ``p S q``. ``Span(p, q)`` is written
``[p, q)`` and means ``!q S p``. Bounds restrict the distance between the position where the operator stands
and the one it speaks about.
"""

from __future__ import annotations

from typing import ClassVar, Final, Self

from .base import Binary, BoundedBinary, BoundedUnary, Formula, Unary
from .terms import COMPARISONS, Term, check_name, check_symbol


class Truth(Formula):
    """``true`` or ``false``; use the constants :data:`TRUE` and :data:`FALSE`."""

    __slots__ = ()

    @property
    def value(self) -> bool:
        """Which of the two."""
        return bool(self.parts[0])


TRUE = Truth(True)
FALSE = Truth(False)


class Atom(Formula):
    """A named proposition, given a meaning by ``atoms={name: function}``."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Build from the proposition's name."""
        check_name("Atom", name)
        return super().__new__(cls, name)

    @property
    def name(self) -> str:
        """The proposition's name."""
        return str(self.parts[0])


class Test(Formula):
    """A comparison of two terms, ``op`` one of ``== != < <= > >=``."""

    __slots__ = ()
    __test__: ClassVar[bool] = False

    def __new__(cls, op: str, left: Term, right: Term) -> Self:
        """Build from the symbol and two terms."""
        check_symbol("Test", op, COMPARISONS)
        return super().__new__(cls, op, left, right)

    @property
    def op(self) -> str:
        """The comparison's symbol."""
        return str(self.parts[0])

    @property
    def left(self) -> Term:
        """Left term."""
        return self.parts[1]  # type: ignore[no-any-return]

    @property
    def right(self) -> Term:
        """Right term."""
        return self.parts[2]  # type: ignore[no-any-return]


class Predicate(Formula):
    """``name(arg, ...)``: the event is of this name and has these arguments (variables or constants)."""

    __slots__ = ()

    def __new__(cls, name: str, *args: Term) -> Self:
        """Build from the name and its arguments."""
        check_name("Predicate", name)
        return super().__new__(cls, name, *args)

    @property
    def name(self) -> str:
        """The predicate's name."""
        return str(self.parts[0])

    @property
    def args(self) -> tuple[Term, ...]:
        """The arguments."""
        return self.parts[1:]


class Not(Unary):
    """``!``: not."""

    __slots__ = ()
    symbol = "!"


class And(Binary):
    """``&``: and."""

    __slots__ = ()
    symbol = "&"


class Or(Binary):
    """``|``: or."""

    __slots__ = ()
    symbol = "|"


class Implies(Binary):
    """``->``: if ... then."""

    __slots__ = ()
    symbol = "->"


class Iff(Binary):
    """``<->``: exactly when."""

    __slots__ = ()
    symbol = "<->"


class X(Unary):
    """``X``: Next: at the following position, which exists."""

    __slots__ = ()
    symbol = "X"


class Y(Unary):
    """``Y``: Previous: at the preceding position, which exists."""

    __slots__ = ()
    symbol = "Y"


class F(BoundedUnary):
    """``F``: Eventually: at some position from here on."""

    __slots__ = ()
    symbol = "F"


class G(BoundedUnary):
    """``G``: Globally: at every position from here on."""

    __slots__ = ()
    symbol = "G"


class O(BoundedUnary):  # noqa: E742
    """``O``: Once: at some position up to here."""

    __slots__ = ()
    symbol = "O"


class H(BoundedUnary):
    """``H``: Historically: at every position up to here."""

    __slots__ = ()
    symbol = "H"


class U(BoundedBinary):
    """``U``: Until: the right one happens, and the left one holds before it."""

    __slots__ = ()
    symbol = "U"


class W(BoundedBinary):
    """``W``: Weak until: until, or the left one holds for ever."""

    __slots__ = ()
    symbol = "W"


class R(BoundedBinary):
    """``R``: Release: the right one holds up to and including the left one."""

    __slots__ = ()
    symbol = "R"


class S(BoundedBinary):
    """``S``: Since: the right one happened, and the left one holds after it."""

    __slots__ = ()
    symbol = "S"


class Span(Binary):
    """``[p, q)``: ``p`` happened and ``q`` did not since; the same as ``!q S p``."""

    __slots__ = ()
    symbol = "["


class Quantifier(Formula):
    """``word variable in domain: body``, or without a domain over all values seen in the trace."""

    __slots__ = ()
    symbol: ClassVar[str]

    def __new__(cls, variable: str, domain: Term | None, body: Formula) -> Self:
        """Bind ``variable`` in ``body``."""
        check_name(cls.__name__, variable)
        return super().__new__(cls, variable, domain, body)

    @property
    def variable(self) -> str:
        """The bound variable's name."""
        return str(self.parts[0])

    @property
    def domain(self) -> Term | None:
        """The term that gives the values, evaluated on the event where the quantifier stands."""
        return self.parts[1]  # type: ignore[no-any-return]

    @property
    def body(self) -> Formula:
        """The formula that speaks about the variable."""
        return self.parts[2]  # type: ignore[no-any-return]


class ForAll(Quantifier):
    """``forall``: for every value."""

    __slots__ = ()
    symbol = "forall"


class Exists(Quantifier):
    """``exists``: for some value."""

    __slots__ = ()
    symbol = "exists"


#: Operators that look towards the future, respectively the past.
FUTURE: Final = (X, F, G, U, W, R)
PAST: Final = (Y, O, H, S, Span)


def atoms(names: str) -> tuple[Atom, ...]:
    """Several atoms at once.

    >>> a, b = atoms("a b")
    >>> a & b
    a & b
    """
    return tuple(Atom(name) for name in names.split())
