"""Expressions: functions of an event that can be read as well as run.

``X`` is the event, ``Y`` the event of a second input, ``E`` the event again, whose attributes are its fields.
Operators on them build a small immutable tree. The tree prints as the Python that one would write, becomes
one Python function (neighbouring processors share it, see `codegen`), and is open to other back ends: they
match on the node classes of this file (``case Binary(operator, left, right)``). All their attributes are
private, so that every public name is a field of the event.

>>> E.price * 2 > 10
E.price * 2 > 10
>>> from millstream.processors import as_function
>>> as_function(E.price * 2 > 10)({"price": 6})
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from .describing import describe
from .errors import ParameterError

Bind = Callable[[object], str]

#: operator -> precedence, as in Python's own grammar (higher binds tighter)
PRECEDENCE = {
    "or": 1, "and": 2, "not": 3,
    "==": 5, "!=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5, "in": 5,
    "|": 6, "^": 7, "&": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "//": 11, "%": 11, "@": 11,
    "neg": 12, "~": 12, "**": 13,
}  # fmt: skip
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
ATOM = 15


def _operator(symbol: str, swapped: bool = False) -> Callable[[Expression, Any], Expression]:
    """Return the method for a binary operator of the language."""

    def method(self: Expression, other: Any) -> Any:
        if not isinstance(other, Expression) and hasattr(type(other), "into"):
            return NotImplemented  # a query: piping, not logic
        left, right = (lift(other), self) if swapped else (self, lift(other))
        if symbol in "&|" and left._boolean and right._boolean:
            return Binary("and" if symbol == "&" else "or", left, right)
        return Binary(symbol, left, right)

    return method


@frozen(eq=False, repr=False)
class Expression:
    """A function of the events of one front, as a tree."""

    __hash__ = object.__hash__

    __add__, __radd__ = _operator("+"), _operator("+", swapped=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", swapped=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", swapped=True)
    __floordiv__, __rfloordiv__ = _operator("//"), _operator("//", swapped=True)
    __mod__, __rmod__ = _operator("%"), _operator("%", swapped=True)
    __pow__, __rpow__ = _operator("**"), _operator("**", swapped=True)
    __matmul__, __rmatmul__ = _operator("@"), _operator("@", swapped=True)
    __and__, __rand__ = _operator("&"), _operator("&", swapped=True)
    __or__, __ror__ = _operator("|"), _operator("|", swapped=True)
    __xor__, __rxor__ = _operator("^"), _operator("^", swapped=True)
    __lshift__, __rlshift__ = _operator("<<"), _operator("<<", swapped=True)
    __rshift__, __rrshift__ = _operator(">>"), _operator(">>", swapped=True)
    __lt__ = _operator("<")
    __le__ = _operator("<=")
    __gt__ = _operator(">")
    __ge__ = _operator(">=")

    def _render(self, texts: list[str], bind: Bind) -> str:
        raise TypeError(f"{type(self).__name__} has no Python form")

    def _children(self) -> tuple[Expression, ...]:
        return ()

    @property
    def _boolean(self) -> bool:
        return False

    @property
    def _arity(self) -> int:
        return max((n._index + 1 for n in walk(self) if isinstance(n, Input)), default=1)

    def __getattr__(self, name: str) -> Attribute:
        if name.startswith("_"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __getitem__(self, key: Any) -> Item:
        return Item(self, lift(key))

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} is an expression; it cannot be iterated")

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value until an event comes: write & | ~ instead of and, or, not"
        )

    def __eq__(self, other: object) -> Binary:  # type: ignore[override]
        return Binary("==", self, lift(other))

    def __ne__(self, other: object) -> Binary:  # type: ignore[override]
        return Binary("!=", self, lift(other))

    def __neg__(self) -> Unary:
        return Unary("neg", self)

    def __invert__(self) -> Unary:
        return Unary("not" if self._boolean else "~", self)

    def __abs__(self) -> Apply:
        return Apply(abs, (self,))


@frozen(eq=False, repr=False)
class Input(Expression):
    """The event of one input: ``X`` (0) or ``Y`` (1)."""

    _index: int
    _name: str

    def __repr__(self) -> str:
        return self._name


@frozen(eq=False, repr=False)
class Constant(Expression):
    """A Python value."""

    _value: Any

    @property
    def _boolean(self) -> bool:
        return isinstance(self._value, bool)

    def _render(self, texts: list[str], bind: Bind) -> str:
        if self._value is None or type(self._value) in (int, bool):
            return f"({self._value!r})" if type(self._value) is int and self._value < 0 else repr(self._value)
        return bind(self._value)

    def __repr__(self) -> str:
        return describe(self._value)


@frozen(eq=False, repr=False)
class Attribute(Expression):
    """A field of the event (by attribute, or by key if it is a dict), or a method when it is called."""

    _of: Expression
    _name: str

    def _children(self) -> tuple[Expression, ...]:
        return (self._of,)

    def _render(self, texts: list[str], bind: Bind) -> str:
        (of,) = texts
        if not self._name.isidentifier():
            raise ParameterError(f"{self._name!r} is not a field name; write E[{self._name!r}]")
        if isinstance(self._of, Input):
            return f"({of}[{self._name!r}] if {of}.__class__ is dict else {of}.{self._name})"
        return f"{bind(_field)}({of}, {self._name!r})"

    def __call__(self, *args: Any, **kwargs: Any) -> Method:
        return Method(
            self._of, self._name, tuple(map(lift, args)), tuple((k, lift(v)) for k, v in kwargs.items())
        )

    def __repr__(self) -> str:
        return f"{_text(self._of, ATOM)}.{self._name}"


@frozen(eq=False, repr=False)
class Item(Expression):
    """``E["key"]``: the item of the event under a key or index."""

    _of: Expression
    _key: Expression

    def _children(self) -> tuple[Expression, ...]:
        return self._of, self._key

    def _render(self, texts: list[str], bind: Bind) -> str:
        return f"{_wrap(texts[0], self._of)}[{texts[1]}]"

    def __repr__(self) -> str:
        return f"{_text(self._of, ATOM)}[{self._key!r}]"


@frozen(eq=False, repr=False)
class Unary(Expression):
    """``-x``, ``~x`` (``not`` on truth values)."""

    _operator: str
    _of: Expression

    def _children(self) -> tuple[Expression, ...]:
        return (self._of,)

    @property
    def _boolean(self) -> bool:
        return self._operator == "not"

    def _render(self, texts: list[str], bind: Bind) -> str:
        (of,) = texts
        if self._operator == "~":
            return f"{bind(_invert)}({of})"
        return f"({'-' if self._operator == 'neg' else 'not '}{of})"

    def __repr__(self) -> str:
        return f"{'-' if self._operator == 'neg' else '~'}{_text(self._of, 12)}"


@frozen(eq=False, repr=False)
class Binary(Expression):
    """Arithmetic, comparison, membership and logic."""

    _operator: str
    _left: Expression
    _right: Expression

    def _children(self) -> tuple[Expression, ...]:
        return self._left, self._right

    @property
    def _boolean(self) -> bool:
        return self._operator in COMPARISONS or self._operator in ("and", "or")

    def _render(self, texts: list[str], bind: Bind) -> str:
        return f"({texts[0]} {self._operator} {texts[1]})"

    def __repr__(self) -> str:
        if self._operator == "in":
            return f"is_in({self._left!r}, {self._right!r})"
        symbol = {"and": "&", "or": "|"}.get(self._operator, self._operator)
        level = PRECEDENCE[symbol]
        strict = symbol in COMPARISONS or symbol == "**"
        return f"{_text(self._left, level + strict)} {symbol} {_text(self._right, level + (symbol != '**'))}"


@frozen(eq=False, repr=False)
class Method(Expression):
    """A method call on a value: ``E.name.startswith("a")``."""

    _of: Expression
    _name: str
    _args: tuple[Expression, ...]
    _kwargs: tuple[tuple[str, Expression], ...] = ()

    def _children(self) -> tuple[Expression, ...]:
        return (self._of, *self._args, *(v for _, v in self._kwargs))

    def _render(self, texts: list[str], bind: Bind) -> str:
        named = [""] * len(self._args) + [f"{k}=" for k, _ in self._kwargs]
        args = ", ".join(map(str.__add__, named, texts[1:]))
        return f"{_wrap(texts[0], self._of)}.{self._name}({args})"

    def __repr__(self) -> str:
        args = [repr(a) for a in self._args] + [f"{k}={v!r}" for k, v in self._kwargs]
        return f"{_text(self._of, ATOM)}.{self._name}({', '.join(args)})"


@frozen(eq=False, repr=False)
class Apply(Expression):
    """A Python function of expressions: ``call(len, E.items)``."""

    _function: Callable[..., Any]
    _args: tuple[Expression, ...]

    def _children(self) -> tuple[Expression, ...]:
        return self._args

    def _render(self, texts: list[str], bind: Bind) -> str:
        return f"{bind(self._function)}({', '.join(texts)})"

    def __repr__(self) -> str:
        return f"call({', '.join([describe(self._function), *map(repr, self._args)])})"


@frozen(eq=False, repr=False)
class IfElse(Expression):
    """One of two values, by a condition; only the chosen one is computed."""

    _condition: Expression
    _then: Expression
    _otherwise: Expression

    def _children(self) -> tuple[Expression, ...]:
        return self._condition, self._then, self._otherwise

    def _render(self, texts: list[str], bind: Bind) -> str:
        condition, then, otherwise = texts
        return f"({then} if {condition} else {otherwise})"

    def __repr__(self) -> str:
        return f"if_else({self._condition!r}, {self._then!r}, {self._otherwise!r})"


def _field(value: Any, name: str) -> Any:
    return value[name] if value.__class__ is dict else getattr(value, name)


def _invert(value: Any) -> Any:
    return not value if value.__class__ is bool else ~value


def _level(e: Expression) -> int:
    if isinstance(e, Binary):
        return (
            ATOM if e._operator == "in" else PRECEDENCE[{"and": "&", "or": "|"}.get(e._operator, e._operator)]
        )
    return 12 if isinstance(e, Unary) else ATOM


def _text(e: Expression, level: int) -> str:
    return repr(e) if _level(e) >= level else f"({e!r})"


def _wrap(text: str, e: Expression) -> str:
    return f"({text})" if isinstance(e, Constant) else text


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and everything below it, without recursion."""
    stack = [expression]
    while stack:
        e = stack.pop()
        yield e
        stack.extend(e._children())


def lift(value: Any) -> Expression:
    """Return an expression for any value."""
    return value if isinstance(value, Expression) else Constant(value)


def is_in(value: Any, collection: Any) -> Expression:
    """Return the membership test ``value in collection``.

    >>> from millstream.processors import as_function
    >>> as_function(is_in(E.kind, {"a", "b"}))({"kind": "a"})
    True
    """
    return Binary("in", lift(value), lift(collection))


def if_else(condition: Any, then: Any, otherwise: Any) -> Expression:
    """Return ``then`` where the condition holds, else ``otherwise``.

    >>> from millstream.processors import as_function
    >>> as_function(if_else(X > 0, "up", "down"))(-1)
    'down'
    """
    return IfElse(lift(condition), lift(then), lift(otherwise))


def call(function: Callable[..., Any], *args: Any) -> Expression:
    """Return the application of a Python function to expressions.

    >>> from millstream.processors import as_function
    >>> as_function(call(len, E.tags) == 2)({"tags": ["a", "b"]})
    True
    """
    return Apply(function, tuple(map(lift, args)))


X = Input(0, "X")
Y = Input(1, "Y")
E = Input(0, "E")
