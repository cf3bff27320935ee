"""Random quantified formulas against the definitions: nested, with operators inside, outside and between."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor, Verdict, Verdicts, WeakStrong
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.strategies import bounds
from millstream.palettes.ltl.terms import Arith, Const, Field, Var
from millstream.processors import E

from .oracle import COMPARE, finite, known, term

VARIABLES = ("i", "j", "k")
COMPARISONS = st.sampled_from(["==", "!=", "<", ">="])
FUTURE_1, FUTURE_2, PAST_1 = (fm.F, fm.G), (fm.U, fm.W, fm.R), (fm.O, fm.H)


@st.composite
def leaves(draw, bound):
    """A comparison of a field, a variable, or both."""
    terms = [Field("x"), Field("y"), Const(1), *map(Var, bound)]
    left = draw(st.sampled_from(terms[2:] or terms))
    if draw(st.integers(0, 3)) == 0:
        left = Arith("+", left, Const(1))
    return fm.Test(draw(COMPARISONS), left, draw(st.sampled_from(terms)))


@st.composite
def quantified(draw, depth=4, bound=(), past=True):
    """A formula; operators towards the past stand only above formulas without free variables."""
    here = quantified(depth - 1, bound, past)
    options = ["leaf"] if depth == 0 else ["leaf", "not", "join", "next", "future", "until"]
    if depth > 0 and len(bound) < len(VARIABLES):
        options += ["quantifier"] * (4 if not bound else 2)
    if depth > 0 and past:
        options.append("past")
    match draw(st.sampled_from(options)):
        case "leaf":
            return draw(leaves(bound))
        case "not":
            return ~draw(here)
        case "join":
            return draw(st.sampled_from([fm.And, fm.Or, fm.Implies, fm.Iff]))(draw(here), draw(here))
        case "next":
            return fm.X(draw(here))
        case "future":
            return draw(st.sampled_from(FUTURE_1))(draw(here), draw(bounds(3)))
        case "until":
            return draw(st.sampled_from(FUTURE_2))(draw(here), draw(here), draw(bounds(3)))
        case "quantifier":
            cls = draw(st.sampled_from([fm.ForAll, fm.Exists]))
            domain = Field(draw(st.sampled_from(["items", "others"])))
            name = VARIABLES[len(bound)]
            return cls(name, domain, draw(quantified(depth - 1, (*bound, name), past)))
    closed = quantified(depth - 1, (), past)
    if draw(st.booleans()):
        return fm.S(draw(closed), draw(closed), draw(bounds(3)))
    if draw(st.booleans()):
        return fm.Y(draw(closed))
    return draw(st.sampled_from(PAST_1))(draw(closed), draw(bounds(3)))


numbers = st.integers(0, 2)
events = st.fixed_dictionaries(
    {
        "items": st.lists(numbers, max_size=2),
        "others": st.lists(numbers, max_size=3).map(frozenset),
        "x": numbers,
        "y": numbers,
        "step": numbers,
    }
)
traces = st.lists(events, max_size=7)
outermost = quantified().map(lambda f: f if _has_quantifier(f) else fm.ForAll("i", Field("items"), f))
PAIR = {v: WeakStrong(v is not False, v is True) for v in (True, False, None)}


def _has_quantifier(f):
    return isinstance(f, fm.Quantifier) or any(map(_has_quantifier, f.children))


def stamped(trace, timed):
    """The events with their times, and the times if they matter."""
    now, out = 0, []
    for event in trace:
        now += event["step"] if timed else 1
        out.append({**event, "t": now})
    return out, [e["t"] for e in out] if timed else None


@settings(max_examples=60)
@given(outermost, traces, st.booleans())
def test_quantified_verdicts(formula, trace, timed):
    trace, times = stamped(trace, timed)
    time = E.t if timed else None
    expected, certain = finite(formula, trace, times), known(formula, trace, times)
    ends = {"finite": expected, "both": [PAIR[v] for v in certain]}
    ends |= {end: [getattr(pair, end) for pair in ends["both"]] for end in ("weak", "strong")}
    for end, verdicts in ends.items():
        assert list(Verdicts(formula, at_end=end, time=time)(trace)) == verdicts
        early = list(Verdicts(formula, at_end=end, time=time, earliest=True)(trace))
        assert sorted(early) == list(enumerate(verdicts))
    held = next((i for i, v in enumerate(certain) if v is None), len(certain))
    assert list(Verdicts(formula, time=time)(trace)) == certain[:held]


@given(outermost, traces, st.booleans())
def test_quantified_verdicts_come_as_soon_as_they_are_known(formula, trace, timed):
    trace, times = stamped(trace, timed)
    out, seen = [], {}
    run = Verdicts(formula, time=E.t if timed else None, earliest=True).into(out)
    for n, event in enumerate(trace, 1):
        run.push(event)
        seen.update(out)
        out.clear()
        certain = known(formula, trace[:n], times and times[:n])
        assert seen == {i: v for i, v in enumerate(certain) if v is not None}


@given(outermost, traces, st.booleans())
def test_quantified_monitor(formula, trace, timed):
    trace, times = stamped(trace, timed)
    prefixes = [(trace[:n], times and times[:n]) for n in range(1, len(trace) + 1)]
    final = [finite(formula, *prefix)[0] for prefix in prefixes]
    certain = [known(formula, *prefix)[0] for prefix in prefixes]
    presumed = {True: Verdict.PRESUMABLY_TRUE, False: Verdict.PRESUMABLY_FALSE}
    expected = {
        "ltlf": [Verdict.of(v) for v in final],
        "ltl3": [Verdict.of(v) for v in certain],
        "rv-ltl": [presumed[f] if c is None else Verdict.of(c) for f, c in zip(final, certain, strict=True)],
    }
    for semantics, verdicts in expected.items():
        monitor = Monitor(formula, semantics=semantics, time=E.t if timed else None)
        assert list(monitor(trace)) == verdicts


@given(outermost, traces)
def test_quantified_explanations_name_leaves_as_they_were(formula, trace):
    for verdict in Verdicts(formula, explain=True)(trace):
        for witness in verdict.because:
            leaf, env = witness.leaf, witness.binding
            for event in trace[witness.first : witness.last + 1]:
                assert COMPARE[leaf.op](term(leaf.left, event, env), term(leaf.right, event, env)) is (
                    witness.holds
                )


@pytest.mark.parametrize(
    ("text", "trace", "expected"),
    [
        # a domain that depends on an outer variable
        (
            "forall i in items: exists j in i.parts: F (x == j)",
            [{"items": (frozenset({1, 2}),), "x": 0}, {"items": (), "x": 2}],
            [True, True],
        ),
        # inner and outer variable with one name in different branches
        (
            "(forall i in items: x > i) & (exists i in items: y == i)",
            [{"items": [1], "x": 2, "y": 1}, {"items": [1], "x": 1, "y": 1}],
            [True, False],
        ),
    ],
)
def test_quantified_literal(text, trace, expected):
    if "parts" in text:
        trace = [{**e, "items": [Bag(parts) for parts in e["items"]]} for e in trace]
    assert list(Verdicts(text, at_end="finite")(trace)) == expected


class Bag:
    def __init__(self, parts):
        self.parts = parts
