"""Slices over columns, against the event by event run."""

from operator import add, mul

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.columns import NotColumnarError, columnar
from millstream.palettes.slicer import Slice
from millstream.processors import Apply, Count, Cumulate, E, Filter, X

from .laws import check
from .strategies import batches

SEEDS = st.integers(0, 10**6)
INNER = {
    "count": Count(), "sum": Apply(E.j) | Cumulate(add), "float sum": Apply(E.f) | Cumulate(add),
    "max": Apply(E.i) | Cumulate(max),
    "float min": Apply(E.f) | Cumulate(min), "wide": Apply(E.i) | Cumulate(add),
    "product": Apply(E.j) | Cumulate(mul), "from": Apply(E.j) | Cumulate(add, start=0),
    "some": Filter(E.j > 0) | Count(), "then": Count() | Filter(X % 2 == 0) | Apply(X * 10),
    "truths": Apply(E.b) | Cumulate(add),
    "texts": Apply(E.s) | Cumulate(max), "events": Count() | Apply(X == 1),
}  # fmt: skip


@pytest.mark.parametrize("by", [E.d, E.s, E.j, E.b, E.f, E.j % 3, E.t], ids=repr)
@settings(max_examples=5, deadline=None)
@given(st.data(), batches(max_size=25), SEEDS)
def test_slices_agree(by, data, batch, seed):
    inner = INNER[data.draw(st.sampled_from(list(INNER)))]
    check(Slice(by, inner), batch, seed, states=repr(by) != "E.f" and "equal")  # no NaN equals another


@pytest.mark.parametrize("inner", INNER)
@settings(max_examples=5, deadline=None)
@given(batches(("j", "f", "i", "b", "s", "d"), nulls=False, max_size=40), SEEDS, st.booleans())
def test_slices_of_each_fold_agree(inner, batch, seed, keep):
    check(Slice(E.d, INNER[inner], keep=keep and inner != "some"), batch, seed, states="equal")


def test_slices_of_long_stretches_agree():
    batch = pa.record_batch({"k": [k % 3 for k in range(2000)], "f": [1 / (k + 1) for k in range(2000)]})
    check(Slice(E.k, Apply(E.f) | Cumulate(add)), batch, 1, states="equal")


def test_other_slices_are_refused_and_run_mixed():
    query = Slice(E.k, Count(), snapshot=True)
    with pytest.raises(
        NotColumnarError, match=r"0:Slice/0:SnapshotSlices: slices with snapshot, collect, until"
    ):
        columnar(query)
    with pytest.raises(
        NotColumnarError, match=r"a slice of more than functions around one fold: a second fold"
    ):
        columnar(Slice(E.k, Count() | Cumulate(add)))
    batch = pa.record_batch({"k": [1, 2, 1, 1]})
    check(Slice(E.k, Count() | Cumulate(add)), batch, 5, mixed=True)
