"""Slices, against filtering the trace by key and running the inner query alone."""

import math
import operator
import pickle
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.slicer import ALL, Keys, Slice, Snapshot
from millstream.palettes.slicer.fast import PlainSlices, SnapshotSlices
from millstream.palettes.slicer.slices import Slices
from millstream.palettes.windows import Monoid, Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    E,
    Filter,
    Fork,
    KeepLast,
    ParameterError,
    Passthrough,
    Processor,
    StreamError,
    Stutter,
    Trim,
    X,
    connect,
    processor,
    state,
)
from millstream.processors.testing import check_processor

from .twin import Lives, slices, snapshots

NUMBERS = st.integers(-6, 6)
TRACES = st.lists(NUMBERS, max_size=30)


def third(x):
    return x % 3


def special(x):
    return {0: None, 1: ALL, 2: Keys("a", "b"), 3: Keys("b", "c", "b")}.get(x, "abc"[x % 3])


def rises():
    fork, late, test = Fork(2), Trim(1), Apply(operator.lt)
    return connect(
        fork.outputs[0] >> test.inputs[0],
        fork.outputs[1] >> late.inputs[0],
        late.outputs[0] >> test.inputs[1],
    )


INNER = {
    "count": Count(),
    "sum": Cumulate(add),
    "sum from 0": Cumulate(add, start=0),
    "filtered": Filter(X > 0) | Apply(X * 2) | Cumulate(add),
    "several outputs": Stutter(2),
    "window": Window(Cumulate(add), 3),
    "at end": KeepLast(),
    "join": rises(),
    "stateless": Apply(X + 1),
    "nothing": Passthrough(),
    "slices": Slice(X % 2, Count()),
}


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@pytest.mark.parametrize("by", [third, special, X % 3], ids=["function", "special", "expression"])
@settings(max_examples=15)
@given(TRACES)
def test_slice_equals_running_alone(inner, by, trace):
    expected = slices(inner, trace, third if by is not special else by)
    assert list(Slice(by, inner, keep=True)(trace)) == expected
    assert list(Slices(by, inner, keep=True)(trace)) == expected


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@settings(max_examples=15)
@given(TRACES)
def test_slice_without_broadcasts_may_drop_initial_states(inner, trace):
    expected = slices(inner, trace, third)
    assert list(Slice(third, inner)(trace)) == expected
    assert list(Slices(third, inner)(trace)) == expected


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@settings(max_examples=20)
@given(TRACES)
def test_slice_snapshot_is_the_last_output_of_each_key(inner, trace):
    pairs = []
    run = Slice(special, inner, keep=True).into(out := [])
    for x in trace:
        run.push(x)
        pairs.append(out[:])
        out.clear()
    given_out = []
    Slice(special, inner, keep=True, snapshot=True).into(given_out).push_all(trace)
    assert given_out == snapshots(pairs)
    defined = Slices(special, inner, keep=True, snapshot=True)
    assert list(Slice(special, inner, keep=True, snapshot=True)(trace)) == list(defined(trace))
    for f in (sum, len):
        collected = []
        Slice(third, Count(), collect=f).into(collected).push_all(trace)
        shown = snapshots([[y] for y in Slice(third, Count())(trace)])
        assert collected == [f(s.values()) for s in shown]


def test_slice_chooses_the_plain_form_when_nothing_else_is_asked_for():
    assert isinstance(Slice(X, Count()).query, PlainSlices)
    assert isinstance(Slice(X, Count(), snapshot=True).query, SnapshotSlices)
    assert isinstance(Slice(X, Count(), snapshot=True, ttl=1).query, Slices)


def test_slice_drops_a_slice_that_is_back_at_its_initial_state():
    for query in (PlainSlices(abs, Cumulate(add, start=0)), Slices(abs, Cumulate(add, start=0))):
        run = query.into()
        run.push_all([1, 2, -1])
        assert list(run.processors[0].states) == [2]


def test_slice_all_reaches_existing_slices_only():
    out = []
    run = Slice(lambda x: ALL if x == 9 else x % 2, Cumulate(add)).into(out)
    run.push_all([9, 2, 9, 3, 9])
    assert out == [(0, 2), (0, 11), (1, 3), (0, 20), (1, 12)]


