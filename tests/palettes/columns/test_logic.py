"""Temporal logic and state machines over columns, against the event by event run."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.columns import NotColumnarError, columnar
from millstream.palettes.columns.scanning import Automaton
from millstream.palettes.fsm import OTHERWISE, MooreMachine, On
from millstream.palettes.ltl import (
    Eventually,
    Globally,
    Historically,
    Monitor,
    Next,
    Once,
    Previous,
    Release,
    Since,
    Until,
    Verdict,
    Verdicts,
    WeakUntil,
)
from millstream.processors import Apply, E, Filter, Passthrough, X, connect

from .laws import check
from .strategies import values

SEEDS = st.integers(0, 10**6)
TRUTHS = values(st.booleans(), pa.bool_(), 40)
LETTERS = values(st.sampled_from("abc"), pa.string(), 60)


@pytest.mark.parametrize("at_end", [None, "finite"])
@pytest.mark.parametrize("operator", [Eventually, Globally, Next], ids=lambda o: o.__name__)
@settings(max_examples=6, deadline=None)
@given(TRUTHS, SEEDS)
def test_unary_operators_agree(operator, at_end, batch, seed):
    check(operator(at_end=at_end), batch, seed)


@pytest.mark.parametrize("operator", [Previous, Once, Historically], ids=lambda o: o.__name__)
@settings(max_examples=6, deadline=None)
@given(TRUTHS, SEEDS)
def test_past_operators_agree(operator, batch, seed):
    check(operator(), batch, seed)


@pytest.mark.parametrize("operator", [Until, WeakUntil, Release, Since], ids=lambda o: o.__name__)
@settings(max_examples=8, deadline=None)
@given(LETTERS, SEEDS)
def test_binary_operators_agree(operator, batch, seed):
    start, left, right, both = Passthrough(), Apply(X != "a"), Apply(X == "b"), operator()
    query = connect(
        start.outputs[0] >> left.inputs[0], start.outputs[0] >> right.inputs[0],
        left.outputs[0] >> both.inputs[0], right.outputs[0] >> both.inputs[1],
    )  # fmt: skip
    check(query, batch, seed)


ATOMS = {"a": X == "a", "b": X == "b", "c": X == "c"}
FORMULAS = [
    "G (a -> F b)", "F a", "G !c", "X a", "X X a", "a U b", "a -> X b", "G (a -> X b)", "G (a -> X (b | c))",
    "a W b", "F (a & X b)", "G F a", "G (a -> O b)", "(!b) W a", "G (a -> (!c U b))", "F G a", "X (a R b)",
    "G (a -> F[0,2] b)", "a", "true",
]  # fmt: skip


@pytest.mark.parametrize("semantics", ["ltl3", "rv-ltl", "ltlf"])
@settings(max_examples=15, deadline=None)
@given(st.sampled_from(FORMULAS), LETTERS, SEEDS)
def test_monitors_agree(semantics, formula, batch, seed):
    check(Monitor(formula, atoms=ATOMS, semantics=semantics), batch, seed)


@pytest.mark.parametrize("formula", FORMULAS)
@settings(max_examples=5, deadline=None)
@given(LETTERS, SEEDS, st.sampled_from([None, "finite", "weak", "strong"]))
def test_verdicts_agree(formula, batch, seed, at_end):
    check(Verdicts(formula, atoms=ATOMS, at_end=at_end), batch, seed, states=False)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(
        ["O a", "H !c", "a S b", "[a, b)", "Y a & O (b & Y c)", "a <-> Y Y a", "!(a S b) -> O c"]
    ),
    LETTERS,
    SEEDS,
)
def test_past_formulas_agree(formula, batch, seed):
    check(Verdicts(formula, atoms=ATOMS), batch, seed)


def test_formulas_read_fields():
    batch = pa.record_batch({"status": ["OK", "DEAD", "OK"], "n": [1, 2, 3]})
    check(Monitor("G !(status == 'DEAD' & n + 1 > 2)"), batch, 1)
    check(Monitor("G (n > 0)") | Filter(X == Verdict.UNKNOWN), batch, 1)
    (out,) = columnar(Monitor("G !(status == 'DEAD')"))([batch])
    assert out.to_pydict() == {"value": ["UNKNOWN", "FALSE", "FALSE"]}


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_automata_agree_with_one_step_after_the_other(data):
    states, width = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    entries = st.lists(st.integers(0, states - 1), min_size=width, max_size=width)
    table = np.array(data.draw(st.lists(entries, min_size=states, max_size=states)))
    seed, size = data.draw(SEEDS), data.draw(st.sampled_from([0, 1, 5, 256, 700]))
    symbols = np.random.default_rng(seed).integers(0, width, size)
    automaton = Automaton(table)
    start = data.draw(st.integers(0, states - 1))
    expected = automaton._one_by_one(start, symbols).tolist()
    assert automaton.states(start, symbols).tolist() == expected
    if size:
        assert automaton._side_by_side(start, symbols).tolist() == expected


DOOR = {
    "shut": {"a": "open", OTHERWISE: "shut"},
    "open": {"b": "shut", "a": "open", "c": "stuck"},
    "stuck": {},
}
MACHINES = {
    "table": MooreMachine.from_table("shut", DOOR, unmatched="stay"),
    "errors": MooreMachine.from_table("shut", DOOR),
    "symbols": MooreMachine.from_table("shut", DOOR, {"open": 1, "stuck": 2}, unmatched="stay"),
    "mixed": MooreMachine.from_table("shut", DOOR, {"open": 1, "stuck": "x", "shut": None}, unmatched="stay"),
    "toggle": MooreMachine(0, [On(0, X == "a", 1), On(1, X == "a", 2), On(2, X > "a", 0), On(0, "b", 2)],
                           unmatched="stay"),
}  # fmt: skip


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=25, deadline=None)
@given(LETTERS, SEEDS)
def test_machines_agree(name, batch, seed):
    check(MACHINES[name], batch, seed)


def test_long_runs_of_a_machine_agree():
    letters = np.random.default_rng(3).choice(["a", "b", "c"], 3000)
    schema = pa.schema([("value", pa.string())], {"millstream": "values"})
    for name in ("table", "toggle"):
        check(MACHINES[name], pa.record_batch([pa.array(letters)], schema=schema), 2)


def test_what_has_no_small_automaton_is_refused():
    with pytest.raises(NotColumnarError, match="0:Monitor: a monitor that explains, or whose formula has no"):
        columnar(Monitor("G a", explain=True))
    with pytest.raises(
        NotColumnarError, match="0:Verdicts: a formula with long bounds, times, quantifiers or"
    ):
        columnar(Verdicts("F[3,1000] a", time=E.t))
    with pytest.raises(NotColumnarError, match="0:MooreMachine: a machine with variables"):
        columnar(MooreMachine(0, [On(0, OTHERWISE, 0)], variables={"n": 0}))
