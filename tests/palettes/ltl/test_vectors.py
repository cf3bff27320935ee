"""Input and output sequences of the reference system, BeepBeep 3."""

import pytest

from millstream.palettes.ltl import (
    After,
    Always,
    Eventually,
    Exists,
    ForAll,
    Globally,
    Monitor,
    Next,
    Sometime,
    Until,
    Verdict,
)
from millstream.processors import Freeze, X

T, F, U = Verdict.TRUE, Verdict.FALSE, Verdict.UNKNOWN


def steps(query, *inputs):
    """Outputs caused by each front."""
    out, seen = [], []
    run = query.into(out.append)
    for front in zip(*inputs, strict=True):
        for port, event in enumerate(front):
            run.push(event, port) if port else run.push(event)
        seen.append(list(out))
        out.clear()
    run.end()
    return [*seen, list(out)]


@pytest.mark.parametrize(
    ("query", "inputs", "expected"),
    [
        (Globally(), [[False, True, True, False, True]], [[False], [], [], [False] * 3, [], []]),
        (Globally(), [[True, True, False, True]], [[], [], [False] * 3, [], []]),
        (Globally(), [[False]], [[False], []]),
        (Eventually(), [[True, False, False, True, False]], [[True], [], [], [True] * 3, [], []]),
        (Eventually(), [[False, False, True, False]], [[], [], [True] * 3, [], []]),
        (Next(), [[False, False, True, False]], [[], [False], [True], [False], []]),
        (Next(), [[False, True, True, False]], [[], [True], [True], [False], []]),
        (
            Until(),
            [[True, True, False, True, True], [False, False, False, False, True]],
            [[], [], [False] * 3, [], [True] * 2, []],
        ),
        (
            Until(),
            [[False, True, True, False], [False, True, False, True]],
            [[False], [True], [], [True] * 2, []],
        ),
        (
            Until(),
            [[True, True, True, False], [False, False, True, False]],
            [[], [], [True] * 3, [False], []],
        ),
    ],
    ids=repr,
)
def test_vectors_boolean(query, inputs, expected):
    assert steps(query, *inputs) == expected


def test_vectors_after():
    assert list(After(Freeze())([F, T, F, F])) == [U, T, T, T]


def test_vectors_nested_after_concludes_here():
    assert list(After(After(Freeze()))([F, T, F, T, F])) == [U, U, F, F, F]


def test_vectors_always_implies_sometime():
    inner = Monitor("a -> F b", atoms={"a": X == "a", "b": X == "b"})
    assert list(Always(inner)("acbacb")) == [U] * 6


def test_vectors_always_sometime():
    assert list(Always(Sometime(Freeze()))([F, T, F, F, T])) == [U] * 5


def test_vectors_every_and_some_over_a_fixed_domain():
    values = (1, 2, 3)
    assert list(ForAll(lambda e: values, lambda p: p[1] < p[0])([0, 10])) == [T, F]
    assert list(Exists(lambda e: values, lambda p: p[1] > p[0])([0])) == [F]
    assert list(Exists(lambda e: values, lambda p: p[1] > p[0])([2])) == [T]


def test_vectors_every_inside_every():
    inner = ForAll(lambda p: [2], lambda q: q[1][0] > q[0])
    assert list(ForAll(lambda e: [1], inner)([1])) == [F]


def test_vectors_growing_domain_tells_only_what_decides():
    assert steps(ForAll(lambda e: e, lambda p: p[0] > 2, grows=True), [[3, 4], [5], [1]]) == [[], [], [F], []]
    assert steps(Exists(lambda e: e, lambda p: p[0] > 2, grows=True), [[1, 2], [5], [1]]) == [
        [],
        [T],
        [T],
        [],
    ]


def test_vectors_empty_domain():
    assert list(ForAll(lambda e: (), lambda p: False)([0])) == [T]
    assert list(Exists(lambda e: (), lambda p: True)([0])) == [F]
