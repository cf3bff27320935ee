"""Formulas are values: one object per tree, any depth, pickled whole."""

import gc
import pickle
import re
from copy import deepcopy

import pytest

from millstream.palettes.ltl import Bounds, parse
from millstream.palettes.ltl.formula import (
    FALSE,
    TRUE,
    And,
    Atom,
    F,
    ForAll,
    G,
    Not,
    O,
    Predicate,
    S,
    Span,
    Test,
    U,
    X,
    atoms,
)
from millstream.palettes.ltl.terms import Arith, Const, Field, Neg, Var
from millstream.palettes.ltl.values import Value
from millstream.palettes.ltl.walk import depth, free_variables, size, subformulas, substitute
from millstream.processors.errors import ParameterError

a, b = atoms("a b")


def test_formula_equal_trees_are_one_object():
    assert G(a >> F(b)) is G(a >> F(b))
    assert F(a, Bounds()) is F(a)
    assert F(a, Bounds(0, 3)) is not F(a)
    assert Const(1) is not Const(True)
    assert Const(1) is not Const(1.0)


def test_formula_is_forgotten_when_nobody_holds_it():
    gc.collect()
    before = len(Value._table)
    made = [U(Atom(f"p{i}"), b) for i in range(100)]
    assert len(Value._table) >= before + 200
    del made
    gc.collect()
    assert len(Value._table) <= before + 1


def test_formula_python_operators():
    assert repr(~a & b | X(a) >> b) == "!a & b | (X a -> b)"
    assert (a >> b).parts == (a, b)


def test_formula_refuses_python_truth_value_and_foreign_operands():
    with pytest.raises(TypeError, match="no truth value"):
        a and b  # noqa: B018
    with pytest.raises(TypeError, match="expected a formula, got 'b'"):
        a & "b"


def test_formula_is_frozen():
    with pytest.raises(AttributeError, match="Atom is frozen"):
        a.parts = ()


@pytest.mark.parametrize("name", ["", "X", "true", "a b", 3])
def test_formula_refuses_names_it_could_not_print(name):
    with pytest.raises(ParameterError, match="expected a name"):
        Atom(name)


def test_formula_pickles_and_copies_to_itself():
    f = ForAll(
        "x", Field("items"), Test("==", Var("x"), Const(3)) & S(a, b, Bounds(0, 5)) & Predicate("p", Var("x"))
    )
    assert pickle.loads(pickle.dumps(f)) is f
    assert deepcopy(f) is f


def test_formula_depth_is_not_limited():
    f = a
    for _ in range(30_000):
        f = Not(f)
    assert (size(f), depth(f), len(subformulas(f))) == (30_001,) * 3
    assert pickle.loads(pickle.dumps(f)) is f
    assert free_variables(f) == frozenset()
    assert substitute(f, "x", 1) is f
    assert parse(repr(f)) is f


def test_formula_size_counts_shared_subformulas_each_time():
    f = a
    for _ in range(64):
        f = And(f, f)
    assert size(f) == 2**65 - 1


def test_formula_free_variables_and_substitution():
    f = parse("forall x in items: p(x, y) & q(x)")
    assert free_variables(f) == {"y"}
    assert repr(substitute(f, "y", "n")) == 'forall x in items: p(x, "n") & q(x)'
    assert substitute(f, "x", 1) is f
    g = f.body
    assert repr(substitute(substitute(g, "x", 1), "y", 2)) == "p(1, 2) & q(1)"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (Span(a, O(b)), "[a, O b)"),
        (U(U(a, b), U(a, b)), "(a U b) U a U b"),
        (And(a, And(b, a)), "a & (b & a)"),
        (Not(And(a, b)), "!(a & b)"),
        (Test("<", Neg(Const(3)), Const(-3)), "-(3) < -3"),
        (Test("==", Field("S"), Const('say "hi"\n')), '.S == "say \\"hi\\"\\n"'),
        (TRUE & FALSE, "true & false"),
    ],
)
def test_formula_prints_and_parses_back(formula, text):
    assert repr(formula) == text
    assert parse(text) is formula


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Field("a or print"), "Field: expected a field's name"),
        (lambda: Field("lambda"), "Field: expected a field's name"),
        (lambda: Test("or", Field("a"), Field("b")), "Test: expected one of == != < <= > >=, got 'or'"),
        (lambda: Arith("**", Field("a"), Field("b")), "Arith: expected one of"),
    ],
)
def test_formula_refuses_text_that_generated_code_would_run(make, said):
    with pytest.raises(ParameterError, match=re.escape(said)):
        make()
