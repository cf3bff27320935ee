"""The text syntax: what it means, how it prints, what its errors say."""

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from millstream.palettes.ltl import Bounds, ParseError, parse
from millstream.palettes.ltl.formula import (
    And,
    Atom,
    Exists,
    F,
    ForAll,
    G,
    Iff,
    Implies,
    Not,
    O,
    Or,
    Predicate,
    S,
    Span,
    Test,
    U,
    W,
    X,
)
from millstream.palettes.ltl.strategies import formulas, terms
from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Var

a, b, c = Atom("a"), Atom("b"), Atom("c")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("G (a -> F[0,100] b)", G(Implies(a, F(b, Bounds(0, 100))))),
        ("!a & b | c", Or(And(Not(a), b), c)),
        ("a -> b -> c", Implies(a, Implies(b, c))),
        ("a <-> b -> c", Iff(a, Implies(b, c))),
        ("a U b W c & X a", And(U(a, W(b, c)), X(a))),
        ("a S(0,5] b", S(a, b, Bounds(0, 5, low_open=True))),
        ("O[3,inf) [a, b)", O(Span(a, b), Bounds(3))),
        ("F (a)", F(a)),
        ("a && ~b || c", Or(And(a, Not(b)), c)),
        ("G !(status == 'DEAD')", G(Not(Test("==", Field("status"), Const("DEAD"))))),
        (
            "(x + 1) * 2 >= y.z",
            Test(">=", Arith("*", Arith("+", Field("x"), Const(1)), Const(2)), Get(Field("y"), "z")),
        ),
        (
            "exists f. access(u, f, 3, 'v')",
            Exists("f", None, Predicate("access", Var("u"), Var("f"), Const(3), Const("v"))),
        ),
        ("forall x in items: x > y", ForAll("x", Field("items"), Test(">", Var("x"), Field("y")))),
        ("a # comment (\n & b", And(a, b)),
        ("((((a))))", a),
    ],
)
def test_parser_reads(text, formula):
    assert parse(text) is formula


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "expected a formula, got the end of the text"),
        ("G (a -> F )", 1, 11, "expected a formula, got ')'"),
        ("a &\n  | b", 2, 3, "expected a formula, got '|'"),
        ("(a", 1, 3, "expected ')' or an operator, got the end of the text"),
        ("a b", 1, 3, "expected an operator or the end of the text, got 'b'"),
        ("a )", 1, 3, "expected an operator or the end of the text, got ')'"),
        ("[a, b", 1, 6, r"expected ')' of an interval [p, q) or an operator, got the end of the text"),
        ("F[5,3] a", 1, 2, "Bounds: no distance lies within [5,3]"),
        ("F[-1,3] a", 1, 2, "Bounds: the lower end must not be negative, got [-1,3]"),
        ("F[1,x] a", 1, 5, "expected a number or 'inf', got 'x'"),
        ("forall x: forall x: p(x)", 1, 18, "variable 'x' is already bound here: choose another name"),
        (
            "forall x in s: x & a",
            1,
            16,
            "expected a formula, got the variable 'x': compare it with something",
        ),
        ("forall 3: a", 1, 8, "expected a variable after 'forall', got '3'"),
        ("x + 1", 1, 1, "expected a formula, got the term x + 1: compare it with something"),
        ("a == b == c", 1, 8, "comparisons do not chain: expected '&' or ')'"),
        ("p(x, )", 1, 6, "expected a variable or a constant, got ')'"),
        ("a & 'open", 1, 5, "a string that is not closed"),
        ("a ? b", 1, 3, "an unexpected character '?'"),
        ("S a", 1, 1, "expected a formula, got 'S'"),
    ],
)
def test_parser_errors_point_at_the_place(text, line, column, problem):
    with pytest.raises(ParseError) as caught:
        parse(text)
    error = caught.value
    assert (error.line, error.column, error.problem) == (line, column, problem)
    pointed = text.split("\n")[line - 1]
    assert str(error) == f"line {line}, column {column}: {problem}\n{pointed}\n{' ' * (column - 1)}^"
    assert isinstance(error, ValueError)


def test_parser_error_pickles():
    with pytest.raises(ParseError) as caught:
        parse("a b")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_parser_error_shows_only_the_neighbourhood_of_a_long_line():
    with pytest.raises(ParseError) as caught:
        parse("a & " * 1000 + "?" + " & a" * 1000)
    assert max(map(len, str(caught.value).split("\n"))) < 120


def test_parser_deep_nesting():
    n = 10_000
    assert parse("(" * n + "a" + ")" * n) is a
    deep = parse("a -> (" * n + "b" + ")" * n)
    assert parse(repr(deep)) is deep
    with pytest.raises(ParseError, match="column 20003"):
        parse("(" * (n + 1) + "a" + ")" * n)


comparisons = st.builds(Test, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), terms(), terms())


@given(
    formulas(
        leaves=st.one_of(comparisons, st.just(a), st.just(Predicate("p", Const("v"), Const(-1)))),
        max_leaves=12,
    )
)
def test_parser_round_trip(formula):
    assert parse(repr(formula)) is formula


@example("a < 3e333 & a > -3e333")
@given(st.text(alphabet="ab XFGUS()[]0,3.:!&|->=<'$ forallexists in\n#", max_size=30))
def test_parser_never_fails_otherwise(text):
    try:
        formula = parse(text)
    except ParseError:
        return
    assert parse(repr(formula)) is formula


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a == " + "9" * 5000, "column 6: a number of at most 4000 digits was expected"),
        ("F[0," + "9" * 5000 + "] a", "at most 4000 digits"),
        (r"a == '\x1'", "column 6: expected a string, got .* with an escape that means nothing"),
        (r"p('\u12')", "escape that means nothing"),
    ],
)
def test_parser_constants_without_a_value(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text)
