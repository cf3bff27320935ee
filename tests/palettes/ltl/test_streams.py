"""Verdict streams with bounds and times against brute force."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl.parser import parse
from millstream.palettes.ltl.pastonly import PastEngine
from millstream.palettes.ltl.response import ResponseEngine, recognise
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.palettes.ltl.streams import StreamEngine
from millstream.processors import E

from .oracle import finite, flat


def expand(runs):
    return [value for value, count in runs for _ in range(count)]


def run(engine, trace):
    p = engine.fresh()
    out = [expand(engine.step(p, e)) for e in trace]
    return flat(out), expand(engine.end(p))


@settings(max_examples=125, deadline=None)
@given(formulas(limit=5), traces(max_size=20))
def test_streams_positions(formula, trace):
    early, rest = run(StreamEngine(formula, None), trace)
    assert early + rest == finite(formula, trace)


@settings(max_examples=125, deadline=None)
@given(formulas(limit=5), traces(max_size=20), st.data())
def test_streams_times(formula, trace, data):
    times, now = [], 0
    for _ in trace:
        now += data.draw(st.integers(0, 3))
        times.append(now)
    timed = [{**e, "t": t} for e, t in zip(trace, times, strict=True)]
    early, rest = run(StreamEngine(formula, None, time=lambda e: e["t"]), timed)
    assert early + rest == finite(formula, trace, times)


responses = st.sampled_from(
    [
        "G(a -> F[{0},{1}] b)",
        "a -> F[{0},{1}] b",
        "F[{0},{1}] a",
        "F(a & G[{0},{1}] b)",
        "!(a & G[{0},{1}] b)",
    ]
)


@settings(max_examples=100, deadline=None)
@given(responses, st.integers(0, 3), st.integers(0, 3), traces(max_size=20))
def test_response_is_the_general_stream(text, low, more, trace):
    formula = parse(text.format(low, low + more))
    shape = recognise(formula)
    assert shape is not None
    fast = run(ResponseEngine(shape, None), trace)
    assert fast[0] + fast[1] == finite(formula, trace)
    assert fast == run(StreamEngine(formula, None), trace)


@settings(max_examples=100, deadline=None)
@given(formulas(limit=3), traces(max_size=20))
def test_response_whatever_is_recognised(formula, trace):
    shape = recognise(formula)
    if shape is None:
        return
    fast = run(ResponseEngine(shape, None), trace)
    assert fast[0] + fast[1] == finite(formula, trace)


@settings(max_examples=100, deadline=None)
@given(formulas(limit=5, future=False), traces(max_size=20), st.integers(0, 3))
def test_past_only(formula, trace, pace):
    times = [i * pace for i in range(len(trace))]
    timed = [{**e, "t": t} for e, t in zip(trace, times, strict=True)]
    assert run(PastEngine(formula, None), trace) == (finite(formula, trace), [])
    assert run(PastEngine(formula, None, lambda e: e["t"]), timed) == (
        finite(formula, trace, times),
        [],
    )


def test_streams_in_order_of_time_only():
    engine = StreamEngine(parse("F[0,5] a"), None, time=lambda e: e["t"])
    p = engine.fresh()
    engine.step(p, {"t": 5, "a": False})
    with pytest.raises(ValueError, match="in order of time: 4 after 5"):
        engine.step(p, {"t": 4, "a": False})


def test_streams_previous_below_since_knows_the_time():
    trace = [{"a": i % 2 == 0, "t": i} for i in range(4)]
    formula = parse("[Y X a, Y X a)")
    early, rest = run(StreamEngine(formula, None, time=lambda e: e["t"]), trace)
    assert early + rest == finite(formula, trace, range(4))


def test_streams_state_copies_and_pickles():
    engine = StreamEngine(parse("G (a -> F[0,3] (b U[1,2] a))"), {"a": E.a, "b": E.b})
    p = engine.fresh()
    trace = [{"a": i % 3 == 0, "b": i % 2 == 0} for i in range(10)]
    for e in trace:
        engine.step(p, e)
    q, r = copy.deepcopy(p), pickle.loads(pickle.dumps(p))
    rest = [{"a": False, "b": i % 4 == 0} for i in range(10)]
    outs = [[engine.step(state, e) for e in rest] for state in (p, q, r)]
    assert outs[0] == outs[1] == outs[2]