def test_slice_inside_slice_keeps_its_states_apart():
    query = Slice(X[0], Slice(X[1], Count()))
    assert list(query(["ax", "bx", "ay", "ax"])) == [
        ("a", ("x", 1)), ("b", ("x", 1)), ("a", ("y", 1)), ("a", ("x", 2)),
    ]  # fmt: skip


def test_slice_until_ends_a_slice_and_a_new_one_may_begin():
    run = Slice(X % 2 == 0, Cumulate(add), until=X > 2, snapshot=True).into(out := [])
    alive = []
    for x in [1, 1, 2, 2, 3]:
        run.push(x)
        alive.append(len(run.processors[0].states))
    assert alive == [1, 1, 2, 1, 0]
    assert out[-1] == {False: 5, True: 4}


@processor
class Farewell(Processor):
    """Lets events through, and says farewell."""

    seen: int = state(0)

    def step(self, x):
        self.seen += 1
        self.emit(x)

    def end(self):
        self.emit(f"after {self.seen}")


def test_slice_until_lets_the_copy_come_to_its_end():
    query = Slice(X[0], Farewell(), until=X == "a!")
    assert list(query(["a1", "a!", "a2"])) == [
        ("a", "a1"), ("a", "a!"), ("a", "after 2"), ("a", "a2"), ("a", "after 1"),
    ]  # fmt: skip


@pytest.mark.parametrize("snapshot", [False, True])
def test_slice_ttl_counts_events_or_reads_the_time(snapshot):
    run = Slice(X[0], Count(), ttl=2, snapshot=snapshot).into(out := [])
    run.push_all(["a", "b", "b", "b", "a"])
    assert out[-1] == ({"b": 3, "a": 1} if snapshot else ("a", 1))
    run = Slice(E.k, Count(), ttl=2, time=E.t, snapshot=snapshot).into(out := [])
    run.push_all([{"k": "a", "t": 1}, {"k": "b", "t": 3}, {"k": "a", "t": 5}, {"k": "b", "t": 8}])
    assert out[-1] == ({"b": 1} if snapshot else ("b", 1))


def test_slice_ttl_lets_the_copy_come_to_its_end():
    assert list(Slice(X[0], KeepLast(), ttl=1)(["a1", "a2", "b1", "b2"])) == [("a", "a2"), ("b", "b2")]


def test_slice_broadcast_does_not_prolong_a_life():
    query = Slice(lambda x: ALL if x == "#" else x, Count(), ttl=2)
    assert list(query("a###a")) == [("a", 1), ("a", 2), ("a", 3), ("a", 1)]


def test_slice_max_slices_refuses_more():
    out = []
    run = Slice(X, Count(), max_slices=2).into(out)
    with pytest.raises(StreamError, match="a slice for key 'c' would be more than max_slices=2"):
        run.push_all("abac")
    assert out == [("a", 1), ("b", 1), ("a", 2)]


@pytest.mark.parametrize("shape", [{}, {"snapshot": True}, {"collect": sum}, {"collect": sorted}])
def test_slice_max_slices_drops_the_least_recently_used(shape):
    dropped, out = [], []
    run = Slice(X, Count(), max_slices=2, full="drop", on_drop=dropped.append, **shape).into(out)
    run.push_all("abacba")
    assert dropped == ["b", "a", "c"]
    assert len(run.processors[0].states) == 2
    expected = {"snapshot": {"a": 1, "b": 1}, "collect": 2 if shape.get("collect") is sum else [1, 1]}
    assert out[-1] == next((expected[name] for name in shape), ("a", 1))


SPREAD = Monoid(lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), lambda x: (x, x), lambda s: s[1] - s[0])
COLLECTING = {
    **{f.__name__: (f, f) for f in (sum, len, max, min, any, all, sorted, list)},
    "gcd": (Monoid(math.gcd, lift=abs), lambda values: math.gcd(*values)),
    "spread": (SPREAD, lambda values: max(values) - min(values)),
}
SOME = {name: INNER[name] for name in ("count", "sum", "filtered", "several outputs", "at end", "window")}
LIMITS = {"until": st.none() | st.integers(1, 4), "ttl": st.none() | st.integers(1, 4)}
LIMITS |= {"timed": st.booleans(), "max_slices": st.none() | st.integers(1, 3)}


