"""Earliest verdicts by progression and by the machine, against brute force."""

from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl.domains import Reader
from millstream.palettes.ltl.earliest import EarliestMachine, EarliestProgression
from millstream.palettes.ltl.letters import Leaves
from millstream.palettes.ltl.machine import machine
from millstream.palettes.ltl.parser import parse
from millstream.palettes.ltl.progress import Progression
from millstream.palettes.ltl.strategies import formulas, traces

from .oracle import finite, flat


def run(engine, trace):
    p = engine.fresh()
    early = [engine.step(p, e) for e in trace]
    return early, engine.end(p)


def progression(formula, time=None):
    return EarliestProgression(Progression(formula, Reader("Test", None), time))


@settings(max_examples=125, deadline=None)
@given(formulas(limit=4), traces(max_size=15))
def test_earliest_progression(formula, trace):
    early, rest = run(progression(formula), trace)
    assert sorted(flat(early) + rest) == list(enumerate(finite(formula, trace)))


@settings(max_examples=150, deadline=None)
@given(formulas(limit=4), traces(max_size=15), st.data())
def test_earliest_progression_times(formula, trace, data):
    times, now = [], 0
    for _ in trace:
        now += data.draw(st.integers(0, 3))
        times.append(now)
    timed = [{**e, "t": t} for e, t in zip(trace, times, strict=True)]
    early, rest = run(progression(formula, lambda e: e["t"]), timed)
    assert sorted(flat(early) + rest) == list(enumerate(finite(formula, trace, times)))


@settings(max_examples=150, deadline=None)
@given(formulas(limit=2), traces(max_size=15))
def test_earliest_machine(formula, trace):
    leaves = Leaves("Test", None)
    valuation = leaves.function(leaves.valuation(machine(formula, True).letters))
    early, rest = run(EarliestMachine(formula, True, valuation), trace)
    assert sorted(flat(early) + rest) == list(enumerate(finite(formula, trace)))


def test_earliest_groups_do_not_grow():
    engine = progression(parse("G (a -> F[0,1000] b)"))
    p = engine.fresh()
    for i in range(500):
        engine.step(p, {"a": i == 3, "b": False})
    assert len(p.groups) == 2
