"""The deterministic machine against the definitions: finite traces, and LTL3 by a second construction."""

from hypothesis import assume, given, settings

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.machine import machine
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.palettes.ltl.walk import subformulas

from .oracle import Closure, finite, plain


def valuation(m, event):
    return sum(1 << k for k, letter in enumerate(m.letters) if event[letter.name])


def run(m, trace):
    state = m.start()
    for event in trace:
        state = state.step(valuation(m, event))
        yield state


@settings(max_examples=150, deadline=None)
@given(formulas(), traces(max_size=8))
def test_machine_final_is_the_finite_trace_verdict(formula, trace):
    m = machine(formula, finite=True)
    states = list(run(m, trace))
    for n, state in enumerate(states, 1):
        assert state.final == finite(formula, trace[:n])[0]
        if state.verdict is not None:
            assert all(later.final == state.verdict for later in states[n - 1 :])


@settings(max_examples=100, deadline=None)
@given(formulas(max_leaves=4, limit=2), traces(max_size=6))
def test_machine_verdict_is_ltl3(formula, trace):
    temporal = [s for s in subformulas(plain(formula)) if isinstance(s, fm.X | fm.U | fm.Y | fm.S)]
    assume(len(temporal) <= 5)
    expected = Closure(formula, ("a", "b")).ltl3(trace)
    assert [s.verdict for s in run(machine(formula), trace)] == expected
