"""Columnar queries as processors: runs, several inputs, mixed queries, explanations, bad batches."""

import pickle
from itertools import count
from operator import add

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from millstream.palettes.columns import BatchError, NotColumnarError, columnar
from millstream.palettes.columns.frame import of_batch
from millstream.palettes.ltl import Monitor
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    E,
    Filter,
    Fork,
    KeepLast,
    Multiplex,
    Passthrough,
    Prefix,
    QueryError,
    StreamError,
    Tap,
    Trim,
    X,
    Y,
    connect,
)
from millstream.processors.testing import check_processor

from .laws import check
from .strategies import batches, values


def rows(out):
    return [event for batch in out for event in of_batch(batch).events()]


LAWFUL = {
    "sum": Apply(X + 1) | Cumulate(add),
    "windows": Window(Cumulate(add), 3) | Trim(1),
    "slices": Slice(X % 3, Count()),
    "monitor": Monitor("G (x -> F y)", atoms={"x": X == 1, "y": X == 2}, semantics="rv-ltl"),
}


@pytest.mark.parametrize("name", LAWFUL)
def test_columnar_queries_obey_the_laws(name):
    few = values(st.integers(-5, 5), pa.int64(), max_size=6)
    check_processor(columnar(LAWFUL[name]), few, max_examples=4, max_size=4)


def test_columnar_queries_of_two_inputs_take_batches_of_any_size():
    both = columnar(Apply(X * 10 + Y))
    left, right = [np.array([1, 2, 3]), np.array([4])], [np.array([5]), np.array([6, 7, 8, 9])]
    assert rows(both(left, right)) == [15, 26, 37, 48]
    out = []
    run = both.into(out)
    run.push(np.array([1, 2, 3]))
    saved = run.save()
    assert saved.positions == (3, 0)
    other = Apply(X * 10 + Y).into(out)
    other.load(saved)
    other.push(7, 1)
    assert out == [17]
    run.push(np.array([5, 6]), 1)
    assert rows(out[1:]) == [15, 26]


def test_columnar_queries_of_two_outputs_give_two_streams():
    two = columnar(Fork(2) | (Apply(X + 1) & Filter(X > 1)))
    more, large = two([np.array([1, 2]), np.array([3])])
    assert (rows(more), rows(large)) == ([2, 3, 4], [2, 3])


def test_columnar_queries_stand_in_larger_queries():
    larger = columnar(Filter(X > 1)) | Tap(len) | columnar(Cumulate(add)) | Apply(lambda b: b.num_rows)
    assert list(larger([np.array([1, 2]), np.array([3, 4])])) == [1, 2]
    run = larger.into([])
    run.push(np.array([5]))
    assert pickle.loads(pickle.dumps(run.save())).positions == (1,)


def test_a_saved_state_in_a_larger_query_is_independent():
    out = []
    run = (columnar(Slice(X % 2, Count())) | Passthrough()).into(out)
    run.push(np.array([1, 2, 3]))
    saved = run.save()
    run.push(np.array([1]))
    run.load(saved)
    run.push(np.array([1]))
    assert rows(out[1:]) == [(1, 3), (1, 3)]


def test_prefix_reads_no_more_than_it_needs():
    endless = (np.array([k]) for k in count())
    assert rows(columnar(Prefix(3) | Apply(X * 2))(endless)) == [0, 2, 4]
    assert next(endless).tolist() == [3]


@pytest.mark.parametrize("seed", range(3))
def test_mixed_queries_agree(seed):
    batch = pa.record_batch({"n": list(range(20)), "s": [f"t{k % 3}" for k in range(20)]})
    upper = Filter(E.n % 2 == 0) | Apply(lambda e: e["s"].upper()) | Slice(X, Count()) | Filter(X[1] > 1)
    check(upper, batch, seed, mixed=True, states=False)
    check(Apply(E.n) | Apply(lambda n: n + 1) | Cumulate(add) | KeepLast(), batch, seed, mixed=True)
    check(Apply(E.n) | Apply(divmod_ten), batch, seed, mixed=True)
    fork, slow, both = Fork(2), Filter(lambda n: n % 3), Apply(lambda a, b: a * b)
    join = connect(
        fork.outputs[0] >> slow.inputs[0], fork.outputs[1] >> both.inputs[0],
        slow.outputs[0] >> both.inputs[1],
    )  # fmt: skip
    check(Apply(E.n) | join, batch, seed, mixed=True)


def divmod_ten(n):
    return divmod(n, 10)


def test_cycles_and_routers_run_event_by_event_as_a_whole():
    adder = Apply(add)
    wire = (adder.outputs[0] >> adder.inputs[1]).after(0)
    loop = connect(wire, inputs=[adder.inputs[0]], outputs=[adder.outputs[0]])
    with pytest.raises(NotColumnarError, match="a cycle goes round event by event"):
        columnar(loop)
    run = columnar(loop, mixed=True)
    assert rows(run([np.array([1, 2]), np.array([3])])) == [1, 3, 6]
    assert "event by event: a cycle" in repr(run.explain())
    merge = columnar(Multiplex(2), mixed=True)
    assert sorted(rows(merge([np.array([1])], [np.array([2])]))) == [1, 2]


def test_what_is_not_columnar_is_named():
    with pytest.raises(
        NotColumnarError,
        match=r"columnar: .* cannot run on columns alone: 1:Apply: upper is a Python function; write it as "
        r"an expression of X, Y, E; 2:KeepLast: KeepLast has no columnar form\. With mixed=True these parts",
    ):
        columnar(Apply(E.s) | Apply(str.upper) | KeepLast())
    with pytest.raises(NotColumnarError, match=r"E\.s\.split\(\): only startswith and endswith of a text"):
        columnar(Apply(E.s.split()))
    with pytest.raises(NotColumnarError, match=r"<lambda> is not one of the known folds \(add, mul, min"):
        columnar(Cumulate(lambda a, b: a - b))


