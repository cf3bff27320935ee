"""First-order past formulas over x, y, z and traces over few values."""

from hypothesis import strategies as st

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.bounds import Bounds
from millstream.palettes.ltl.terms import Const, Var
from millstream.palettes.ltl.walk import subformulas

VARIABLES = ("x", "y", "z")
ARITY = {"p": 1, "q": 1, "r": 2}

arguments = st.sampled_from([Var("x"), Var("y"), Var("x"), Var("y"), Var("z"), Const(1)])
predicates = st.sampled_from("pqr").flatmap(
    lambda name: st.builds(lambda *args: fm.Predicate(name, *args), *[arguments] * ARITY[name])
)
bounds = st.one_of(
    st.none(),
    st.none(),
    st.tuples(st.integers(0, 2), st.integers(0, 3)).map(lambda ends: Bounds(min(ends), max(ends))),
    st.integers(0, 2).map(lambda high: Bounds(0, high)),
)


def quantified(quantifier, variable, body):
    if any(isinstance(f, fm.Quantifier) and f.variable == variable for f in subformulas(body)):
        return body
    return quantifier(variable, None, body)


def grow(f):
    operators = [st.builds(op, f, f) for op in (fm.And, fm.Or, fm.Implies, fm.Iff)]
    operators += [st.builds(fm.Not, f), st.builds(fm.Y, f), st.builds(fm.Span, f, f)]
    operators += [st.builds(fm.O, f, bounds), st.builds(fm.H, f, bounds), st.builds(fm.S, f, f, bounds)]
    quantifiers = st.sampled_from((fm.Exists, fm.ForAll))
    return st.one_of(
        *operators,
        *operators,
        st.builds(quantified, quantifiers, st.sampled_from(VARIABLES), f),
        st.builds(quantified, quantifiers, st.sampled_from(VARIABLES), f),
    )


formulas = st.recursive(predicates | predicates | st.just(fm.Atom("t")), grow, max_leaves=6)
values = st.integers(1, 3)
events = st.one_of(
    st.tuples(st.sampled_from(("p", "q", "other")), values),
    st.tuples(st.just("r"), values, values),
    st.just(("t",)),
)
traces = st.lists(events, min_size=1, max_size=7)
steps = st.lists(st.integers(0, 3), min_size=7, max_size=7)