def limited(until, ttl, timed, max_slices):
    """Return the options of a slice, and the same for its twin."""
    given = {"ttl": ttl, "time": abs if timed and ttl else None, "max_slices": max_slices}
    given = {name: value for name, value in given.items() if value is not None}
    known = given if until is None else {**given, "until": lambda y: y >= until}
    options = given if until is None else {**given, "until": until <= X}
    return (options if max_slices is None else {**options, "full": "drop"}), known


@pytest.mark.parametrize("inner", SOME.values(), ids=SOME)
@given(TRACES, st.fixed_dictionaries(LIMITS))
def test_slice_ends_slices_by_until_ttl_and_max_slices(inner, trace, limits):
    options, known = limited(**limits)
    twin, dropped = Lives(inner, False, **known), []
    twin.run(trace, special)
    told = {"on_drop": dropped.append} if "full" in options else {}
    query = Slice(special, inner, keep=True, **options, **told)
    assert list(query(trace)) == twin.pairs
    assert dropped == twin.dropped


@pytest.mark.parametrize("inner", SOME.values(), ids=SOME)
@given(TRACES, st.fixed_dictionaries(LIMITS))
def test_slice_shows_what_until_ttl_and_max_slices_leave(inner, trace, limits):
    options, known = limited(**limits)
    twin = Lives(inner, True, **known)
    twin.run(trace, special)
    assert list(Slice(special, inner, keep=True, snapshot=True, **options)(trace)) == twin.shown


@pytest.mark.parametrize(("collect", "function"), COLLECTING.values(), ids=COLLECTING)
@given(TRACES, st.fixed_dictionaries(LIMITS))
def test_slice_collects_the_last_outputs_with_a_function(collect, function, trace, limits):
    options, known = limited(**limits)
    twin = Lives(Cumulate(add), True, **known)
    twin.run(trace, special)
    expected = [function(list(shown.values())) for shown in twin.shown if shown]
    assert list(Slice(special, Cumulate(add), keep=True, collect=collect, **options)(trace)) == expected


@given(TRACES, st.fixed_dictionaries({**LIMITS, "max_slices": st.integers(1, 3)}), st.booleans())
def test_slice_max_slices_is_an_error_where_one_would_be_dropped(trace, limits, shows):
    options, known = limited(**limits)
    twin = Lives(Count(), shows, **known)
    twin.run(trace, special)
    query = Slice(special, Count(), keep=True, snapshot=shows, **{**options, "full": "error"})
    if twin.dropped:
        with pytest.raises(StreamError, match="would be more than max_slices"):
            list(query(trace))
    else:
        assert list(query(trace)) == (twin.shown if shows else twin.pairs)


def test_slice_max_slices_counts_a_key_once():
    query = Slice(X, Count(), until=X == 1, snapshot=True, max_slices=2)
    assert list(query("aba"))[-1] == {"a": 1, "b": 1}


class Vague:
    """Cannot be compared: what == gives has no truth value, as with arrays."""

    def __add__(self, other):
        return self

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise ValueError("ambiguous")

    __hash__ = None


@pytest.mark.parametrize("kind", [PlainSlices, Slices])
def test_slice_keeps_states_that_cannot_be_compared(kind):
    value = Vague()
    out = []
    kind(X, Cumulate(add, start=value)).into(out).push_all("aba")
    assert [(key, y is value) for key, y in out] == [("a", True), ("b", True), ("a", True)]


def test_slice_a_hostile_key_space_does_not_eat_the_memory():
    run = Slice(X, Count(), max_slices=10, full="drop", snapshot=True, until=X == 1).into(out := [])
    run.push_all(range(1000))
    assert len(out[-1]) == 10
    assert len(run.processors[0].recent) == 10


def test_slice_collects_with_a_monoid():
    spread = Monoid(lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), lambda x: (x, x), lambda s: s[1] - s[0])
    query = Slice(X[0], Apply(X[1]), keep=True, collect=spread)
    assert list(query([("a", 2), ("b", 5), ("a", 4)])) == [0, 3, 1]