def test_explain_tells_what_runs_how():
    told = columnar(Filter(E.n > 1) | Apply(lambda e: e), mixed=True).explain()
    assert [part.columnar for part in told.parts] == [True, False]
    assert repr(told) == (
        "0:Filter  Filter(E.n > 1)  NumPy\n"
        "1:Apply   Apply(<lambda>)  event by event: <lambda> is a Python function; write it as an expression "
        "of X, Y, E"
    )


def test_a_run_tells_which_batches_were_unfit():
    run = columnar(Apply(E.n / E.d)).into([])
    run.push(pa.record_batch({"n": [1], "d": [2]}))
    assert run.unfit == {}
    with pytest.raises(
        StreamError, match=r"Apply\(E.n / E.d\) failed on .* at input event 1 .*ZeroDivisionError"
    ):
        run.push(pa.record_batch({"n": [1], "d": [0]}))
    assert run.unfit == {"a division by zero": 1}


def test_tolerant_runs_skip_the_events_that_fail():
    letters = []
    batch = pa.record_batch({"n": [1, 1, 1], "d": [2, 0, 4]})
    assert rows(columnar(Apply(E.n / E.d), on_error="skip")([batch])) == [0.5, 0.25]
    assert rows(columnar(Apply(E.n / E.d), on_error=letters)([batch])) == [0.5, 0.25]
    assert [letter.error.position for letter in letters] == [1]


BATCH = pa.record_batch({"kind": ["a"], "n": [1]})


def test_a_missing_column_is_named():
    run = columnar(Filter(E.size > 1)).into([])
    message = (
        r"Filter\(E.size > 1\) failed at input event 0 .*, place 0:Filter: no column 'size'; there are: kind"
    )
    with pytest.raises(StreamError, match=message):
        run.push(BATCH)


BAD = {
    r"place input 0: column 'n' is missing from a batch; the first one had it; cast": BATCH.select(["kind"]),
    r"column 'n' changes its type from int64 to double": pa.record_batch({"kind": ["a"], "n": [1.5]}),
    r"a batch has more columns .*: z": pa.record_batch({"kind": ["a"], "n": [1], "z": [1]}),
    r"columns change order": pa.record_batch({"n": [1], "kind": ["a"]}),
    r"expected a record batch or an array of values, got \{'kind': 'a'\}": {"kind": "a"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_batches_are_refused_and_those_before_delivered(message):
    out = []
    run = columnar(Count()).into(out)
    run.push(BATCH)
    with pytest.raises(BatchError, match=r"columnar\(Count\(\)\) failed at input event 1.*" + message):
        run.push(BAD[message])
    assert rows(out) == [1]


def test_what_has_no_arrow_type_is_refused_after_what_came_before():
    out = []
    run = columnar(Cumulate(add)).into(out)
    run.push(np.array([2**62]))
    with pytest.raises(BatchError, match=r"place output 0: an output has no Arrow type: .*too large"):
        run.push(np.array([2**62]))
    assert rows(out) == [2**62]


def test_states_of_other_queries_are_refused():
    with pytest.raises(QueryError, match="saved by another query"):
        columnar(Count()).into([]).load(Cumulate(add).into([]).save())


def test_ints_beyond_int64_go_on_as_python_ints():
    batch = pa.record_batch({"i": [2**62, 2**62, 5]})
    assert rows(columnar(Apply(E.i * 4 % 1000) | Cumulate(add))([batch])) == [616, 1232, 1252]


@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_memory_of_a_state_does_not_grow_with_the_batches(size):
    run = columnar(Window(Cumulate(add), 10) | Cumulate(max)).into([])
    for _ in range(3):
        run.push(np.arange(size))
    assert len(pickle.dumps(run.save())) < 400


def test_batches_of_frames_are_taken():
    pandas = pytest.importorskip("pandas")
    assert rows(columnar(Apply(E.a + 1))([pandas.DataFrame({"a": [1, 2]})])) == [2, 3]


def test_a_table_is_pushed_as_one_batch_even_if_it_is_empty():
    out = []
    run = columnar(Apply(E.a + 1)).into(out)
    run.push(pa.table({"a": pa.chunked_array([], pa.int64())}))
    run.push(pa.table({"a": pa.chunked_array([[1, 2], [3]])}))
    assert [batch.to_pydict() for batch in out] == [{"value": [2, 3, 4]}]


@pytest.mark.slow
def test_random_batches_obey_everything_at_length():
    from hypothesis import given, settings

    @settings(max_examples=300, deadline=None)
    @given(batches(max_size=60), st.integers(0, 10**6))
    def agree(batch, seed):
        check(Filter(E.j > 0) | Slice(E.d, Apply(E.f) | Cumulate(add)), batch, seed, states="equal")

    agree()


def test_a_missing_column_is_blamed_on_its_processor_among_fused_ones():
    rows = pa.record_batch({"a": [1, 2]})
    for query, place in (
        (Apply(E.b) | Apply(X + 1) | Apply(X * 2), "0:Apply"),
        (Apply(E) | Apply(E.b) | Apply(X * 2), "1:Apply"),
    ):
        with pytest.raises(StreamError, match=r"no column 'b'") as failure:
            list(columnar(query)([rows]))
        assert failure.value.place.endswith(place)
