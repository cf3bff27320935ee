"""Explicit automata: minimal, equal to the monitor, composable."""

from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor
from millstream.palettes.ltl.strategies import formulas, traces


def valuations(automaton, trace):
    return [automaton.valuation(*(x for x in automaton.letters if e[x.name])) for e in trace]


@settings(deadline=None)
@given(formulas(max_leaves=4, limit=2), traces(max_size=10), st.sampled_from(["ltl3", "rv-ltl", "ltlf"]))
def test_automaton_gives_the_verdicts_of_the_monitor(formula, trace, semantics):
    monitor = Monitor(formula, semantics=semantics)
    automaton = monitor.automaton()
    vs = valuations(automaton, trace)
    states = [automaton.run(vs[: n + 1]) for n in range(len(vs))]
    assert [automaton.verdicts[s] for s in states] == list(monitor(trace))
    assert len(automaton.minimised().table) == len(automaton.table)


@settings(deadline=None)
@given(formulas(max_leaves=4, limit=2), traces(max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_automaton_summaries_compose_in_any_grouping(formula, trace, i, j):
    automaton = Monitor(formula).automaton()
    vs = valuations(automaton, trace)
    i, j = sorted((min(i, len(vs)), min(j, len(vs))))
    x, y, z = (automaton.summary(part) for part in (vs[:i], vs[i:j], vs[j:]))
    assert x.then(y).then(z) == x.then(y.then(z)) == automaton.summary(vs)
    assert automaton.summary(vs).to[0] == automaton.run(vs)
    assert automaton.identity().then(x) == x


def test_automaton_sizes():
    assert len(Monitor("G (a -> F b)").automaton().table) == 1
    assert len(Monitor("G (a -> F b)", semantics="rv-ltl").automaton().table) == 2
    assert len(Monitor("G (a -> X b)").automaton().table) == 3
    assert len(Monitor("G (a -> F[0,9] b)").automaton().table) == 11


def test_automaton_pictures():
    automaton = Monitor("a U b").automaton()
    assert automaton.mermaid() == (
        "stateDiagram-v2\n  [*] --> s0\n  s0 : UNKNOWN\n  s1 : FALSE\n  s2 : TRUE\n"
        "  s0 --> s1 : !a & !b\n  s0 --> s0 : a & !b\n  s0 --> s2 : b\n  s1 --> s1 : true\n  s2 --> s2 : true"
    )
    assert '0 -> 2 [label="b"];' in automaton.dot()