def test_slice_refuses_unhashable_keys():
    for query in (Slice(X, Count()), Slice(X, Count(), snapshot=True)):
        out = []
        run = query.into(out)
        with pytest.raises(StreamError, match=r"by gave an unhashable key, \[1\] \(a list\)"):
            run.push_all(["a", [1]])
        assert len(out) == 1


def test_slice_names_itself_when_by_fails():
    out = []
    run = Slice(E.user, Count()).into(out)
    with pytest.raises(StreamError, match=r"Slices.* failed .*KeyError: 'user'") as error:
        run.push_all([{"user": 1}, {"name": 2}])
    assert out == [(1, 1)]
    assert error.value.position == 1


@pytest.mark.parametrize("inner", [Apply(X + 1) | Cumulate(add), Stutter(1) | Apply(X + 1)], ids=repr)
def test_slice_names_the_inner_processor_that_fails(inner):
    with pytest.raises(StreamError, match=r"Apply\(X \+ 1\) failed on .*> \d:Apply"):
        list(Slice(type, inner)([1, 2, "a"]))


def test_slice_survives_failures_if_told_to():
    assert list(Slice(type, Cumulate(add) | Apply(X + 1))([1, "a", 2], on_error="skip")) == [
        (int, 2),
        (int, 4),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_slices": 0}, "Slice: max_slices must be an integer of at least 1, got 0"),
        ({"full": "drop"}, "Slice: max_slices must be given with full and on_drop, got None"),
        ({"max_slices": 1, "full": "x"}, "Slice: full must be 'error' or 'drop', got 'x'"),
        ({"ttl": 0}, "Slice: ttl must be a positive number or timedelta, got 0"),
        ({"time": E.t}, "Slice: ttl must be given with time, got None"),
        ({"until": 3}, "Slice: until must be a function or an expression, got 3"),
        ({"collect": 3}, "Slice: collect must be a function of a list or a Monoid, got 3"),
        ({"collect": sum, "snapshot": True}, "Slice: collect must be left out with snapshot=True, got"),
        ({"inner": Fork(2)}, "Slice: inner must be a query with one input and one output, got Fork("),
        ({"by": 3}, "Slice: by must be a function or an expression, got 3"),
    ],
)
def test_slice_rejects_bad_parameters(options, message):
    with pytest.raises(ParameterError) as error:
        Slice(**{"by": X, "inner": Count(), **options})
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
def test_slice_obeys_the_laws(inner):
    for by in (third, special):
        check_processor(Slice(by, inner), NUMBERS, max_examples=4)


SHAPES = [
    {"snapshot": True}, {"collect": max}, {"collect": sorted}, {"until": X > 3}, {"ttl": 2},
    {"max_slices": 2, "full": "drop"}, {"snapshot": True, "max_slices": 2, "full": "drop", "ttl": 3},
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_slice_with_extras_obeys_the_laws(shape):
    check_processor(Slice(special, Cumulate(add), **shape), NUMBERS, max_examples=10)


@given(
    st.lists(st.tuples(st.integers(0, 200) | st.text(max_size=2), st.integers() | st.none()), max_size=200)
)
def test_snapshot_equals_a_dict(changes):
    shown, expected, history = Snapshot(), {}, []
    for key, value in changes:
        history.append((shown, dict(expected)))
        if value is None:
            shown = shown.without(key)
            expected.pop(key, None)
        else:
            shown = shown.set(key, value)
            expected[key] = value
    for old, was in [*history, (shown, expected)]:
        assert old == was
        assert len(old) == len(was)
    assert pickle.loads(pickle.dumps(shown)) == expected
    assert Snapshot(expected) == shown
    assert hash(Snapshot(expected)) == hash(shown)


def test_snapshot_survives_keys_with_equal_hashes():
    class Key:
        def __hash__(self):
            return 7

    keys = [Key() for _ in range(40)]
    shown = Snapshot()
    for n, key in enumerate(keys):
        shown = shown.set(key, n)
    assert [shown[k] for k in keys] == list(range(40))
    assert len(shown) == 40
