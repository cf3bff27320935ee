"""`Detector` as a processor: laws, ordinary events, forests, order, bounds, bad input."""

import pickle
import warnings
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.cep import (
    Detector,
    GrowingMemoryWarning,
    Mode,
    Occurrence,
    before,
    both,
    either,
    lacking,
    last,
    on,
    periodic,
    repeated,
    sequence,
    without,
)  # fmt: skip
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Reorder
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    E,
    ParameterError,
    Passthrough,
    StreamError,
    X,
    Y,
    connect,
)  # fmt: skip
from millstream.processors.testing import check_processor

from .strategies import MODES, expressions, histories, is_one
from .test_definitions import detector


def events(text):
    """Return occurrences for a text such as "A1 B2"."""
    return [Occurrence(word[0], int(word[1:])) for word in text.split()]


def texts(query, text):
    return [str(o) for o in query(events(text))]


# -- laws

in_order = st.builds(Occurrence, st.sampled_from("ABC"), st.just(1))
A, B, C = on("A"), on("B"), on("C")
LAW_EXPRESSIONS = {
    "plain": before(A, B),
    "before": before(A, B).within(3),
    "both": both(A, B, C).within(3),
    "between": without(A, B, C).within(3),
    "repeated": repeated(2, A).within(3),
    "periodic": periodic(A, 1, B),
    "lacking": lacking(A, B, 2),
    "last": both(last(A), B).within(2),
    "shared": either(before(A, B).within(2), both(before(A, B).within(2), C).within(2)),
    "predicate": both(on(E.kind == "A"), B).within(2),
}


@pytest.mark.parametrize("mode", MODES, ids=lambda m: m.name)
@pytest.mark.parametrize("name", LAW_EXPRESSIONS)
def test_detector_obeys_the_laws(name, mode):
    numbers = st.tuples(st.sampled_from("ABC"), st.integers(0, 1))
    query = Timing() | detector(LAW_EXPRESSIONS[name], mode)
    check_processor(query, numbers, max_examples=3, max_size=6)


