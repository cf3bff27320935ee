"""The general processors over columns, against the event by event run."""

from operator import add, and_, mul, or_, xor

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.processors import (
    Apply,
    Constant,
    Count,
    Cumulate,
    Decimate,
    E,
    Filter,
    Fork,
    Group,
    Passthrough,
    Prefix,
    Trim,
    X,
    Y,
    connect,
)

from .laws import check
from .strategies import BOOLS, FLOATS, INTS, TEXTS, TIMES, batches, expressions, values

SEEDS = st.integers(0, 10**6)


@settings(deadline=None)
@given(expressions(), batches(), SEEDS)
def test_expressions_agree(expression, batch, seed):
    check(Apply(expression), batch, seed)


@settings(max_examples=25, deadline=None)
@given(expressions(), batches(), SEEDS)
def test_filters_agree(condition, batch, seed):
    check(Filter(condition) | Apply(E.j), batch, seed)


FOLDS = [Cumulate(f) for f in (add, mul, min, max, X + Y, X * Y)] + [Count(), Cumulate(add, start=3)]
BITS = [Cumulate(f) for f in (and_, or_, xor, X & Y)]


@pytest.mark.parametrize("fold", FOLDS, ids=repr)
@pytest.mark.parametrize("kind", ["ints", "small", "floats", "bools"])
@settings(max_examples=6, deadline=None)
@given(st.data())
def test_folds_of_numbers_agree(fold, kind, data):
    chosen = {
        "ints": (INTS, pa.int64()), "small": (st.integers(-3, 3), pa.int8()),
        "floats": (FLOATS, pa.float64()), "bools": (BOOLS, pa.bool_()),
    }[kind]  # fmt: skip
    check(fold, data.draw(values(*chosen)), data.draw(SEEDS), states=kind != "bools")


@pytest.mark.parametrize("fold", BITS, ids=repr)
@settings(max_examples=6, deadline=None)
@given(values(BOOLS, pa.bool_()), values(INTS, pa.int64()), SEEDS)
def test_folds_of_bits_agree(fold, truths, ints, seed):
    check(fold, truths, seed)
    check(fold, ints, seed)


@pytest.mark.parametrize("fold", [Cumulate(add), Cumulate(max), Cumulate(min), Count()], ids=repr)
@settings(max_examples=6, deadline=None)
@given(values(TEXTS, pa.string()), values(TIMES, pa.timestamp("us")), SEEDS)
def test_folds_of_texts_and_times_agree(fold, texts, times, seed):
    check(fold, texts, seed)
    check(fold, times, seed)


def fork_filter_sum():
    fork, even, keep = Fork(2), Apply(X % 2 == 0), Filter()
    return connect(
        fork.outputs[0] >> keep.inputs[0],
        fork.outputs[1] >> even.inputs[0],
        even.outputs[0] >> keep.inputs[1],
    ) | Cumulate(add)


def average():
    fork, total, count, mean = Fork(2), Cumulate(add), Count(), Apply(X / Y)
    return connect(
        fork.outputs[0] >> total.inputs[0],
        fork.outputs[1] >> count.inputs[0],
        total.outputs[0] >> mean.inputs[0],
        count.outputs[0] >> mean.inputs[1],
    )


def clocks():
    """Two branches of different clocks, joined by position: events wait at the join."""
    fork, slow, late, both = Passthrough(), Filter(X % 3 == 0), Trim(2), Apply(X * 10 + Y)
    return connect(
        fork.outputs[0] >> slow.inputs[0],
        fork.outputs[0] >> late.inputs[0],
        slow.outputs[0] >> both.inputs[0],
        late.outputs[0] >> both.inputs[1],
    )


QUERIES = {
    "fork filter sum": fork_filter_sum(),
    "average": average(),
    "clocks": clocks(),
    "trim": Trim(3),
    "prefix": Prefix(4) | Apply(X + 1),
    "decimate": Decimate(3),
    "decimate last": Decimate(3, last=True) | Apply(X + 1),
    "decimate one": Decimate(1, last=True),
    "constant": Constant("x"),
    "group": Group(Apply(X + 1) | Filter(X > 2), "box") | Cumulate(max),
    "divisions": Filter(X != 0) | Apply(60 // X) | Apply(X % 7),
    "chain": Apply(X + 1) | Apply(X * 3) | Apply(X - 2) | Apply(X // 2) | Apply(X % 10),
}


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=10, deadline=None)
@given(values(st.integers(-20, 20) | INTS, pa.int64()), SEEDS)
def test_queries_of_values_agree(name, batch, seed):
    check(QUERIES[name], batch, seed)


ROWS = {
    "rows": Filter(E.s == "a"),
    "rows by second input": (Passthrough() & Passthrough()) | Filter(),
    "nulls": Filter(E.i != None) | Apply(E.i % 5 == 1),  # noqa: E711
    "guarded": Apply((E.i != None) & (E.i > 3)),  # noqa: E711
    "texts": Filter(E.s.startswith("t") | E.s.endswith("b")) | Apply(E.s),
    "trimmed rows": Trim(2) | Decimate(2, last=True),
}


@pytest.mark.parametrize("name", [n for n in ROWS if n != "rows by second input"])
@settings(max_examples=10, deadline=None)
@given(batches(), SEEDS)
def test_queries_of_rows_agree(name, batch, seed):
    check(ROWS[name], batch, seed)
