"""Windows over columns, against the event by event run."""

from operator import add, and_, mul, or_

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.columns import NotColumnarError, columnar
from millstream.palettes.windows import Tumbling, Window
from millstream.processors import Apply, Count, Cumulate, E, Filter, Fork, KeepLast, X, Y, connect

from .laws import check
from .strategies import BOOLS, FLOATS, INTS, batches, values

SEEDS = st.integers(0, 10**6)
KINDS = {
    "ints": (st.integers(-50, 50), pa.int64()), "large": (INTS, pa.int64()), "floats": (FLOATS, pa.float64()),
    "plain": (st.floats(-1e6, 1e6).map(lambda x: x + 0.5), pa.float64()), "bools": (BOOLS, pa.bool_()),
}  # fmt: skip
FOLDS = {"add": Cumulate(add), "max": Cumulate(max), "min": Cumulate(min), "mul": Cumulate(mul)}


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("kind", ["ints", "large", "floats", "plain"])
@settings(max_examples=5, deadline=None)
@given(st.data(), st.integers(1, 7), st.integers(1, 9), st.booleans())
def test_sliding_folds_agree(fold, kind, data, width, step, partial):
    batch = data.draw(values(*KINDS[kind], max_size=40))
    check(Window(FOLDS[fold], width, step=step, partial=partial), batch, data.draw(SEEDS))
    check(Window(FOLDS[fold], width), batch, data.draw(SEEDS))


@pytest.mark.parametrize("function", [sum, max, any, all, len], ids=lambda f: f.__name__)
@settings(max_examples=5, deadline=None)
@given(st.data(), st.integers(1, 6), st.integers(1, 8))
def test_functions_of_windows_agree(function, data, width, step):
    kind = data.draw(st.sampled_from(["ints", "plain", "bools"]))
    batch = data.draw(values(*KINDS[kind], max_size=40))
    check(Window(function, width, step=step), batch, data.draw(SEEDS), states="equal")  # True for 1


@pytest.mark.parametrize("fold", [Cumulate(and_), Cumulate(or_), Cumulate(X & Y)], ids=repr)
@settings(max_examples=6, deadline=None)
@given(values(BOOLS, pa.bool_(), 40), st.integers(1, 6), SEEDS)
def test_windows_of_truths_agree(fold, batch, width, seed):
    check(Window(fold, width), batch, seed)


@pytest.mark.parametrize("fold", [*FOLDS, "count", "started"])
@settings(max_examples=5, deadline=None)
@given(st.data(), st.integers(1, 6), st.booleans())
def test_tumbling_folds_agree(fold, data, width, partial):
    inner = {**FOLDS, "count": Count(), "started": Cumulate(add, start=7)}[fold]
    batch = data.draw(values(*KINDS[data.draw(st.sampled_from(list(KINDS)))], max_size=40))
    check(Tumbling(inner, width, partial=partial), batch, data.draw(SEEDS), states=fold == "count")


def average():
    fork, total, count, mean = Fork(2), Cumulate(add), Count(), Apply(X / Y)
    return connect(
        fork.outputs[0] >> total.inputs[0],
        fork.outputs[1] >> count.inputs[0],
        total.outputs[0] >> mean.inputs[0],
        count.outputs[0] >> mean.inputs[1],
    )


@settings(max_examples=6, deadline=None)
@given(values(*KINDS["plain"], max_size=40), st.integers(1, 6), SEEDS)
def test_window_of_an_average_agrees(batch, width, seed):
    check(Window(average(), width), batch, seed)


@settings(max_examples=10, deadline=None)
@given(batches(max_size=30), SEEDS)
def test_window_in_a_query_of_rows_agrees(batch, seed):
    hot = Filter(E.s == "temp") | Apply(E.j) | Window(Cumulate(add), 3) | Filter(X > 2)
    check(hot, batch, seed)


def test_other_windows_are_refused_and_run_mixed():
    query = Window(Filter(X > 1) | KeepLast(), 3)
    with pytest.raises(NotColumnarError, match=r"0:Window/0:\w+: a window over a query that is"):
        columnar(query)
    batch = pa.record_batch({"value": [1, 2, 3, 0, 0, 0]}).replace_schema_metadata({"millstream": "values"})
    check(query, batch, 3, mixed=True)


@pytest.mark.slow
@pytest.mark.parametrize("fold", FOLDS)
@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(1, 50), st.integers(1, 60), st.booleans())
def test_sliding_folds_agree_at_length(fold, data, width, step, partial):
    batch = data.draw(values(*KINDS[data.draw(st.sampled_from(list(KINDS)))], max_size=300))
    check(Window(FOLDS[fold], width, step=step, partial=partial), batch, data.draw(SEEDS), states="equal")
