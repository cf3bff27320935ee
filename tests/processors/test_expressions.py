"""Expressions against Python itself: what they compute, how they print, what they refuse."""

import operator
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.processors import Apply, E, X, Y, as_function, call, if_else, is_in
from millstream.processors.expressions import Binary, Constant, Input

BINARY = [
    getattr(operator, n)
    for n in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor")
]
SAFE = {"X": X, "Y": Y, "E": E, "is_in": is_in, "if_else": if_else, "call": call, "abs": abs}


@st.composite
def pairs(draw, depth=4):
    """An expression of X and Y, and the Python function that it must equal."""
    if depth == 0 or draw(st.booleans()):
        leaf = draw(st.sampled_from(["x", "y", "constant"]))
        value = draw(st.integers(-3, 3))
        return {
            "x": (X, lambda x, y: x),
            "y": (Y, lambda x, y: y),
            "constant": (Constant(value), lambda x, y: value),
        }[leaf]
    (a, f), (b, g) = draw(pairs(depth=depth - 1)), draw(pairs(depth=depth - 1))
    kind = draw(st.sampled_from(["binary", "negate", "choose", "abs"]))
    if kind == "binary":
        op = draw(st.sampled_from(BINARY))
        return op(a, b), lambda x, y: op(f(x, y), g(x, y))
    if kind == "negate":
        return -a, lambda x, y: -f(x, y)
    if kind == "abs":
        return abs(a), lambda x, y: abs(f(x, y))
    return if_else(a > b, a, b), lambda x, y: f(x, y) if f(x, y) > g(x, y) else g(x, y)


@given(pairs(), st.integers(-5, 5), st.integers(-5, 5))
def test_expression_computes_what_python_computes(pair, x, y):
    expression, expected = pair
    value = as_function(expression)(*(x, y)[: expression._arity])
    assert value == expected(x, y)


@given(pairs(), st.integers(-5, 5), st.integers(-5, 5))
def test_expression_prints_as_text_that_means_the_same(pair, x, y):
    expression, expected = pair
    printed = eval(repr(expression), dict(SAFE))
    if isinstance(printed, Binary | Input) or callable(getattr(printed, "_render", None)):
        assert as_function(printed)(*(x, y)[: printed._arity]) == expected(x, y)
    else:  # made of constants only
        assert printed == expected(x, y)


@given(pairs())
def test_expression_survives_pickling(pair):
    expression, _ = pair
    assert repr(pickle.loads(pickle.dumps(expression))) == repr(expression)


@pytest.mark.parametrize(
    ("expression", "event", "value"),
    [
        (E.price > 3, {"price": 4}, True),
        (E.price > 3, SimpleNamespace(price=2), False),
        (E["kind"] == "temp", {"kind": "temp"}, True),
        (E.name.startswith("a"), {"name": "abc"}, True),
        (E.name.replace("a", "b").upper(), {"name": "aa"}, "BB"),
        (E.user.name, {"user": {"name": "bob"}}, "bob"),
        (E.value + E.source + E.index, {"value": 1, "source": 2, "index": 3}, 6),
        (X[1:], "abc", "bc"),
        (X[0] + X[-1], [1, 2, 3], 4),
        (~(X > 1), 1, True),
        (~E.flag, {"flag": True}, False),
        (~X, 5, -6),
        ((X > 1) & (X < 4), 2, True),
        ((X < 1) | (X > 4), 2, False),
        (X & 6, 3, 2),
        (is_in(X, {"a", "b"}), "a", True),
        (is_in("a", X), "cab", True),
        (2**X, 3, 8),
        (X**2 % 5, 3, 4),
        (-(X**2), 3, -9),
        (X.format(a=1), "{a}", "1"),
        (X == "{0} {me} __import__('os')", "x", False),
        (call(max, X, 3), 5, 5),
    ],
)
def test_expression_of_an_event(expression, event, value):
    assert as_function(expression)(event) == value
    assert list(Apply(expression)([event])) == [value]


def test_conditions_do_not_compute_what_is_not_needed():
    assert as_function((E.n != 0) & (10 // E.n > 1))({"n": 0}) is False
    assert as_function(if_else(X == 0, 0, 1 // X))(0) == 0


def test_strings_of_users_are_never_compiled():
    assert as_function(X == "'); raise SystemExit  #")("a") is False
    with pytest.raises(ValueError, match="is not a field name"):
        as_function(getattr(X, "a b"))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: bool(X), "has no truth value until an event comes"),
        (lambda: list(X), "is an expression; it cannot be iterated"),
        (lambda: 1 < X < 3, "has no truth value"),
    ],
)
def test_expression_refuses_python_statements_with_a_hint(use, message):
    with pytest.raises(TypeError, match=message):
        use()


def test_expression_may_nest_thousands_of_levels():
    left = right = X
    for _ in range(3000):
        left, right = left + 1, 1 + right
    assert as_function(left)(1) == as_function(right)(1) == 3001
    assert list(Apply(left)([1])) == [3001]


def test_back_ends_match_on_the_node_classes():
    match X + 1:
        case Binary(symbol, Input(0, name), Constant(value)):
            assert (symbol, name, value) == ("+", "X", 1)
        case _:
            pytest.fail("no match")