@pytest.mark.parametrize("order", ["refuse", "trust"])
@pytest.mark.parametrize("window", [None, 45])
@given(runs=st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 40)), max_size=8))
def test_lines_of_the_most_common_detector_do_what_its_operators_do(order, window, runs):
    pair = before(A, B) if window is None else before(A, B).within(window)
    history = [Occurrence(k, 0) for k, number in runs for _ in range(number)]
    history = [Occurrence(e.kind, n // 2) for n, e in enumerate(history)]
    query = Detector(pair, order=order)
    assert query.inline() is not None
    assert Detector({"X": pair}).inline() is None
    assert list(query(history)) == [o._replace(kind="before") for o in Detector({"X": pair})(history)]


def Timing():
    """A query that turns (kind, gap) into occurrences in order of time."""
    return Cumulate(add_gap) | Apply(as_occurrence)


def add_gap(total, pair):
    return pair[0], total[1] + pair[1]


def as_occurrence(pair):
    return Occurrence(*pair)


def test_detector_prints_its_configuration():
    query = Detector(before("A", "B").within(3), Mode.RECENT, order="trust")
    assert repr(query) == "Detector(before(on('A'), on('B'), within=3), Mode.RECENT, order='trust')"


def test_detector_pickles_with_named_expressions_and_predicates():
    query = Detector({"X": before("A", on(is_one)), "Y": both("X", "C")})
    again = pickle.loads(pickle.dumps(query))
    history = [Occurrence("A", 1, {"v": 0}), Occurrence("B", 2, {"v": 1}), Occurrence("C", 3, {"v": 0})]
    assert list(again(history)) == list(query(history))
    assert [o.kind for o in again(history)] == ["X", "Y"]


# -- ordinary events


def test_detector_takes_ordinary_events_by_extractors_and_predicates():
    rows = [{"type": "login", "at": 1, "user": "ann"}, {"type": "pay", "at": 4, "user": "ann", "sum": 900}]
    query = Detector(before("login", on(E.sum > 500)), time=E["at"], kind=E.type)
    with pytest.raises(StreamError, match="KeyError: 'sum'"):
        list(query(rows))
    query = Detector(before("login", on(lambda e: e.get("sum", 0) > 500)), time=E["at"], kind=E.type)
    (found,) = query(rows)
    assert (found.kind, found.time, found.start, found.constituents) == ("before", 4, 1, tuple(rows))


def test_predicates_alone_need_no_kind():
    query = Detector(before(on(X > 5), on(X < 0)), time=abs)
    assert [o.constituents for o in query([1, 6, -7])] == [(6, -7)]


def test_condition_across_constituents_takes_two_events():
    rows = [{"kind": k, "time": t, "user": u} for k, t, u in (("A", 1, "x"), ("A", 2, "y"), ("B", 3, "y"))]
    (found,) = Detector(before("A", "B").where(X.user == Y.user))(rows)
    assert found.constituents == (rows[1], rows[2])


def test_time_may_be_datetimes():
    start = datetime(2024, 1, 1)
    rows = [
        {"kind": k, "time": start + timedelta(hours=h)} for k, h in (("A", 0), ("B", 1), ("A", 2), ("B", 9))
    ]
    found = list(Detector(before("A", "B").within(timedelta(hours=2)))(rows))
    assert [f.time.hour for f in found] == [1]
    (alarm,) = Detector(lacking("A", "B", timedelta(hours=2)))(rows)
    assert alarm.time == start + timedelta(hours=4)


def test_atomic_event_at_the_root_comes_out_as_occurrence():
    rows = [{"kind": "A", "time": 1}]
    assert list(Detector(either("A", "B"))(rows)) == [Occurrence("A", 1, constituents=(rows[0],), start=1)]


# -- forests


@given(expressions(), expressions(), st.sampled_from(MODES), histories(min_size=6))
def test_forest_finds_what_its_trees_find(left, right, mode, history):
    forest = list(detector({"L": left, "R": right}, mode)(history))
    for name, tree in (("L", left), ("R", right)):
        alone = detector({name: tree}, mode)(history)
        assert [o for o in forest if o.kind == name] == list(alone)


@given(expressions(), st.sampled_from(MODES), histories(min_size=6))
def test_composite_used_as_a_type_is_the_same_as_written_out(tree, mode, history):
    by_name = detector({"X": tree, "Y": both("X", "A")}, mode)(history)
    written = detector({"X": tree, "Y": both(tree.named("X"), "A")}, mode)(history)
    assert list(by_name) == list(written)


def test_shared_subexpressions_are_computed_once():
    asked = []

    def counted(a, b):
        asked.append((a, b))
        return True

    pair = before("A", "B").where(counted)
    query = Detector({"X": pair, "Y": both(pair, "C"), "Z": before("X", "C")})
    assert [o.kind for o in query(events("A1 B2 C3"))] == ["X", "Y", "Z"]
    assert len(asked) == 1


def test_cycle_of_composites_is_refused():
    with pytest.raises(ParameterError, match="a cycle of composites, X -> Y -> X"):
        Detector({"X": before("A", "Y"), "Y": both("X", "B")})


def test_unknown_type_is_refused():
    with pytest.raises(ParameterError, match="unknown type 'Q'; known are 'A', 'B', 'X'"):
        Detector({"X": before("A", "Q")}, kinds=["A", "B"])
    with pytest.raises(StreamError, match="unknown type 'Q'"):
        list(Detector(before("A", "B"), kinds=["A", "B"])(events("A1 Q2")))


# -- order and time stamps


def test_out_of_order_event_is_refused_and_nothing_is_lost():
    letters, found = [], []
    run = Detector(before("A", "B")).into(found, on_error=letters)
    run.push_all(events("A3 A1 B4"))
    assert [str(o) for o in found] == ["(A.3, B.4, 4)"]
    assert "out of order: its time stamp is 1, 3 came before" in str(letters[0])


def test_reorder_in_front_sorts_within_a_bound():
    query = Reorder(3, time=E.time) | Detector(before("A", "B"))
    assert texts(query, "B2 A1 B4") == ["(A.1, B.2, 2)"]


@pytest.mark.parametrize("make", [before, both], ids=["lines", "operators"])
@pytest.mark.parametrize(
    ("time", "message"),
    [
        (None, "no time stamp: its time is None"),
        (float("nan"), "not a number"),
        ("x", "'x' cannot be compared"),
    ],
)
def test_missing_time_stamp_is_refused_and_nothing_is_lost(make, time, message):
    history = [Occurrence("A", 1), Occurrence("B", time), Occurrence("B", 2)]
    out, letters = [], []
    run = Detector(make("A", "B")).into(out, on_error=letters)
    run.push_all(history)
    assert message in str(letters[0].error)
    assert letters[0].events == (history[1],)
    assert [o.constituents for o in out] == [(history[0], history[2])]


@pytest.mark.parametrize("make", [before, both], ids=["lines", "operators"])
@pytest.mark.parametrize(("time", "message"), [(None, "no time stamp"), (float("nan"), "not a number")])
def test_missing_time_stamp_of_the_first_event_is_refused(make, time, message):
    with pytest.raises(StreamError, match=rf"failed on Occurrence\('A', {time}\).*{message}"):
        list(Detector(make("A", "B"))([Occurrence("A", time)]))


@pytest.mark.parametrize("make", [before, both], ids=["lines", "operators"])
@pytest.mark.parametrize("lacks", ["time", "kind"])
def test_event_without_time_stamp_or_type_says_what_to_try(make, lacks):
    event = {"kind": "A", "time": 1}
    del event[lacks]
    message = f"failed on {{.*the {lacks} of the event cannot be read, KeyError: '{lacks}'; {lacks}= of"
    with pytest.raises(StreamError, match=message):
        list(Detector(make("A", "B"))([event]))


def test_event_that_fails_leaves_nothing_behind_for_the_next():
    def picky(event):
        if event["time"] == 1:
            raise ValueError("not this one")
        return True

    rows = [{"kind": "A", "time": 1}, {"kind": "A", "time": 2}]
    found, letters = [], []
    run = Detector(either("A", on(picky))).into(found, on_error=letters)
    run.push_all(rows)
    assert [o.time for o in found] == [2, 2]
    assert len(letters) == 1


# -- memory


def memory_of(query, history):
    run = query.into()
    run.push_all(history)
    return len(pickle.dumps(run.save()))


@pytest.mark.parametrize("make", [before, both], ids=["before", "both"])
def test_window_and_mode_bound_the_memory(make):
    history = [Occurrence("A", t) for t in range(2000)]
    for query in (Detector(make("A", "B"), Mode.RECENT), Detector(make("A", "B").within(5), Mode.ALL)):
        assert memory_of(query, history) < 2000
    assert memory_of(Detector(make("A", "B")), history) > 20_000


def test_absence_forgets_beginnings_that_have_failed():
    history = events(" ".join(f"A{t} B{t + 1}" for t in range(0, 400, 2)))
    assert memory_of(detector(without("A", "B", "C"), Mode.ALL), history) < 1000


def test_mode_all_without_window_warns_once():
    with pytest.warns(GrowingMemoryWarning, match=r"mode ALL keeps all occurrences for before\(on\('A'\)"):
        query = Detector(before("A", "B"), Mode.ALL)
    assert texts(query, "A1 A2 B3") == ["(A.1, B.3, 3)", "(A.2, B.3, 3)"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Detector(before("A", "B"), Mode.ALL, max_pending=10)
        Detector(before("A", "B").within(4), Mode.ALL)


@pytest.mark.parametrize(
    ("full", "expected"), [("drop_oldest", "(A.3, B.9, 9)"), ("drop_newest", "(A.1, B.9, 9)")]
)
def test_max_pending_drops_by_policy(full, expected):
    query = Detector(before("A", "B"), max_pending=1, full=full)
    assert texts(query, "A1 A2 A3 B9") == [expected]


def test_max_pending_refuses_by_default():
    with pytest.raises(StreamError, match="holds 1 pending occurrences, max_pending is 1"):
        texts(Detector(both("A", "B"), max_pending=1), "A1 A2")


def test_max_pending_bounds_what_waits_for_the_end_of_the_trace():
    query = Detector(both(last("A"), "B"), max_pending=3)
    with pytest.raises(StreamError, match="holds 3 pending occurrences, max_pending is 3"):
        texts(query, "B1 B2 B3 B4")


def test_query_of_another_palette_can_feed_a_detector():
    counts = Slice(E.user, Count())
    timed = connect(
        (start := Passthrough()).outputs[0] >> counts.inputs[0],
        start.outputs[0] >> (join := Apply(lambda event, count: (event["at"], *count))).inputs[0],
        counts.outputs[0] >> join.inputs[1],
    )
    third = before(on(X[2] == 1), on(X[2] == 3)).where(X[1] == Y[1])
    rows = [{"user": u, "at": t} for t, u in enumerate("aabab")]
    assert [o.constituents for o in (timed | Detector(third, time=X[0]))(rows)] == [
        ((0, "a", 1), (3, "a", 3))
    ]


# -- keys


def test_slice_correlates_by_key():
    rows = [{"kind": k, "time": t, "user": u} for k, t, u in (("A", 1, "x"), ("A", 2, "y"), ("B", 3, "y"))]
    query = Slice(E.user, Detector(before("A", "B"), order="trust"))
    assert [(key, found.time) for key, found in query(rows)] == [("y", 3)]


# -- parameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Detector(3), "Detector: expected an event expression or the name of a type, got 3"),
        (lambda: Detector({}), "expected at least one expression"),
        (lambda: Detector("A", "ALL"), "Detector: mode must be a Mode, got 'ALL'"),
        (lambda: Detector("A", order="sort"), "order must be 'refuse' or 'trust'"),
        (lambda: Detector("A", full="wait"), "full must be 'error', 'drop_newest' or 'drop_oldest'"),
        (lambda: Detector("A", max_pending=0), "max_pending must be at least 1, got 0"),
        (lambda: Detector("A", time=3), "time must be a function or an expression, got 3"),
        (lambda: before("A", 3), "before: expected an event expression"),
        (lambda: before("A", "B").within(-1), "within: duration must be at least 0, got -1"),
        (lambda: lacking("A", "B", 0), "lacking: duration must be more than 0, got 0"),
        (lambda: before("A", "B", mode="x"), "before: mode must be a Mode"),
        (lambda: sequence("A"), "sequence: expected at least two operands, got 1"),
        (lambda: both("A"), "any_of: number must be from 2"),
        (lambda: before("A", "B", where=is_one).where(is_one), "has a condition already"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        make()
