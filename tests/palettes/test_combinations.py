"""Palettes together: any query inside any other gives what it gives alone, on events filtered by hand."""

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes import fol
from millstream.palettes.ltl import Monitor, Verdict, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Reorder
from millstream.palettes.windows import Tumbling, Window
from millstream.processors import Apply, Count, Cumulate, E, Filter, Fork, Passthrough, X
from millstream.processors.testing import check_processor

events = st.fixed_dictionaries({"user": st.sampled_from("abc"), "a": st.booleans(), "b": st.booleans()})
calls = st.tuples(st.sampled_from(["open", "close", "use"]), st.integers(0, 2))

INNER = [
    Verdicts("G (a -> F b)"),
    Verdicts("a -> F[0,2] b", at_end="finite"),
    Monitor("G (a -> F b)"),
    Monitor("!b U a"),
    Apply(E.a) | Window(Cumulate(add), 2),
    Window(Monitor("F (a & b)"), 2),
]


@pytest.mark.parametrize("inner", INNER, ids=repr)
@given(trace=st.lists(events, max_size=12))
def test_slice_of_a_query_equals_the_query_on_each_users_events(inner, trace):
    got: dict = {}
    for user, y in Slice(E.user, inner)(trace):
        got.setdefault(user, []).append(y)
    for user in "abc":
        alone = list(inner([e for e in trace if e["user"] == user]))
        assert got.get(user, []) == alone


@given(trace=st.lists(st.tuples(st.sampled_from("ab"), calls), max_size=12))
def test_slice_of_a_first_order_formula_equals_it_on_each_slice(trace):
    inner = fol.Verdicts("use(x) -> [open(x), close(x))")
    got: dict = {}
    for key, verdict in Slice(X[0], Apply(X[1]) | inner)(trace):
        got.setdefault(key, []).append(verdict)
    for key in "ab":
        assert got.get(key, []) == list(inner([c for k, c in trace if k == key]))


@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_slice_of_a_query_obeys_the_laws(inner):
    check_processor(Slice(E.user, inner), events, max_examples=15)


def test_logic_over_the_output_of_windows():
    """The sum of three readings is never above 10 twice in a row."""
    high = Window(Cumulate(add), 3) | Apply(X > 10)
    calm = high | Monitor("G !(high & X high)", atoms={"high": X})
    assert list(calm([1, 2, 3, 9, 1, 0, 0, 9, 9]))[-1] is Verdict.FALSE
    assert list(calm([1, 2, 3, 4, 1, 0, 0, 9, 1]))[-1] is Verdict.UNKNOWN


def test_formula_and_window_side_by_side_on_one_stream():
    query = Fork(2) | (Passthrough() & Window(Cumulate(max), 2)) | Apply(lambda x, top: (x, top))
    assert list(query([3, 1, 2])) == [(3, 3), (1, 2)]


def test_reordered_events_reach_every_palette_in_order():
    late = [
        {"t": 2, "a": True, "b": False},
        {"t": 1, "a": False, "b": False},
        {"t": 3, "a": False, "b": True},
    ]
    ordered = sorted(late, key=lambda e: e["t"])
    for query in (Verdicts("a -> F b", at_end="finite"), Tumbling(Count(), 2), Filter(E.a) | Apply(E.t)):
        assert list((Reorder(time=E.t, bound=2) | query)(late)) == list(query(ordered))
