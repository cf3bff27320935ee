"""What is said of open positions when the trace ends, in all ways, by all engines."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Verdict, Verdicts, WeakStrong, parse
from millstream.palettes.ltl.rewrite import kind
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.palettes.ltl.streams import StreamEngine
from millstream.processors import X

from .oracle import finite, flat, known

KINDS = {"a": X == "a", "b": X == "b"}
TRUE, FALSE, OPEN = WeakStrong(True, True), WeakStrong(False, False), WeakStrong(True, False)
PAIR = {True: TRUE, False: FALSE, None: OPEN}


@pytest.mark.parametrize(
    ("text", "trace", "expected"),
    [
        ("G (a -> F b)", "ab", [OPEN, OPEN]),
        ("a -> F b", "acbaxa", [TRUE, TRUE, TRUE, OPEN, TRUE, OPEN]),
        ("a -> F[0,20] b", "acbaxa", [TRUE, TRUE, TRUE, OPEN, TRUE, OPEN]),
        ("!(a -> F[0,20] b)", "acbaxa", [FALSE, FALSE, FALSE, OPEN, FALSE, OPEN]),
        ("G (a -> F[0,20] b)", "ba", [OPEN, OPEN]),
        ("a & (b R[2,20] a)", "aab", [FALSE, TRUE, FALSE]),
        ("O[0,20] a", "ba", [FALSE, TRUE]),
        ("X a", "ba", [TRUE, OPEN]),
    ],
)
def test_endings_both(text, trace, expected):
    assert list(Verdicts(text, atoms=KINDS, at_end="both")(trace)) == expected


@pytest.mark.parametrize("text", ["a -> F b", "a -> F[0,20] b", "a -> (true U[0,20] b)"])
def test_endings_keep_what_is_known_but_held_back(text):
    query = Verdicts(text, atoms=KINDS, at_end="weak")
    assert list(query("axa")) == [True, True, True]
    query = Verdicts(text, atoms=KINDS, at_end="strong")
    assert list(query("axa")) == [False, True, False]


def test_endings_earliest():
    query = Verdicts("a -> F b", atoms=KINDS, at_end="both", earliest=True)
    assert list(query("ax")) == [(1, TRUE), (0, OPEN)]


def test_endings_explained():
    query = Verdicts("a -> X b", atoms=KINDS, at_end="both", explain=True)
    first, second, third = query("axa")
    assert first == WeakStrong(Verdict.FALSE, Verdict.FALSE)
    assert [str(w) for w in first.strong.because] == ["a at 0", "!b at 1"]
    assert second == WeakStrong(Verdict.TRUE, Verdict.TRUE)
    assert third == WeakStrong(Verdict.TRUE, Verdict.FALSE)


def test_endings_an_open_pair_has_no_truth_value():
    assert (bool(TRUE), bool(FALSE)) == (True, False)
    with pytest.raises(TypeError, match=r"ask for \.weak or \.strong"):
        bool(OPEN)


def expand(runs):
    return [value for value, count in runs for _ in range(count)]


@settings(max_examples=100)
@given(formulas(limit=5), traces(max_size=12), st.data())
def test_endings_of_streams_are_what_is_known(formula, trace, data):
    timed = data.draw(st.booleans())
    times, now = [], 0
    for _ in trace:
        now += data.draw(st.integers(0, 3)) if timed else 1
        times.append(now)
    events = [{**e, "t": t} for e, t in zip(trace, times, strict=True)]
    engine = StreamEngine(formula, None, time=(lambda e: e["t"]) if timed else None)
    p = engine.fresh()
    early = flat(expand(engine.step(p, e)) for e in events)
    assert early + expand(engine.left(p)) == known(formula, trace, times if timed else None)


@settings(max_examples=100)
@given(formulas(limit=30, max_leaves=4), traces(max_size=12), st.booleans())
def test_endings_agree_with_what_is_known(formula, trace, earliest):
    """Machines may know more than the tables of three values, never less and nothing else."""
    certain = known(formula, trace)
    pairs = list(Verdicts(formula, at_end="both", earliest=earliest)(trace))
    pairs = [pair for _, pair in sorted(pairs)] if earliest else pairs
    assert len(pairs) == len(trace)
    for value, pair in zip(certain, pairs, strict=True):
        assert pair == PAIR[value] or (value is None and pair in (TRUE, FALSE))
    for end in ("weak", "strong"):
        verdicts = list(Verdicts(formula, at_end=end, earliest=earliest)(trace))
        verdicts = [v for _, v in sorted(verdicts)] if earliest else verdicts
        assert verdicts == [getattr(pair, end) for pair in pairs]


@given(formulas(limit=30, max_leaves=4), traces(max_size=12))
def test_endings_push_equals_pull(formula, trace):
    query = Verdicts(formula, at_end="both")
    out = []
    run = query.into(out)
    run.push_all(trace)
    run.end()
    assert out == list(query(trace))


@given(formulas(limit=30, max_leaves=4), traces(max_size=12))
def test_endings_finite(formula, trace):
    assume(kind(formula).future)
    assert list(Verdicts(formula, at_end="finite")(trace)) == finite(formula, trace)


def test_endings_both_signs_of_one_operator():
    engine = StreamEngine(parse("F[0,5] a <-> b"), {"a": X == "a", "b": X == "b"})
    p = engine.fresh()
    assert expand(engine.step(p, "b")) == []
    assert expand(engine.left(p)) == [None]
