"""Input/output facts of BeepBeep 3's own tests for the processors that stand here, as literals of our own."""

from operator import add, and_, mul, sub, truediv

import pytest

from millstream.processors import (
    Apply,
    Cumulate,
    Decimate,
    DetectEnd,
    Filter,
    FindPattern,
    Fork,
    Freeze,
    Insert,
    KeepLast,
    Multiplex,
    Pack,
    Passthrough,
    RunOn,
    Splice,
    Stutter,
    X,
    if_else,
)
from millstream.processors.sources import value
from millstream.processors.testing import give, in_turn

FORKED_FILTER = Fork(2) | (Passthrough() & Apply(X % 2 == 0)) | Filter()

#: query, inputs, outputs of each input event in turn, and at the end of the trace (None: not asked)
STEPS = [
    (Decimate(3), [range(7)], [[0], [], [], [3], [], [], [6]], None),
    (Decimate(1), [range(3)], [[0], [1], [2]], None),
    (Decimate(2, last=True), [range(4)], [[0], [], [2], []], [3]),
    (Cumulate(add), [[1, 1, 1]], [[1], [2], [3]], None),
    (DetectEnd(X == 0), [[1, 0, 2]], [[1], [], []], None),
    (FORKED_FILTER, [[2, 3, 4, 6]], [[2], [], [4], [6]], None),
    (Freeze(), [[0, 1, 2]], [[0], [0], [0]], None),
    (Insert(99, 3), [range(6)], [[99, 99, 99, 0], [1], [2], [3], [4], [5]], None),
    (FindPattern("A.*?B"), [["A0B", "A1", "BA2B"]], [["A0B"], [], ["A1B", "A2B"]], None),
    (FindPattern("(.*?),"), [["abc,d", "e,fgh,"]], [["abc"], ["de", "fgh"]], None),
    (RunOn(Cumulate(max)), [[[0, 6, 0], [100, -1, 3, 72]]], [[6], [100]], None),
    (KeepLast(), [[]], [], []),
    (KeepLast(), [range(4)], [[], [], [], []], [3]),
    (
        Apply(frozenset) | Cumulate(and_),
        [[["foo", "bar", "baz"], ["foo", "bar", "baz", "biz"], ["foo", "baz"], ["foo", "buzz"]]],
        [[{"foo", "bar", "baz"}], [{"foo", "bar", "baz"}], [{"foo", "baz"}], [{"foo"}]],
        None,
    ),
    (Apply(lambda items: all(x > 2 for x in items)), [[[3, 4], [3, 1], []]], [[True], [False], [True]], None),
]

#: query, inputs, (port, outputs) in the order of arrival, and at the end
PORTS = [
    (Filter(), [[1, 2, 3, 4], [True, False, True, False]], [[], [1], [], [], [], [3], [], []], None),
    (Pack(), [[1, 2], [False, False]], [[], [], [], []], [[1, 2]]),
    (
        Pack(),
        [[1, 2, 3, 4], [False, False, True, False]],
        [[], [], [], [], [], [[1, 2]], [], []],
        [[3, 4]],
    ),
    (Stutter(), ["abc", [2, 0, 1]], [[], ["a", "a"], [], [], [], ["c"]], None),
]


@pytest.mark.parametrize(("query", "inputs", "steps", "at_end"), STEPS + PORTS)
def test_vector_gives_the_outputs_of_each_step(query, inputs, steps, at_end):
    out: list = []
    run = query.into(out)
    got = []
    for event in in_turn([list(i) for i in inputs]):
        give(run, [event])
        got.append(out[:])
        out.clear()
    assert got == steps
    run.end()
    if at_end is not None:
        assert out == at_end


@pytest.mark.parametrize(
    ("query", "inputs", "output"),
    [
        (Filter(X % 2 == 0), [[2, 3, 5, 6, 8]], [2, 6, 8]),
        (Multiplex(2), [["foo", "bar", "baz"], [1, 2, 3]], ["foo", 1, "bar", 2, "baz", 3]),
        (Multiplex(2), [[1, 2, 3], [4, 5]], [1, 4, 2, 5, 3]),
        (Splice(2), [[0, 1, 2], [3, 4, 5]], [0, 1, 2, 3, 4, 5]),
        (Insert(-1, 2), ["ABC"], [-1, -1, "A", "B", "C"]),
    ],
)
def test_vector_gives_the_outputs_in_pull(query, inputs, output):
    assert list(query(*inputs)) == output


def test_multiplex_passes_events_in_the_order_of_arrival():
    out: list = []
    run = Multiplex(2).into(out)
    for event, port in [("foo", 0), (3, 1), ("bar", 0), ("baz", 0), (5, 1)]:
        run.push(event, port)
    assert out == ["foo", 3, "bar", "baz", 5]


def test_decimate_does_not_repeat_a_last_event_that_came_out_already():
    """The reference gives 24 twice here."""
    assert list(Decimate(4, last=True)(range(25))) == [0, 4, 8, 12, 16, 20, 24]


@pytest.mark.parametrize(
    ("function", "front", "value"),
    [
        (truediv, (3, 5), 0.6),
        (mul, (3, 5), 15),
        (sub, (3, 5), -2),
        (abs, (-3.0,), 3.0),
        (lambda a, b: a == b, (0, None), False),
        (lambda a, b: a == b, ([1, 2], [2, 1]), False),  # the reference ignores the order
        (if_else(X[0], X[1], X[2]), ((False, 5, 6),), 6),
        (X[1], ([0.0, -3.0, 5.0],), -3.0),
        (X.startswith("foo"), ("foobar",), True),
        (value, ("2",), 2),
        (value, ("2.5",), 2.5),
        (lambda s: [value(part.strip()) for part in s.split(",")], ("3,foo, 2.5",), [3, "foo", 2.5]),
        (lambda n: n + 1, (2**24,), 2**24 + 1),  # the reference computes with 32-bit floats
    ],
)
def test_function_gives_the_value_on_one_front(function, front, value):
    assert list(Apply(function)(*([x] for x in front))) == [value]
