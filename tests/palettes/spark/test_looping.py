"""The loop over keys and events, beside Slice and beside one run for each key."""

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from millstream.palettes.spark.hosting import Hosting
from millstream.processors import Apply, Count, Filter, MillstreamError

from .queries import NAMES, QUERIES, events, pushed

COLUMNS = {"user": pa.string(), "t": pa.int64(), "kind": pa.string(), "n": pa.int64(), "item": pa.string()}
SCHEMA = T.StructType().add("user", "string").add("t", "long").add("kind", "string").add("n", "long")
SCHEMA = SCHEMA.add("item", "string")


def hosting(query):
    names = tuple(NAMES)
    return Hosting(
        (query,), ("out",), (T.StringType(),), ("user",), ("t",), ("user", "t"), names, None, SCHEMA
    )


def batches(rows, size):
    parts = (rows[k : k + size] for k in range(0, len(rows), size))
    return [
        pa.RecordBatch.from_pylist([dict(zip(NAMES, r, strict=True)) for r in p], pa.schema(COLUMNS))
        for p in parts
    ]


@pytest.mark.parametrize("name", QUERIES)
@settings(max_examples=6)
@given(trace=st.lists(events, max_size=30), size=st.integers(1, 12))
def test_states_and_runs_give_each_key_what_it_gets_alone(name, trace, size):
    rows = [(user, t, *rest) for t, (user, *rest) in enumerate(trace)]
    by_user = defaultdict(list)
    for row in rows:
        by_user[row[0]].append(dict(zip(NAMES, row, strict=True)))
    alone = {user: list(map(repr, pushed(QUERIES[name], es))) for user, es in by_user.items()}
    host = hosting(QUERIES[name] | Apply(repr))
    together = sorted(rows)
    for made in (host.by_states(batches(rows, size)), host.by_runs(batches(together, size))):
        got = defaultdict(list)
        for batch in made:
            for row in batch.to_pylist():
                got[row["user"]].append(row["out"])
        assert got == {user: outputs for user, outputs in alone.items() if outputs}


@pytest.mark.parametrize(
    "query",
    [
        Apply(lambda e: 6 // e["n"]) | Count() | Apply(str),
        Filter(lambda e: 6 // e["n"]) | Count() | Apply(str),
        Count() | Apply(str) | Filter(lambda n: 1 // (3 - int(n))),
    ],
    ids=["one for one", "some", "behind"],
)
@pytest.mark.parametrize("way", ["by_states", "by_runs"])
def test_failure_names_the_processor_inside_the_loop(query, way):
    rows = [("ann", 1, "a", 1, "x"), ("ann", 2, "a", 2, "x"), ("ann", 3, "a", 0, "y")]
    named = "key 'ann', on the event {'user': 'ann', 't': 3, 'kind': 'a', 'n': 0, 'item': 'y'}: "
    with pytest.raises(MillstreamError) as caught:
        list(getattr(hosting(query), way)(batches(rows, 2)))
    failing = [n for n in query.graph.nodes if "lambda" in repr(n)][-1]
    assert str(caught.value).startswith(f"{named}{failing!r} failed: ZeroDivisionError")
