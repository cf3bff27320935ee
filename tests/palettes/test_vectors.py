"""Facts of BeepBeep 3 for windows, slices and state machines, as literals of our own."""

from operator import add

import pytest

from millstream.palettes.fsm import OTHERWISE, MooreMachine, On
from millstream.palettes.slicer import ALL, Slice
from millstream.palettes.windows import Window
from millstream.processors import Cumulate, Filter, Trim, X

EVEN = X % 2 == 0
FALSE, TRUE = False, True
MOORE = MooreMachine(0, [On(0, True, 1), On(0, OTHERWISE, 0), On(1, OTHERWISE, 1)], {0: True, 1: False})


def special(x):
    return ALL if x == 2 else None if x == 1 else x % 2 == 0


#: query, input, outputs of each input event in turn, and at the end of the trace
STEPS = [
    (Window(X[0] + X[1], 2), [2, 3, 9], [[], [5], [12]], []),
    (Window(Cumulate(add), 2), [2, 3, 9], [[], [5], [12]], []),
    (Window(Cumulate(add), 2), [1, 2, 3], [[], [3], [5]], []),
    (Window(Filter(EVEN), 2), [1, 3, 4, 5, 7], [[], [], [4], [4], []], []),
    (Window(Cumulate(add), 5), [1, 2, 3], [[], [], []], []),
    (
        Slice(EVEN, Cumulate(add), snapshot=True),
        [1, 1, 6, 2, 3],
        [[{FALSE: 1}], [{FALSE: 2}], [{FALSE: 2, TRUE: 6}], [{FALSE: 2, TRUE: 8}], [{FALSE: 5, TRUE: 8}]],
        [],
    ),
    (
        Slice(EVEN, Cumulate(add)),
        [1, 1, 6, 2, 3],
        [[(FALSE, 1)], [(FALSE, 2)], [(TRUE, 6)], [(TRUE, 8)], [(FALSE, 5)]],
        [],
    ),
    (
        Slice(EVEN, Cumulate(add), until=X > 2, snapshot=True),
        [1, 1, 2, 2, 3],
        [[{FALSE: 1}], [{FALSE: 2}], [{FALSE: 2, TRUE: 2}], [{FALSE: 2, TRUE: 4}], [{FALSE: 5, TRUE: 4}]],
        [],
    ),
    (
        Slice(special, Cumulate(add), snapshot=True),
        [1, 3, 6, 2],
        [[{}], [{FALSE: 3}], [{FALSE: 3, TRUE: 6}], [{FALSE: 5, TRUE: 8}]],
        [],
    ),
    (
        Slice(EVEN, Trim(1), snapshot=True),
        [1, 2, 3, 4],
        [[{}], [{}], [{FALSE: 3}], [{FALSE: 3, TRUE: 4}]],
        [],
    ),
    (MOORE, [False, False, True], [[True], [True], [False]], []),
]


@pytest.mark.parametrize(("query", "events", "steps", "last"), STEPS, ids=[repr(s[0]) for s in STEPS])
def test_palette_gives_what_the_reference_gives(query, events, steps, last):
    out, found = [], []
    run = query.into(out)
    for x in events:
        run.push(x)
        found.append(out[:])
        out.clear()
    run.end()
    assert found == steps
    assert out == last
    assert list(query(events)) == [y for step in steps for y in step]
