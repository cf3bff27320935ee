"""Verdicts, Monitor and the operators as processors: right on all traces, and agreeing with each other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import (
    Always,
    Eventually,
    Globally,
    Historically,
    Monitor,
    Next,
    Once,
    Previous,
    Release,
    Since,
    Sometime,
    Until,
    UpTo,
    Verdict,
    Verdicts,
    WeakUntil,
)
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.processors import E

from .oracle import finite

a, b = fm.atoms("a b")
BOTH = {"a": E.a, "b": E.b}


@settings(max_examples=75, deadline=None)
@given(formulas(limit=12), traces())
def test_verdicts_finite(formula, trace):
    expected = finite(formula, trace)
    assert list(Verdicts(formula, at_end="finite")(trace)) == expected
    assert list(Verdicts(formula, atoms=BOTH, at_end="finite")(trace)) == expected
    early = list(Verdicts(formula, earliest=True, at_end="finite")(trace))
    assert sorted(early) == list(enumerate(expected))


@settings(deadline=None)
@given(formulas(limit=12), traces(), st.data())
def test_verdicts_metric_time(formula, trace, data):
    times = sorted(data.draw(st.lists(st.integers(0, 30), min_size=len(trace), max_size=len(trace))))
    events = [{**e, "t": t} for e, t in zip(trace, times, strict=True)]
    expected = finite(formula, trace, times)
    assert list(Verdicts(formula, time=E.t, at_end="finite")(events)) == expected
    early = list(Verdicts(formula, time=E.t, earliest=True, at_end="finite")(events))
    assert sorted(early) == list(enumerate(expected))
    assert [v == Verdict.TRUE for v in Monitor(formula, time=E.t, semantics="ltlf")(events)] == [
        finite(formula, trace[:n], times[:n])[0] for n in range(1, len(trace) + 1)
    ]


@settings(max_examples=75, deadline=None)
@given(formulas(limit=12), traces())
def test_monitor_semantics_agree(formula, trace):
    ltl3, rv, ltlf = (list(Monitor(formula, semantics=s)(trace)) for s in ("ltl3", "rv-ltl", "ltlf"))
    assert ltlf == [Verdict.of(finite(formula, trace[:n])[0]) for n in range(1, len(trace) + 1)]
    for three, four, final in zip(ltl3, rv, ltlf, strict=True):
        presumed = Verdict.PRESUMABLY_TRUE if final else Verdict.PRESUMABLY_FALSE
        assert four == (three if three.decided else presumed)
    decided = [v for v in ltl3 if v.decided]
    assert ltl3 == [Verdict.UNKNOWN] * (len(trace) - len(decided)) + decided
    assert len(set(decided)) <= 1


def test_monitor_anticipates():
    assert list(Monitor("F a & G !a")([{"a": False}])) == [Verdict.FALSE]
    assert list(Monitor("X a | X !a")([{"a": False}])) == [Verdict.TRUE]
    assert list(Monitor("G (a -> O b) & X X (!O b & a)")([{"a": False, "b": True}])) == [Verdict.FALSE]


OPERATORS = [
    (Eventually, fm.F, 1), (Globally, fm.G, 1), (Next, fm.X, 1), (Until, fm.U, 2), (WeakUntil, fm.W, 2),
    (Release, fm.R, 2), (Previous, fm.Y, 1), (Once, fm.O, 1), (Historically, fm.H, 1), (Since, fm.S, 2),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "operator", "arity"), OPERATORS)
@given(trace=traces())
def test_operators_over_boolean_streams(cls, operator, arity, trace):
    past = operator in fm.PAST
    inputs = [[e[name] for e in trace] for name in "ab"[:arity]]
    query = cls() if past else cls(at_end="finite")
    assert list(query(*inputs)) == finite(operator(*(a, b)[:arity]), trace)


@settings(deadline=None)
@given(formulas(max_leaves=3, limit=2, past=False), traces(max_size=8))
def test_operators_over_inner_monitors(formula, trace):
    """Equal to the formula's monitor wherever a copy decides; they do not anticipate across copies."""
    for outer, operator in ((Always, fm.G), (Sometime, fm.F)):
        slow = list(outer(Monitor(formula))(trace))
        for verdict, exact in zip(slow, Monitor(operator(formula))(trace), strict=True):
            assert verdict in (exact, Verdict.UNKNOWN)


@given(traces())
def test_up_to_is_until(trace):
    slow = list(UpTo(E.a, E.b)(trace))
    assert slow == list(Monitor("a U b")(trace))


def test_verdicts_weak_and_strong_end():
    trace = [{"a": True, "b": False}, {"a": False, "b": False}]
    assert list(Verdicts("G (a -> F b)", at_end="weak")(trace)) == [True, True]
    assert list(Verdicts("G (a -> F b)", at_end="strong")(trace)) == [False, False]
    assert list(Verdicts("G (a -> F b)")(trace)) == []


def test_verdicts_earliest_is_out_of_order():
    trace = [{"a": x in "a", "b": x in "b"} for x in "accb"]
    seen = []
    run = Verdicts("a -> F b", earliest=True).into(seen.append)
    told = []
    for event in trace:
        run.push(event)
        told.append(list(seen))
        seen.clear()
    assert told == [[], [(1, True)], [(2, True)], [(0, True), (3, True)]]


def test_fields_that_several_atoms_read_are_read_once():
    class Event:
        reads = 0

        @property
        def kind(self):
            Event.reads += 1
            return "ok"

    atoms = {"a": E.kind == "req", "b": E.kind == "ok", "c": (E.kind != "x") & (E.kind != "y")}
    for cls in (Monitor, Verdicts):
        query = cls("G (a -> F (b | c))", atoms=atoms)
        list(query([Event()] * 3))
        Event.reads = 0
        list(query([Event()] * 5))
        assert Event.reads == 5
