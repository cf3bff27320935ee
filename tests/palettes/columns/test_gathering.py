"""Gathered: the rows stay, and none are lost."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.columns import Gathered, ReadError, Rows, columnar, read_csv
from millstream.processors import Apply, Count, E, ParameterError

BATCHES = st.lists(
    st.builds(
        lambda name, values: pa.record_batch({name: pa.array(values, pa.int64())}),
        st.sampled_from("ab"),
        st.lists(st.integers(0, 9) | st.none(), max_size=5),
    ),
    max_size=8,
)


@given(BATCHES, st.integers(1, 12))
def test_rows_and_their_order_stay(batches, rows):
    got = list(Gathered(batches, rows))
    assert list(Rows(got)) == list(Rows(batches))
    groups = []
    for batch in batches:
        group = groups[-1] if groups else None
        if (
            group
            and group[0].schema == batch.schema
            and sum(b.num_rows for b in group) + batch.num_rows <= rows
        ):
            group.append(batch)
        else:
            groups.append([batch])
    expected = [sum(b.num_rows for b in group) for group in groups]
    assert [n for n in expected if n] == [b.num_rows for b in got if b.num_rows]


def test_a_columnar_query_gives_the_same():
    batches = [pa.record_batch({"n": [k]}) for k in range(10)]
    query = columnar(Apply(E.n * 2))
    assert (
        list(Rows(Gathered(batches, 4) | query)) == list(Rows(query(batches))) == [2 * k for k in range(10)]
    )
    assert list(Gathered(batches, 4) | Count()) == [1, 2, 3]


def test_texts_of_different_dictionaries_are_put_together():
    batches = [
        pa.record_batch({"t": pa.array(texts).dictionary_encode()}) for texts in (["a", "b"], ["c", "a"])
    ]
    assert [b.to_pydict() for b in Gathered(batches)] == [{"t": ["a", "b", "c", "a"]}]


def test_what_was_gathered_comes_before_a_failure(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n\n1\n2\n3\nx\n")
    got = []
    with pytest.raises(ReadError, match="line 5"):
        got.extend(Gathered(read_csv(path, types={"n": int}, block=4)))
    assert list(Rows(got)) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_size_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="Gathered: rows must be an integer of at least 1, got 0"):
        Gathered([], 0)
