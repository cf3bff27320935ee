"""Expressions over frames: the back end that turns `E.price * 2 > 10` into NumPy.

`compiled` makes a function of a front of frames, one for each input of the processor. Its value is a
`Column`, a `Frame` (the event itself, where it is a row), or a Python constant. ``&``, ``|`` and `if_else`
compute only what Python would compute: an operand that is unfit on the whole batch is tried again on the
events that reach it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millstream.palettes.windows.monoid import FUNCTIONS as WINDOW_FUNCTIONS
from millstream.processors import Expression
from millstream.processors.describing import describe
from millstream.processors.expressions import (
    COMPARISONS,
    Apply,
    Attribute,
    Binary,
    Constant,
    IfElse,
    Input,
    Item,
    Method,
    Unary,
)

from .arithmetic import (
    PYTHON,
    arithmetic,
    elements,
    inverted,
    kind_of,
    low_bits,
    mapped,
    negative,
    refuse_nulls,
    remainder,
)
from .column import LARGEST, SMALLEST, Array, Column, Unfit, of_arrow, of_list, some
from .comparing import UFUNCS as COMPARING
from .comparing import compared, encoded_or_plain, member, plain, truth
from .frame import ROWS, TUPLES, VALUES, Frame
from .functions import FUNCTIONS
from .loops import loops, room, tidy

Front = tuple[Frame, ...]
Function = Callable[[Front], Any]
#: functions of the library that are operators of expressions
OPERATORS = {
    getattr(operator, name): symbol
    for name, symbol in {
        "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
        "and_": "&", "or_": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
        "ge": ">=",
    }.items()
}  # fmt: skip
X, Y = Input(0, "X"), Input(1, "Y")
TRUTHS = (bool, operator.not_)
#: what windows count events with
ONE = WINDOW_FUNCTIONS[len].lift


class NotColumnar(Exception):
    """Something that has no columnar form; says what and why."""


class MissingColumn(Exception):
    """A column that a batch does not have."""


def compiled(function: Any) -> Function:
    """Return a function of fronts for an expression, or for a function that is a known one."""
    return _compiled(as_expression(function))


def as_expression(function: Any) -> Expression:
    """Return an expression, or the one that a known function is."""
    if isinstance(function, Expression):
        return function
    try:
        if function in OPERATORS:
            return Binary(OPERATORS[function], X, Y)
        if function in FUNCTIONS or function in TRUTHS:
            return Apply(function, (X,))
        if function is ONE:
            return Constant(1)
    except TypeError:
        pass
    raise NotColumnar(f"{describe(function)} is a Python function; write it as an expression of X, Y, E")


def _compiled(e: Expression) -> Function:
    linear = _linear(e)
    if linear is not None:
        return _scaled(e, *linear)
    match e:
        case Input(index, _):
            return lambda front: event(front[index])
        case Constant(value):
            return lambda front: value
        case Attribute(of, name):
            return _field(_compiled(of), name)
        case Item(of, Constant(key)):
            return _item(_compiled(of), key)
        case Unary("neg", of):
            inner = _compiled(of)
            return lambda front: negative(inner(front))
        case Unary("~", of):
            inner = _compiled(of)
            return lambda front: inverted(inner(front))
        case Unary(_, of):
            inner = _compiled(of)
            return lambda front: Column("b", ~truth(inner(front), front[0].length))
        case Binary(symbol, Binary("%", of, Constant(int(n))) as left, Constant(int(value)) as right) if (
            symbol in COMPARING and type(n) is int and n > 0 and type(value) is int
        ):
            return _residue(symbol, of, n, value, _binary(symbol, _compiled(left), _compiled(right), value))
        case Binary(symbol, left, Constant(int(value)) as right) if type(value) is int:
            return _binary(symbol, _compiled(left), _compiled(right), value)
        case Binary(symbol, left, right):
            return _binary(symbol, _compiled(left), _compiled(right))
        case IfElse(condition, then, otherwise):
            return _choice(*map(_compiled, (condition, then, otherwise)))
        case Method(of, name, args, ()):
            return _method(e, _compiled(of), name, args)
        case Apply(function, args):
            return _call(function, [_compiled(a) for a in args])
    raise NotColumnar(f"{e!r} has no columnar form")


def event(frame: Frame) -> Any:
    """Return the events of a frame as one value."""
    return frame.column(0) if frame.shape == VALUES else frame


def _field(of: Function, name: str) -> Function:
    def field(front: Front) -> Any:
        value = of(front)
        if isinstance(value, Frame):
            return _named(value, name)
        return _inside(value, name)

    return field


def _named(frame: Frame, name: str) -> Column:
    if frame.shape != ROWS:
        raise MissingColumn(f"no field {name!r}: the events are {frame.shape}, not rows")
    if name not in frame.names:
        raise MissingColumn(f"no column {name!r}; there are: {', '.join(frame.names) or 'none'}")
    return frame.column(frame.names.index(name))


def _inside(value: Any, name: str) -> Column:
    """Return a field of a column of structs."""
    if not (isinstance(value, Column) and value.kind == "a" and pa.types.is_struct(value.type)):
        raise Unfit(f"no field {name!r} in such values")
    refuse_nulls(value)
    if value.type.get_field_index(name) < 0:
        raise MissingColumn(f"no field {name!r}; there are: {', '.join(f.name for f in value.type)}")
    return of_arrow(pc.struct_field(value.data, name))


def _item(of: Function, key: Any) -> Function:
    def item(front: Front) -> Any:
        value = of(front)
        if isinstance(value, Frame):
            if value.shape == TUPLES and type(key) is int and -len(value.names) <= key < len(value.names):
                return value.column(key % len(value.names))
            if isinstance(key, str):
                return _named(value, key)
            raise MissingColumn(f"no item {key!r} in events that are {value.shape}")
        if isinstance(key, str) and isinstance(value, Column) and value.kind == "a":
            return _inside(value, key)
        return mapped(lambda x: x[key], value)

    return item


def _binary(symbol: str, left: Function, right: Function, constant: int | None = None) -> Function:
    if symbol in ("and", "or"):
        return _logic(symbol == "and", left, right)
    if (
        constant is not None
        and SMALLEST <= constant <= LARGEST
        and (symbol in COMPARING or (symbol == "%" and constant > 0))
    ):
        return _tested(symbol, left, right, constant)
    operation: Callable[[str, Any, Any], Any] = compared if symbol in COMPARISONS else arithmetic

    def binary(front: Front) -> Any:
        one, other = left(front), right(front)
        if one.__class__ is Frame or other.__class__ is Frame:
            one, other = _whole(one), _whole(other)
        if not isinstance(one, Column) and not isinstance(other, Column):
            return mapped(PYTHON[symbol], one, other)
        return member(one, other) if symbol == "in" else operation(symbol, one, other)

    return binary


def _linear(e: Expression) -> tuple[Expression, int, int] | None:
    """Return (of, a, b) for an expression that is ``a * of + b`` in ints.

    >>> _linear((X + 1) * 3 - 2)
    (X, 3, 1)
    """
    match e:
        case Binary(symbol, of, Constant(int(c))) if type(c) is int and symbol in ("+", "-", "*"):
            of, a, b = _linear(of) or (of, 1, 0)
            return (of, a * c, b * c) if symbol == "*" else (of, a, b + c if symbol == "+" else b - c)
    return None


def _scaled(e: Any, of: Expression, a: int, b: int) -> Function:
    """Return a linear function, by at most two operations; nothing but its result has to fit int64."""
    match e:
        case Binary(symbol, left, right):
            pass
    if not all(SMALLEST <= c <= LARGEST for c in (a, b)):
        return _binary(symbol, _compiled(left), _compiled(right))
    leaf = _compiled(of)

    @cache
    def steps() -> Function:  # made when it is needed: all the steps below would be made anew at each step
        return _binary(symbol, _compiled(left), _compiled(right))

    def scaled(front: Front) -> Any:
        one = leaf(front)
        if one.__class__ is not Column or one.kind != "i" or one.valid is not None:
            return steps()(front)
        compiled = loops() if len(one.data) else None
        if compiled is not None:
            data = room(len(one.data), np.int64)
            one.bounds = compiled.linear(tidy(one.data), a, b, data)
        low, high = one.bounds
        low, high = a * low + b, a * high + b
        if a < 0:
            low, high = high, low
        if low < SMALLEST or high > LARGEST:
            return steps()(front)
        if compiled is not None:
            return Column("i", data, bounds=(low, high))
        data = np.multiply(one.data, a) if a != 1 else one.data
        return Column("i", np.add(data, b, out=data if a != 1 else None) if b else data, bounds=(low, high))

    return scaled


def _residue(symbol: str, of: Expression, divisor: int, constant: int, general: Function) -> Function:
    """Return the comparison of a remainder with a constant, by the low bits alone where that goes."""
    inner, ufunc = _compiled(of), COMPARING[symbol]

    def residue(front: Front) -> Any:
        one = inner(front)
        plain = one.__class__ is Column and one.kind == "i" and one.valid is None
        bits = low_bits(one.data, divisor) if plain else None
        return general(front) if bits is None else Column("b", ufunc(bits, constant))

    return residue


def _tested(symbol: str, left: Function, right: Function, constant: int) -> Function:
    """Return comparisons and remainders of a column of ints and a constant, with as little around them."""
    general, ufunc = _binary(symbol, left, right), COMPARING.get(symbol)

    def tested(front: Front) -> Any:
        one = left(front)
        if one.__class__ is not Column or one.kind != "i" or one.valid is not None:
            return general(front)
        if ufunc is None:
            return remainder(one.data, constant)
        return Column("b", ufunc(one.data, constant))

    return tested


def _whole(value: Any) -> Any:
    """Return a row as a Python object, for the few operations on whole rows."""
    return of_list(value.events()) if isinstance(value, Frame) else value


def _reached(function: Function, front: Front, where: Array) -> Any:
    """Return the value of an operand on the events that reach it: on all if that goes, else on those only."""
    try:
        return function(front), None
    except Unfit:
        places = where.nonzero()[0]
        return function(tuple(f.take(places) for f in front)), places


def _logic(both: bool, left: Function, right: Function) -> Function:
    def logic(front: Front) -> Column:
        length = front[0].length
        first = truth(left(front), length)
        value, places = _reached(right, front, first if both else ~first)
        if places is None:
            second = truth(value, length)
            return Column("b", first & second if both else first | second)
        found = first.copy()
        found[places] = truth(value, len(places))
        return Column("b", found)

    return logic


def _choice(condition: Function, then: Function, otherwise: Function) -> Function:
    def choice(front: Front) -> Any:
        length = front[0].length
        where = truth(condition(front), length)
        yes, no = _reached(then, front, where), _reached(otherwise, front, ~where)
        if yes[1] is None and no[1] is None:
            return _chosen(where, yes[0], no[0])
        places = where.nonzero()[0], (~where).nonzero()[0]
        found: list[Any] = [None] * length
        for (value, taken), chosen in zip((yes, no), places, strict=True):
            values = elements(_whole(value), length if taken is None else len(taken))
            for k, place in enumerate(chosen.tolist()):
                found[place] = values[place if taken is None else k]
        return of_list(found)

    return choice


def _chosen(where: Array, yes: Any, no: Any) -> Any:
    yes, no = _whole(yes), _whole(no)
    kinds = kind_of(yes) + kind_of(no)
    if kinds in ("ii", "ff", "bb"):
        data = np.where(where, *(v.data if isinstance(v, Column) else v for v in (yes, no)))
        valid = None
        if any(isinstance(v, Column) and v.valid is not None for v in (yes, no)):
            valid = some(np.where(where, *(v.presence if isinstance(v, Column) else True for v in (yes, no))))
        return Column(kinds[0], data, valid)
    if kinds == "ss":
        return Column("s", pc.if_else(pa.array(where), *(_text(v) for v in (yes, no))), type=pa.string())
    length = len(where)
    pairs = zip(where.tolist(), elements(yes, length), elements(no, length), strict=True)
    return of_list([a if w else b for w, a, b in pairs])


def _text(value: Any) -> Any:
    return plain(value.data) if isinstance(value, Column) else pa.scalar(value)


def _method(e: Expression, of: Function, name: str, args: tuple[Expression, ...]) -> Function:
    tests = {"startswith": pc.starts_with, "endswith": pc.ends_with}
    match args:
        case (Constant(str(text)),) if name in tests:
            pass
        case _:
            raise NotColumnar(f"{e!r}: only startswith and endswith of a text are columnar methods")

    def method(front: Front) -> Any:
        value = of(front)
        if not isinstance(value, Column) or value.kind != "s":
            raise Unfit(f"{name} of what is no text")
        refuse_nulls(value)
        return Column("b", encoded_or_plain(value.data, lambda texts: tests[name](texts, pattern=text)))

    return method


def _call(function: Any, args: list[Function]) -> Function:
    if function in TRUTHS:
        wanted = function is bool
        return lambda front: Column("b", truth(args[0](front), front[0].length) == wanted)
    if function in OPERATORS and len(args) == 2:
        return _binary(OPERATORS[function], args[0], args[1])
    if function in FUNCTIONS and len(args) == 1:
        return lambda front: FUNCTIONS[function](_whole(args[0](front)))
    raise NotColumnar(f"{describe(function)} is a Python function without a columnar form")
