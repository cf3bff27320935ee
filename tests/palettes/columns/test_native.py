"""With compiled loops and without: the same laws. Without numba the loops run as plain Python."""

import sys
from operator import add, mul

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millstream.palettes import columns
from millstream.palettes.columns import Rows, columnar, loops
from millstream.palettes.columns.frame import KEY, of_batch
from millstream.palettes.columns.kernels.texts import Texts
from millstream.palettes.columns.words import LONGEST, words_of
from millstream.palettes.fsm import OTHERWISE, MooreMachine
from millstream.palettes.ltl import Monitor, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, Cumulate, E, Filter, X

from .laws import check

CHANCE = np.random.default_rng(3)
LONG = pa.record_batch(
    {
        "i": CHANCE.integers(-1000, 1000, 700), "f": CHANCE.normal(size=700), "a": CHANCE.random(700) < 0.3,
        "b": CHANCE.random(700) < 0.3, "k": CHANCE.choice(["req", "ok", "x", "ä" * 5, "long " * 9], 700),
    }
)  # fmt: skip
DOOR = {"shut": {"ok": "open", OTHERWISE: "shut"}, "open": {"req": "shut", OTHERWISE: "open"}}
QUERIES = {
    **{f"{n} of {w}": Apply(E[c]) | Window(Cumulate(f), w)
       for n, c, f in [("int sum", "i", add), ("float sum", "f", add), ("product", "f", mul),
                       ("max", "i", max), ("float min", "f", min)]
       for w in (1, 2, 7, 64, 500)},
    "some windows": Apply(E.f) | Window(Cumulate(add), 7, step=3) | Window(Cumulate(max), 4),
    "float total": Apply(E.f) | Cumulate(add),
    "running max": Apply(E.i) | Cumulate(max),
    "verdicts": Verdicts("G (a -> F b)"),
    "verdicts in turns": Verdicts("a U (b & X a)"),
    "monitor": Monitor("G (a -> !(X a & X X a & X X X a & b))"),
    "machine": Apply(E.k) | MooreMachine.from_table("shut", DOOR),
    "counts": Slice(E.k, Count()),
    "sums": Slice(E.i % 50, Apply(E.f) | Cumulate(add)),
    "started": Slice(E.k, Apply(E.i) | Cumulate(add, start=7)),
    "some maxima": Slice(E.k, Filter(E.i > 0) | Apply(E.i) | Cumulate(max)),
}  # fmt: skip


@pytest.fixture
def there(monkeypatch):
    """Loops, compiled if numba is there, and nothing that was decided before."""
    monkeypatch.setattr(loops, "find_spec", lambda name: object())
    monkeypatch.setattr(loops, "_computed", 0)
    loops._native.cache_clear()
    yield
    loops._native.cache_clear()


@pytest.fixture(params=["NumPy", "loops"])
def way(request, monkeypatch, there):
    """Kernels with the loops, or without them."""
    monkeypatch.setattr(loops, "ENOUGH", 0 if request.param == "loops" else 1 << 60)
    return request.param


@pytest.mark.parametrize("name", QUERIES)
def test_both_ways_agree_with_events(way, name):
    assert (loops.loops(1) is None) == (way == "NumPy")
    states = "equal" if isinstance(QUERIES[name], Slice) or "Slice" in repr(QUERIES[name]) else True
    for seed in range(2):
        check(QUERIES[name], LONG, seed, states=states)


@pytest.mark.parametrize("name", ["int sum of 7", "float sum of 64", "verdicts", "machine", "sums"])
def test_process_changes_over_in_the_middle(monkeypatch, there, name):
    monkeypatch.setattr(loops, "ENOUGH", 350)
    assert loops.loops(0) is None
    batches = [LONG.slice(k, 100) for k in range(0, 700, 100)]
    assert list(Rows(columnar(QUERIES[name])(batches))) == list(QUERIES[name](LONG.to_pylist()))
    assert loops.loops(0) is not None


