"""The three-valued monitor against its definition: what all ultimately periodic continuations say."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor, Verdict, parse
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.palettes.ltl.walk import subformulas

from .lasso import holds, lassos, reach

A, B, C = ({"a": a, "b": b} for a, b in ((True, False), (False, True), (False, False)))


@pytest.mark.parametrize(
    ("text", "stem", "loop", "expected"),
    [
        ("G F a", [C], [A, C], True),
        ("F G a", [A, A], [A, C], False),
        ("a U b", [A, A], [B], True),
        ("a U b", [], [A], False),
        ("a W b", [], [A], True),
        ("F[0,2] b", [C, C], [B, C], True),
        ("F[0,1] b", [C, C], [B, C], False),
        ("F[3,inf) b", [C], [B, C, C], True),
        ("G (b -> Y a)", [], [A, B], True),
        ("G (b -> Y a)", [], [B, A], False),
        ("F (a & O[3,3] b)", [B], [C, C, A], True),
        ("F (a & O[2,2] b)", [B], [C, C, A], False),
        ("G (a -> H !b)", [A], [A, C], True),
        ("F G [a, b)", [B], [A, C], True),
    ],
)
def test_lasso_evaluator(text, stem, loop, expected):
    assert holds(parse(text), stem, loop) is expected


def weight(formula):
    """How far a formula looks ahead step by step; words that decide it need stems of about this length."""
    steps = 0
    for f in subformulas(formula):
        low, high = reach(f)
        steps += isinstance(f, fm.X | fm.Y) + (low if high is None else high)
    return steps + sum(isinstance(f, (*fm.FUTURE, *fm.PAST)) for f in subformulas(formula))


def check(formula, names, trace, stem, loop):
    """TRUE and FALSE are never contradicted; UNKNOWN has a word on either side."""
    verdicts = list(Monitor(formula)(trace))
    for n, verdict in enumerate(verdicts, 1):
        seen = set()
        for u, v in lassos(names, stem, loop):
            seen.add(holds(formula, trace[:n] + u, v))
            if len(seen) == 2:
                break
        assert verdict == (Verdict.UNKNOWN if len(seen) == 2 else Verdict.of(seen.pop()))
        if verdict.decided:
            return


@settings(max_examples=100)
@given(formulas(["a"], limit=1, max_leaves=4), traces(["a"], min_size=1, max_size=3))
def test_lasso_one_atom(formula, trace):
    assume(weight(formula) <= 4)
    check(formula, ["a"], trace, stem=3, loop=2)


@given(formulas(bounded=False, max_leaves=4), traces(min_size=1, max_size=2))
def test_lasso_two_atoms(formula, trace):
    assume(weight(formula) <= 3)
    check(formula, ["a", "b"], trace, stem=2, loop=2)


@settings(max_examples=100)
@given(formulas(limit=3), traces(max_size=4), traces(max_size=4), traces(min_size=1, max_size=3))
def test_lasso_never_contradicts(formula, trace, stem, loop):
    truth = Verdict.of(holds(formula, trace + stem, loop))
    assert all(v in (truth, Verdict.UNKNOWN) for v in Monitor(formula)(trace + stem + loop))


@given(formulas(limit=2, max_leaves=5), traces(max_size=3), traces(min_size=1, max_size=2), st.integers(1, 2))
def test_lasso_unrolled_is_the_same_word(formula, stem, loop, turns):
    assert holds(formula, stem, loop) == holds(formula, stem + loop * turns, loop)
