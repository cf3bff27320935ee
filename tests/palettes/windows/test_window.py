"""Windows of a number of events, against cutting them out of the trace."""

import math
import operator
import statistics
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.windows import Monoid, Tumbling, Window, associative
from millstream.palettes.windows.counted import Blocks, Sliding
from millstream.palettes.windows.pending import Pending
from millstream.palettes.windows.sliding import BlockFold, SlidingFold
from millstream.palettes.windows.sums import SlidingSum
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    E,
    Filter,
    Fork,
    KeepLast,
    ParameterError,
    StreamError,
    Trim,
    X,
    Y,
    connect,
)  # fmt: skip
from millstream.processors.testing import check_processor

from .twin import windows

NUMBERS = st.integers(-3, 3)
TRACES = st.lists(NUMBERS, max_size=40)
WIDTHS = st.integers(1, 9)


def average():
    fork, total, count, divide = Fork(2), Cumulate(add), Count(), Apply(operator.truediv)
    return connect(
        fork.outputs[0] >> total.inputs[0], fork.outputs[1] >> count.inputs[0],
        total.outputs[0] >> divide.inputs[0], count.outputs[0] >> divide.inputs[1],
    )  # fmt: skip


def keep_left(a, b):
    return a


INNER = {
    "sum": Cumulate(add),
    "max with start": Cumulate(max, start=1),
    "expression": Cumulate(X * Y),
    "count": Count(),
    "mapped": Apply(X + 1) | Cumulate(add, start=5) | Apply(X * 2),
    "average": average(),
    "text": Apply(str) | Cumulate(add),
    "not associative": Cumulate(operator.sub),
    "filter": Filter(X % 2 == 0),
    "trim": Trim(2),
    "at end": KeepLast(),
    "few states": Cumulate(X * Y % 3) | Filter(X > 0),
}


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(TRACES, WIDTHS, st.integers(1, 11), st.booleans())
def test_window_gives_the_last_output_on_each_window(inner, trace, width, step, partial):
    expected = windows(inner, trace, width, step, partial)
    assert list(Window(inner, width, step, partial=partial)(trace)) == expected
    assert list(Window(inner, width, step, exact=True, partial=partial)(trace)) == expected


@pytest.mark.parametrize("function", [sum, max, min, any, all, len, math.prod, sorted, statistics.mean])
@given(TRACES, WIDTHS, st.integers(1, 11), st.booleans())
def test_window_takes_a_function_of_the_whole_window(function, trace, width, step, partial):
    expected = windows(function, trace, width, step, partial)
    assert list(Window(function, width, step, partial=partial)(trace)) == expected


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@given(
    st.lists(NUMBERS, max_size=60), st.integers(1, 40), st.integers(1, 5), st.integers(1, 8), st.booleans()
)
def test_pending_copies_equal_replay(inner, trace, width, step, limit, partial):
    query = Pending(inner, width, limit, step, partial)
    if step <= width:
        assert list(query(trace)) == windows(inner, trace, width, step, partial)


@given(TRACES, WIDTHS)
def test_tumbling_puts_each_event_in_one_window(trace, width):
    expected = windows(sum, trace, width, width, partial=True)
    assert list(Tumbling(sum, width, partial=True)(trace)) == expected
    assert list(Tumbling(Cumulate(add), width, partial=True)(trace)) == expected


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        (Window(Cumulate(add), 10), SlidingSum),
        (Window(Cumulate(X + Y), 10, step=7), SlidingSum),
        (Window(Cumulate(max), 10, step=7), SlidingFold),
        (Window(Cumulate(frozenset.union), 10, step=10), BlockFold),
        (Window(Count(), 10), SlidingSum),
        (Window(sum, 10), SlidingSum),
        (Window(max, 10), SlidingFold),
        (Window(Cumulate(add), 10, exact=True), Sliding),
        (Window(Cumulate(operator.sub), 10), Sliding),
        (Window(Filter(X > 0), 100), Pending),
        (Window(Filter(X > 0), 100, step=100), Blocks),
        (Window(statistics.fmean, 100), Sliding),
        (Window(Cumulate(add) | Cumulate(add), 10), Sliding),
    ],
    ids=repr,
)
def test_window_chooses_an_algorithm(query, kind):
    assert isinstance(query.query.graph.nodes[-1], kind)