def test_numba_that_cannot_be_used_is_told_and_done_without(monkeypatch, caplog, there):
    monkeypatch.setattr(loops, "ENOUGH", 0)
    monkeypatch.setitem(sys.modules, "millstream.palettes.columns.native", None)
    monkeypatch.delattr(columns, "native", raising=False)
    assert list(Rows(columnar(QUERIES["counts"])([LONG]))) == list(QUERIES["counts"](LONG.to_pylist()))
    assert "columns do without numba: " in caplog.text


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from(["add", "max", "min", "mul"]), st.integers(1, 9))
def test_windows_agree_both_ways(way, data, fold, width):
    inner = {"add": Cumulate(add), "max": Cumulate(max), "min": Cumulate(min), "mul": Cumulate(mul)}[fold]
    items = data.draw(st.lists(st.floats(-1e6, 1e6).map(lambda x: x + 0.5), max_size=60))
    schema = pa.schema([("value", pa.float64())], {KEY: b"values"})
    check(
        Window(inner, width),
        pa.record_batch([pa.array(items, pa.float64())], schema=schema),
        data.draw(st.integers(0, 99)),
    )


LARGE = st.sampled_from([0, 1, -1, 2**61, -(2**61), 2**62, 2**63 - 1, -(2**63)]) | st.integers(-99, 99)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.lists(LARGE, min_size=1, max_size=20))
def test_ints_near_the_end_of_64_bits_agree_both_ways(way, data, items):
    schema = pa.schema([("value", pa.int64())], {KEY: b"values"})
    batch, seed = pa.record_batch([pa.array(items, pa.int64())], schema=schema), data.draw(st.integers(0, 99))
    for query in (Cumulate(add), Filter(X > 0) | Cumulate(add, start=7), Apply(X * 3 - 1) | Apply(X % 7)):
        check(query, batch, seed)


def test_values_that_are_not_side_by_side_are_taken(way):
    query = Window(Cumulate(add), 3) | Window(Cumulate(max), 2)
    arrays = [np.arange(40)[::2], np.arange(40)[1::2]]
    events = [x for a in arrays for x in a.tolist()]
    assert list(Rows(columnar(query)(arrays))) == list(query(events))


SHORT = st.one_of(
    st.sampled_from(["", "a", "a\0", "\0", "é", "x" * 8, "x" * 9, "y" * LONGEST]),
    st.text(max_size=12).filter(lambda text: len(text.encode()) <= LONGEST),
)
ARRAYS = st.sampled_from([pa.string(), pa.large_string()])


@settings(deadline=None)
@given(st.lists(st.lists(SHORT, max_size=30), max_size=4), ARRAYS)
def test_texts_are_found_as_a_dict_would(lists, kind):
    table, numbers = Texts(), {}
    for texts in lists:
        if not texts:
            continue
        found = table.find(pa.array(["", *texts], kind).slice(1), numbers)
        assert found.tolist() == [numbers.get(t, -1) for t in texts]
        for t in texts:
            numbers.setdefault(t, len(numbers))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.none() | SHORT, min_size=1, max_size=30), SHORT | st.text(max_size=3), ARRAYS)
def test_texts_are_compared_as_python_does(way, texts, wanted, kind):
    batch = pa.record_batch({"t": pa.array(["", *texts], kind).slice(1)})
    for query in (Filter(E.t == wanted) | Count(), Apply(E.t != wanted)):
        assert list(Rows(columnar(query)([batch]))) == list(query(batch.to_pylist()))


def test_many_texts_are_found_again():
    texts = [f"user {k * 7919 % 10007}" for k in range(10007)]
    table, numbers = Texts(), {t: k for k, t in enumerate(texts)}
    assert table.find(pa.array(texts[::-1]), numbers).tolist() == list(range(10006, -1, -1))
    forgotten = dict(list(numbers.items())[:5000])
    assert table.find(pa.array(texts), forgotten).tolist() == [*range(5000), *[-1] * 5007]


def test_long_texts_and_other_keys_are_left_to_python():
    assert words_of(pa.array(["x" * (LONGEST + 1)])) is None
    assert Texts().find(pa.array(["a"]), {"x" * 50: 0}) is None
    assert Texts().find(pa.array(["a"]), {1: 0}) is None
    mixed = pa.record_batch({"k": ["a", "b" * 40, "a", "b" * 40]})
    query = Slice(E.k, Count())
    assert list(Rows(columnar(query)([mixed, mixed]))) == list(query(of_batch(mixed).events() * 2))


def test_counts_of_a_sum_that_leaves_int64_agree(way):
    batch = pa.record_batch({"k": ["a", "b", "a"], "v": [2**62, 1, 2**62]})
    query = Slice(E.k, Apply(E.v) | Cumulate(add)) | Apply(X[1] % 7)
    check(query, batch, 1, states="equal")
