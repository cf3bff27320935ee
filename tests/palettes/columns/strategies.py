"""Batches of rows with every kind of column, and random expressions over them."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
from hypothesis import strategies as st

from millstream.palettes.columns.frame import KEY
from millstream.processors import E, call, if_else, is_in

INTS = st.one_of(
    st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1), st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**62])
)
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e16, float(2**53)]), st.floats(width=64))
TEXTS = st.one_of(st.sampled_from(["", "a", "b", "temp"]), st.text(max_size=3))
BOOLS = st.booleans()
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1))
SPANS = st.timedeltas(timedelta(-1000), timedelta(1000))
COLUMNS = {
    "i": (INTS, pa.int64()), "j": (st.integers(-9, 9), pa.int32()), "f": (FLOATS, pa.float64()),
    "s": (TEXTS, pa.string()), "d": (st.sampled_from("abc"), pa.dictionary(pa.int8(), pa.string())),
    "b": (BOOLS, pa.bool_()), "t": (TIMES, pa.timestamp("us")), "p": (SPANS, pa.duration("us")),
    "z": (TIMES.map(lambda t: t.replace(tzinfo=UTC)), pa.timestamp("us", "UTC")),
    "u": (st.integers(0, 2**64 - 1), pa.uint64()),
}  # fmt: skip


@st.composite
def batches(draw, names=tuple(COLUMNS), nulls=True, max_size=12):
    """Record batches; a few of the columns have nulls."""
    size = draw(st.integers(0, max_size))
    arrays = {}
    for name in names:
        values, kind = COLUMNS[name]
        values = draw(st.sampled_from([values, values, st.none() | values])) if nulls else values
        arrays[name] = pa.array(draw(st.lists(values, min_size=size, max_size=size)), kind)
    return pa.record_batch(arrays)


def values(strategy, kind, max_size=20):
    """Batches whose events are plain values."""
    schema = pa.schema([("value", kind)], {KEY: b"values"})
    return st.lists(strategy, max_size=max_size).map(
        lambda items: pa.record_batch([pa.array(items, kind)], schema=schema)
    )


LEAVES = st.one_of(
    st.sampled_from([E[name] for name in COLUMNS]),
    st.sampled_from([E.i, E.j, E.f, E.b]),
    st.sampled_from([0, 1, -1, 2, 7, 0.5, 2.0, True, False, None, "a", "temp", 2**53 + 1, 2**63, 1e300]),
    st.sampled_from([datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC), timedelta(days=3)]),
)


def _binary(symbol):
    return lambda pair: eval(f"a {symbol} b", {"a": pair[0], "b": pair[1]})


def _liftable(pair):
    return any(not isinstance(x, (int, float, str, bool, type(None), datetime, timedelta)) for x in pair)


def expressions():
    """Random trees of expressions; most fail on some events, as they should."""

    def deeper(inner):
        pairs = st.tuples(inner, inner).filter(_liftable)
        options = [
            pairs.map(_binary(s))
            for s in ["+", "-", "*", "/", "//", "%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"]
        ]
        options += [st.tuples(pairs, inner).map(lambda p: if_else(p[0][0], p[0][1], p[1]))]
        trees = inner.filter(lambda x: _liftable((x,)))
        options += [trees.map(lambda x: -x), trees.map(lambda x: ~x), trees.map(lambda x: call(abs, x))]
        options += [trees.map(lambda x: is_in(x, (1, 2, "a"))), trees.map(lambda x: is_in(x, {"a", "b"}))]
        return st.one_of(options)

    return st.recursive(LEAVES, deeper, max_leaves=6).filter(lambda x: _liftable((x,)))
