"""Monitor: one automaton state for each binding gives what separate monitors of each binding would."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.fol import Monitor
from millstream.palettes.fol.strategies import PREDICATES, events
from millstream.palettes.ltl import Verdict
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.machine import machine
from millstream.palettes.ltl.strategies import formulas
from millstream.palettes.ltl.terms import Const, Var
from millstream.palettes.ltl.walk import free_variables

args = st.sampled_from([Var("x"), Var("y"), Var("x"), Const(1)])
leaves = st.sampled_from("pqr").flatmap(
    lambda name: st.builds(lambda *a: fm.Predicate(name, *a), *[args] * PREDICATES[name])
)
bodies = formulas(leaves=leaves, limit=2, max_leaves=4)


def separate(formula, trace, finite):
    """Run one monitor for each binding over the values of the trace and two others."""
    names = sorted(free_variables(formula))
    values = [*dict.fromkeys(v for e in trace for v in e[1:]), "new", "newer"]
    automaton = machine(formula, finite)
    found = []
    for binding in product(values, repeat=len(names)):
        env = dict(zip(names, binding, strict=True))
        state, states = automaton.start(), []
        for e in trace:
            bits = [e == (f.name, *(_value(a, env) for a in f.args)) for f in automaton.letters]
            state = state.step(sum(b << k for k, b in enumerate(bits)))
            states.append(state)
        found.append(states)
    return list(zip(*found, strict=True))


def _value(arg, env):
    return arg.value if isinstance(arg, Const) else env[arg.name]


@settings(max_examples=100)
@given(bodies, st.lists(events(), min_size=1, max_size=6), st.booleans())
def test_monitor_agrees_with_a_monitor_for_each_binding(formula, trace, finite):
    *verdicts, last = [*Monitor(formula, at_end=finite)(trace), None][: len(trace) + 1]
    expected = []
    for states in separate(formula, trace, finite):
        now = [s.verdict for s in states]
        fresh = Verdict.FALSE if False in now else Verdict.TRUE if all(now) else Verdict.UNKNOWN
        expected.append(expected[-1] if expected and expected[-1].decided else fresh)
    assert verdicts == expected
    if finite:
        assert last == Verdict.of(all(s.final for s in separate(formula, trace, finite)[-1]))


def test_monitor_names_pending_bindings_at_the_end():
    log = [("req", 1), ("req", 2), ("ok", 1), ("req", 3)]
    *_, last = Monitor("G (req(i) -> F ok(i))", at_end=True)(log)
    assert [w.binding for w in last.because] == [{"i": 2}, {"i": 3}]


def test_monitor_drops_bindings_that_are_as_good_as_new():
    run = Monitor("G (req(i) -> X (!req(i) U ok(i)))").into([])
    for i in range(500):
        run.push(("req", i))
        run.push(("ok", i))
    assert not isinstance(run.processors[0].tree, list)


def test_monitor_touches_only_bindings_of_the_event():
    run = Monitor("G (req(i) -> F ok(i))").into([])
    run.push_all([("req", i) for i in range(100)])
    tree = run.processors[0].tree
    before = dict(tree[1])
    run.push(("ok", 7))
    assert {i for i in before if tree[1].get(i) is not before[i]} == {7}


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("G (req(i) -> exists j: F ok(i, j))", "only leading forall"),
        ("G (forall i in ids: F ok(i))", "see the ltl palette's Monitor"),
        ("G (req(i) -> $i > 3)", "make it a predicate"),
        ("req(i) & req(i, i)", "with 1 and with 2 arguments"),
    ],
)
def test_monitor_refuses(formula, problem):
    with pytest.raises(ValueError, match=problem):
        Monitor(formula)
