"""Automata that would explode do not: their work is limited, and verdicts stay right."""

import pickle
import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor, Verdict, Verdicts, parse
from millstream.palettes.ltl.inorder import InOrder
from millstream.palettes.ltl.machine import machine
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.palettes.ltl.tableau import OvergrownError, Tableau
from millstream.processors import ParameterError

from .oracle import finite

NAMES = "abcdefghij"
EXPLOSIVE = " & ".join(f"G F {x}" for x in NAMES) + " & G !k"
QUIET = dict.fromkeys([*NAMES, "k"], False)


@pytest.mark.parametrize("semantics", ["ltl3", "rv-ltl", "ltlf"])
def test_budget_explosive_formula_is_rewritten(semantics):
    monitor = Monitor(EXPLOSIVE, semantics=semantics, budget=5000)
    verdicts = list(monitor([QUIET, {**QUIET, "a": True}, {**QUIET, "k": True}, QUIET]))
    assert verdicts[2:] == [Verdict.FALSE, Verdict.FALSE]
    assert Verdict.FALSE not in verdicts[:2] or semantics == "ltlf"
    with pytest.raises(ParameterError, match="more work than budget=5000"):
        monitor.automaton()


def test_budget_of_the_tableau_is_kept():
    m = machine(parse(EXPLOSIVE), budget=2000)
    assert not m.fits
    assert 2000 < m.tableau.spent < 3 * 2000
    with pytest.raises(OvergrownError, match="split the formula"):
        Tableau(m.tableau.form, budget=100).expand(m.tableau.origin(m.roots[0]))


COSTS = """
import sys
from millstream.palettes.ltl.values import Value
salt = int(sys.argv[1])
Value.__hash__ = lambda self: id(self) * (2 * salt + 1) ^ id(self) >> salt
from millstream.palettes.ltl.machine import machine
from millstream.palettes.ltl.parser import parse
for text in sys.argv[2:]:
    m = machine(parse(text), budget=100)
    print(m.fits, m.tableau.spent)
"""


def test_budget_needed_does_not_depend_on_where_objects_lie():
    """What fits in one process fits in the other that a state is sent to."""
    texts = [
        "Y F G[0,1] (a U ((a -> b) & b))",
        "Y H (!X !true -> H[0,2] (b W[1,1] b))",
        "(a U[0,2] b) & (b U[0,1] a) & G (a -> F b) & F G a",
        "((a U b) U X H[0,1] (a W[2,inf) a)) S[2,2] a",
    ]
    runs = [
        subprocess.run(
            [sys.executable, "-c", COSTS, str(salt), *texts], capture_output=True, text=True, check=True
        )
        for salt in (3, 4, 5)
    ]
    assert len({run.stdout for run in runs}) == 1
    assert len(runs[0].stdout.splitlines()) == len(texts)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("!X !(a U[0,3] b) & X (a U[0,5] b)", False),
        ("X !(a U[0,3] b) & !X (a U[0,5] b)", False),
        ("!X !(a U[0,3] b) & !X !(a U[0,5] b)", True),
        ("X (b R[0,2] a) & !X !G a", False),
    ],
)
def test_obligations_joined_stay_strong(formula, expected):
    """Of two deadlines the stricter stays, but a position that must come must come."""
    event = {"a": True, "b": False}
    assert list(Monitor(formula, semantics="ltlf")([event])) == [Verdict.of(expected)]
    assert list(Verdicts(formula, at_end="finite")([event])) == [expected]


def test_budget_of_states_is_kept():
    """An automaton of about 2**10 states: those beyond the budget come and go."""
    m = machine(parse("G (a -> X X X X X X X X X (a | b))"), budget=6000)
    chance, state = Random(1), m.start()
    assert m.fits
    for _ in range(3000):
        state = state.step(chance.choice((1, 2, 2, 3)))
        assert len(m.passing) <= 1
    assert m.spent > 6000
    assert len(m.states) < 500


@given(formulas(limit=2), traces(max_size=8), st.sampled_from([0, 1, 10, 100]))
def test_budget_changes_no_verdict_but_may_delay_it(formula, trace, budget):
    full, scarce = list(Monitor(formula)(trace)), list(Monitor(formula, budget=budget)(trace))
    assert all(few in (many, Verdict.UNKNOWN) for few, many in zip(scarce, full, strict=True))
    last = list(Monitor(formula, budget=budget, semantics="ltlf")(trace))[-1:]
    assert last == [Verdict.of(v) for v in finite(formula, trace)[:1]]


@given(formulas(limit=2), traces(max_size=12))
def test_budget_forgetting_states_changes_nothing(formula, trace):
    expected = list(Monitor(formula)(trace))
    monitor = Monitor(formula)
    monitor.machine().spent = 10**9
    try:
        assert list(monitor(trace)) == expected
        assert list(Verdicts(formula)(trace)) == list(
            InOrder(formula, False, None).iterate(*_begin(formula, trace))
        )
    finally:
        monitor.machine().spent = 0


def _begin(formula, trace):
    return InOrder(formula, False, None).fresh(), iter(trace)


def test_budget_saved_state_finds_its_machine():
    monitor = Monitor("a U b", budget=500)
    run = monitor.into([])
    run.push({"a": True, "b": False})
    saved = pickle.loads(pickle.dumps(run.save()))
    out = []
    other = Monitor("a U b", budget=500).into(out)
    other.load(saved)
    other.push({"a": False, "b": True})
    assert out == [Verdict.TRUE]


@pytest.mark.parametrize("budget", [-1, 1.5, "x"])
def test_budget_refuses(budget):
    with pytest.raises(ParameterError, match="budget must be a whole number"):
        Monitor("a", budget=budget)