def test_window_takes_a_declared_fold():
    longer = associative(lambda a, b: a if len(a) >= len(b) else b)
    query = Window(Cumulate(longer), 2)
    assert isinstance(query.query.graph.nodes[0], SlidingFold)
    assert list(query(["a", "bcd", "ef", "g"])) == ["bcd", "bcd", "ef"]


def test_window_does_not_take_an_undeclared_fold_for_associative():
    assert isinstance(Window(Cumulate(keep_left), 2).query, Sliding)


def test_window_takes_a_monoid():
    spread = Monoid(lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), lambda x: (x, x), lambda s: s[1] - s[0])
    assert list(Window(spread, 3)([1, 5, 2, 2, 9])) == [4, 3, 7]
    assert list(Window(spread, 3, exact=True)([1, 5, 2, 2, 9])) == [4, 3, 7]


def test_window_never_subtracts_floats():
    assert list(Window(Cumulate(add), 2)([1e16, 1.0, 9.0, 1.0])) == [1e16 + 1.0, 10.0, 10.0]


def test_window_exact_folds_from_left_to_right():
    trace = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    expected = windows(Cumulate(add), trace, 5)
    assert list(Window(Cumulate(add), 5, exact=True)(trace)) == expected
    assert list(Window(Cumulate(add), 5)(trace)) == pytest.approx(expected)


def test_window_keeps_the_order_of_operands():
    assert list(Window(Cumulate(add), 3)("abcde")) == ["abc", "bcd", "cde"]


def test_window_of_a_pipe_reads_fields():
    events = [{"price": p} for p in (1, 2, 3)]
    assert list(Window(Apply(E.price) | Cumulate(add), 2)(events)) == [3, 5]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(Cumulate(add), 0), "Window: width must be an integer of at least 1, got 0"),
        (lambda: Window(Cumulate(add), 2, step=0), "Window: step must be an integer of at least 1, got 0"),
        (lambda: Tumbling(Cumulate(add), 0), "Tumbling: width must be an integer of at least 1, got 0"),
        (
            lambda: Window(Fork(2), 2),
            "Window: inner must be a query with one input and one output, got Fork()",
        ),
        (lambda: Window(3, 2), "Window: inner must be a query, a Monoid or a function of the window, got 3"),
        (lambda: Window(Count, 2), "Window: inner must be a query such as Count(...), got"),
    ],
)
def test_window_rejects_bad_parameters(make, message):
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("inner", [Cumulate(add), sum, Cumulate(operator.sub)], ids=repr)
def test_window_delivers_what_came_before_a_failure(inner):
    out = []
    run = Window(inner, 2).into(out)
    with pytest.raises(StreamError, match="Window"):
        run.push_all([1, 2, "a"])
    assert len(out) == 1


@pytest.mark.parametrize("inner", [Cumulate(add), Cumulate(max)], ids=repr)
@given(NUMBERS, st.lists(NUMBERS | st.text(max_size=1), max_size=40), st.integers(2, 9), st.booleans())
def test_window_leaves_out_events_that_fail_and_are_skipped(inner, first, rest, width, partial):
    query, trace = Window(inner, width, partial=partial), [first, *rest]
    expected = windows(inner, [x for x in trace if isinstance(x, int)], width, 1, partial)
    assert list(query(trace, on_error="skip")) == expected
    query.into(out := [], on_error="skip").push_all(trace)
    assert out == windows(inner, [x for x in trace if isinstance(x, int)], width)


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
@pytest.mark.parametrize("step", [1, 2, 4])
def test_window_obeys_the_laws(inner, step):
    for partial in (False, True):
        check_processor(Window(inner, 3, step, partial=partial), NUMBERS, max_examples=3)
        check_processor(Window(inner, 3, step, True, partial), NUMBERS, max_examples=3)


@pytest.mark.parametrize("inner", ["filter", "few states", "not associative", "at end"])
def test_pending_obeys_the_laws(inner):
    check_processor(Pending(INNER[inner], 4, 2, 1, partial=True), NUMBERS, max_examples=10)


@pytest.mark.parametrize("function", [max, sum, sorted])
def test_window_of_a_function_obeys_the_laws(function):
    check_processor(Window(function, 3), NUMBERS, max_examples=10)
