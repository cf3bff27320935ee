"""Verdicts in order: the right ones, at the first moment at which all older ones are known too."""

from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl.inorder import InOrder
from millstream.palettes.ltl.machine import machine
from millstream.palettes.ltl.parser import parse
from millstream.palettes.ltl.strategies import formulas, traces

from .oracle import finite, flat


def expand(runs):
    return [value for value, count in runs for _ in range(count)]


def stepwise(engine, trace):
    p = engine.fresh()
    return [expand(engine.step(p, e)) for e in trace], expand(engine.end(p))


@settings(max_examples=150, deadline=None)
@given(formulas(limit=2), traces(max_size=20))
def test_inorder_finite_verdicts(formula, trace):
    outs, rest = stepwise(InOrder(formula, True, None), trace)
    assert flat(outs) + rest == finite(formula, trace)


@settings(max_examples=100, deadline=None)
@given(formulas(limit=2), traces(max_size=12), st.booleans())
def test_inorder_each_as_soon_as_known(formula, trace, ends):
    m = machine(formula, ends)
    known, past, states = [], m.origin, []
    for event in trace:
        v = sum(1 << k for k, letter in enumerate(m.letters) if event[letter.name])
        states = [s.step(v) for s in [*states, m.start(past)]]
        past = m.tableau.step(past, v)
        verdicts = [s.verdict for s in states]
        known.append(next((i for i, x in enumerate(verdicts) if x is None), len(verdicts)))
    outs, _ = stepwise(InOrder(formula, ends, None), trace)
    assert [len(o) for o in outs] == [b - a for a, b in zip([0, *known], known, strict=False)]


@settings(deadline=None)
@given(formulas(limit=2), traces(max_size=20))
def test_inorder_loop_equals_steps(formula, trace):
    engine = InOrder(formula, False, None)
    outs, rest = stepwise(engine, trace)
    p = engine.fresh()
    assert list(engine.iterate(p, iter(trace))) == flat(outs)
    assert expand(engine.end(p)) == rest


def test_inorder_many_runs_wait_for_one_position():
    engine = InOrder(parse("a -> F b"), True, None)
    waiting = [{"a": i % 2 == 0, "b": False} for i in range(1000)]
    p = engine.fresh()
    assert all(not engine.step(p, e) for e in waiting)
    assert expand(engine.end(p)) == [i % 2 == 1 for i in range(1000)]
    assert expand(engine.step(p, {"a": False, "b": True})) == [True] * 1001
    assert p.log is None
