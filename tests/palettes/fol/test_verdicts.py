"""Verdicts and Violations: what they say, compared with the definitions."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from millstream.palettes.fol import Verdicts, Violations
from millstream.palettes.fol.general import general_program
from millstream.palettes.fol.normal import normalise
from millstream.palettes.fol.strategies import formulas, traces
from millstream.palettes.ltl import parse
from millstream.processors import E
from millstream.processors.errors import ParameterError

from .oracle import Oracle

LOCKSETS = parse("O p(x) -> exists y: H (p(x) -> [r(x, y), q(y)))")
PAIRS = parse("q(y) & O (p(y) & Y O p(x)) -> Y O q(x)")
BOTH = parse("O r(x, y) -> exists z: O r(x, z) & O r(y, z)")
NESTED = parse("O p(x) -> exists y: O r(x, y) & forall z: O r(z, y) -> O r(x, z)")


def accepted(formula, over):
    try:
        return normalise("Verdicts", formula, over=over)
    except ParameterError:
        assume(False)


def run(program, trace, times):
    state = program.fresh()
    found = zip(trace, times, strict=True)
    return [program.steps.get(e[0], program.other)(state, e, e, now) for e, now in found]


@settings(max_examples=200)
@given(formulas(), traces(), st.sampled_from(("seen", "all")))
@example(LOCKSETS, [("r", 1, 2), ("p", 1), ("q", 2), ("p", 1), ("t",)], "seen")
@example(PAIRS, [("p", 1), ("p", 2), ("q", 2), ("q", 1)], "seen")
@example(PAIRS, [("p", 1), ("p", 2), ("q", 1), ("q", 2), ("p", 1), ("q", 2)], "all")
@example(BOTH, [("r", 1, 2), ("r", 2, 2), ("r", 2, 1), ("t",)], "all")
@example(NESTED, [("p", 1), ("r", 1, 2), ("r", 3, 2), ("r", 1, 3), ("r", 1, 1)], "seen")
def test_verdicts_follow_the_definitions(formula, trace, over):
    accepted(formula, over)
    assert list(Verdicts(formula, over=over)(trace)) == Oracle(trace, over).verdicts(formula)


@settings(max_examples=100)
@given(formulas(), traces(), st.lists(st.integers(0, 3), min_size=7, max_size=7))
def test_verdicts_count_time(formula, trace, steps):
    accepted(formula, "seen")
    times = [sum(steps[: i + 1]) for i in range(len(trace))]
    timed = [(time, e) for time, e in zip(times, trace, strict=True)]
    query = Verdicts(formula, kind=lambda e: e[1][0], args=lambda e: e[1][1:], time=lambda e: e[0])
    assert list(query(timed)) == Oracle(trace, "seen", times).verdicts(formula)


@settings(max_examples=100)
@given(formulas(), traces(), st.sampled_from(("seen", "all")))
def test_general_evaluator_follows_the_definitions(formula, trace, over):
    program = general_program("Verdicts", accepted(formula, over), False)
    assert run(program, trace, range(len(trace))) == Oracle(trace, over).verdicts(formula)


@settings(max_examples=150)
@given(formulas(), traces())
def test_violations_are_violations(formula, trace):
    problem = accepted(formula, "seen")
    oracle = Oracle(trace, "seen")
    expected = oracle.verdicts(formula)
    found = {v.position: v.bindings for v in Violations(formula)(trace)}
    assert [i not in found for i in range(len(trace))] == expected
    while type(formula).__name__ == "ForAll":
        formula = formula.body
    names = [v.name for v in problem.outer]
    for i, bindings in found.items():
        for b in bindings:
            env = tuple((n, b.get(n, oracle.domain(i)[0])) for n in names) if oracle.domain(i) else ()
            assert len(b) < len(names) or not oracle.holds(formula, i, env)


def test_violations_name_all_bindings():
    log = [("open", "a"), ("open", "b"), ("open", "c"), ("close", "b"), ("end",), ("close", "a"), ("end",)]
    found = [(v.position, v.bindings) for v in Violations("end -> ![open(f), close(f))")(log)]
    assert [(p, {b["f"] for b in bindings}) for p, bindings in found] == [(4, {"a", "c"}), (6, {"c"})]


def test_verdicts_explain_with_positions():
    log = [("login", "ann"), ("logout", "ann"), ("tick",), ("access", "ann")]
    *_, last = Verdicts("access(u) -> [login(u), logout(u))", explain=True)(log)
    assert last.name == "FALSE"
    (witness,) = last.because
    assert witness.binding == {"u": "ann"}
    assert {(r.first, r.last, repr(r.leaf)) for r in witness.reasons if r.holds} == {
        (1, 1, 'logout("ann")'),
        (3, 3, 'access("ann")'),
    }


def test_violations_explain_quantifiers():
    log = [("r", 1, 2), ("p", 2), ("q", 1)]
    (found,) = Violations("q(x) -> !(exists y: O r(x, y) & O p(y))", explain=True)(log)
    reasons = [(r.first, r.leaf.name, r.binding) for r in found.because[0].reasons]
    assert reasons == [(0, "r", (("y", 2),)), (1, "p", (("y", 2),)), (2, "q", ())]


def test_verdicts_read_fields_of_dicts():
    events = [
        {"kind": "pay", "who": 1, "sum": 5},
        {"kind": "pay", "who": 1, "sum": 50},
        {"kind": "stop", "who": 1},
    ]
    limit = Verdicts(
        "pay(w) & sum > 10 -> O stop(w)", kind=E["kind"], predicates={"pay": ["who"], "stop": ["who"]}
    )
    assert list(limit(events)) == [True, False, True]


def test_verdicts_compare_variables():
    log = [("bid", "a", 3), ("bid", "b", 2), ("bid", "c", 9)]
    rising = Verdicts("bid(i, n) & Y O bid(j, m) -> n > m")
    assert list(rising(log)) == [True, False, True]
    assert rising.fallback == ""


def test_verdicts_range_over_domains_of_the_event():
    events = [{"k": "see", "ids": [1, 2]}, {"k": "ask", "ids": [1]}, {"k": "ask", "ids": [3]}]
    asked = Verdicts("forall i in ids: ask -> i < 3", kind=E["k"], predicates={"see": [], "ask": []})
    assert list(asked(events)) == [True, True, False]


def test_verdicts_save_and_load_a_deep_state():
    rule = "races(x) -> exists l: H (use(x) -> [acq(l), rel(l)))"
    out = []
    run = Verdicts(rule).into(out)
    run.push_all([("acq", 1), ("use", "x")])
    saved = run.save()
    run.push_all([("rel", 1), ("use", "x"), ("races", "x")])
    run.load(saved)
    run.push_all([("use", "x"), ("races", "x")])
    assert out == [True, True, True, True, False, True, True]


@pytest.mark.parametrize("high", [1, 10, 100])
def test_bounded_once_forgets(high):
    query = Verdicts(f"get(x) -> O[0,{high}] put(x)")
    run = query.into([])
    run.push_all([("put", i) for i in range(500)])
    assert len(run.processors[0].tables["T0"]) <= high + 1
