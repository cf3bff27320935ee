"""State machines, against a table looked up by hand."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.fsm import OTHERWISE, MooreMachine, On, V, compose
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.palettes.windows.pending import Pending
from millstream.processors import Apply, E, ParameterError, QueryError, StreamError, X
from millstream.processors.testing import check_processor

LETTERS = st.sampled_from("abc")
STATES = st.integers(0, 3)
TABLES = st.fixed_dictionaries({s: st.dictionaries(LETTERS | st.just(OTHERWISE), STATES) for s in range(4)})


def by_hand(table, start, trace):
    """Return the states entered, up to the first event without a transition."""
    out = []
    for x in trace:
        row = table[start]
        if x not in row and OTHERWISE not in row:
            break
        start = row.get(x, row.get(OTHERWISE))
        out.append(start)
    return out


def even(x):
    return x % 2 == 0


@given(TABLES, STATES, st.text("abcd", max_size=20))
def test_machine_follows_its_table(table, start, trace):
    expected, out = by_hand(table, start, trace), []
    run = MooreMachine.from_table(start, table).into(out)
    run.push_all(trace[: len(expected)])
    assert out == expected
    if len(expected) < len(trace):
        with pytest.raises(StreamError, match=f"state {[start, *out][-1]} has no transition for"):
            run.push(trace[len(expected)])


@given(TABLES, STATES, st.text("abcd", max_size=12), st.text("abcd", max_size=12))
def test_machine_table_sums_up_parts_of_a_trace(table, start, first, second):
    machine = MooreMachine.from_table(start, table, unmatched="stay")
    sums = machine.table()
    whole = compose(sums.summary(first), sums.summary(second))
    assert whole == sums.summary(first + second)
    entered = [start, *machine(first + second)]
    assert sums.states[whole[sums.start]] == entered[-1]


def test_machine_table_tells_what_is_stuck():
    sums = MooreMachine.from_table(0, {0: {"a": 1}, 1: {}}).table()
    assert sums.summary("aa")[0] == len(sums.states)
    assert sums.summary("")[0] == 0


def test_machine_table_reads_guards_that_are_functions():
    machine = MooreMachine("odd", [On("odd", even, "even"), On("even", X % 2 == 1, "odd")], unmatched="stay")
    sums = machine.table()
    assert [sums.states[sums.summary([1, 2, 4][:n])[sums.start]] for n in range(4)] == [
        "odd",
        "odd",
        "even",
        "even",
    ]


def test_machine_with_variables_has_no_table():
    machine = MooreMachine(0, [On(0, V.n > 1, 1), On(0, OTHERWISE, 0, {"n": 1})], variables={"n": 0})
    with pytest.raises(QueryError, match=r"variables \(n\) has no finite transition table"):
        machine.table()


def test_machine_maps_are_a_monoid_for_windows():
    machine = MooreMachine.from_table(0, {0: {"a": 1, "b": 0}, 1: {"a": 1, "b": 0}})
    sums = machine.table()
    assert [m[0] for m in Window(sums.monoid, 2)("aabb")] == [1, 0, 0]


def test_machine_gives_the_symbol_of_the_state_entered():
    machine = MooreMachine(0, [(0, True, 1), (0, OTHERWISE, 0), (1, OTHERWISE, 1)], {0: True, 1: False})
    assert list(machine([False, False, True])) == [True, True, False]


def test_machine_states_without_symbol_are_silent():
    machine = MooreMachine.from_table("a", {"a": {1: "b"}, "b": {1: "a"}}, {"b": "hit"})
    assert list(machine([1, 1, 1])) == ["hit", "hit"]


def test_machine_takes_the_first_guard_that_holds():
    machine = MooreMachine(
        0, [On(0, X > 5, 1), On(0, 7, 2), On(0, 3, 3), On(0, OTHERWISE, 0)], unmatched="stay"
    )
    assert list(machine([4, 7])) == [0, 1]
    assert list(machine([3])) == [3]


def test_machine_changes_variables_all_at_once():
    swap = [On(0, OTHERWISE, 0, set={"a": V.b, "b": V.a + X})]
    machine = MooreMachine(0, swap, {0: V.a * 10 + V.b}, variables={"a": 1, "b": 2})
    assert list(machine([0, 0, 5])) == [21, 12, 26]


def test_machine_takes_functions_of_event_and_variables():
    rows = [On(0, lambda x, v: x > v["limit"], 1), On(0, OTHERWISE, 0, {"limit": lambda x: x})]
    assert list(MooreMachine(0, rows, variables={"limit": 9})([5, 3, 4])) == [0, 0, 1]


def test_machine_takes_unhashable_events():
    machine = MooreMachine(0, [On(0, "a", 1), On(0, [1], 2), On(0, OTHERWISE, 0)], unmatched="stay")
    assert list(machine([{}, [1]])) == [0, 2]


def test_machine_stays_if_told_to():
    assert list(MooreMachine.from_table(0, {0: {"a": 1}}, unmatched="stay")("bab")) == [0, 1, 1]


@pytest.mark.parametrize(
    ("guards", "certain"),
    [
        ((1, 1), [True]),
        ((1, 2), []),
        ((1, True), [True]),
        ((X > 3, X < 5), [True]),
        ((X > 3, X <= 3), []),
        ((X == 3, X > 3), []),
        ((E.kind == "a", E.kind == "b"), []),
        ((E.kind == "a", E.size > 3), [True]),
        (((E.kind == "a") & (E.n < 3), (E.kind == "a") & (E.n > 2)), [True]),
        (((E.kind == "a") | (E.kind == "b"), E.kind != "a"), [True]),
        (((E.kind == "a") & ~(E.n < 3), (E.kind == "a") & (E.n < 2)), []),
        ((3, X > 2), [True]),
        ((3, X > 5), []),
        ((even, X > 5), [False]),
        ((4, even), [True]),
        ((V.n < X, X < 3), [False]),
        ((V.n > 3, V.n < 2), []),
        ((1, OTHERWISE), []),
    ],
)
def test_machine_finds_guards_that_hold_together(guards, certain):
    machine = MooreMachine(0, [On(0, guards[0], 1), On(0, guards[1], 2)], variables={"n": 0})
    assert [c.certain for c in machine.conflicts()] == certain


@given(
    st.lists(
        st.tuples(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.integers(0, 4)),
        min_size=2,
        max_size=2,
    )
)
def test_machine_conflicts_agree_with_trying_all_values(tests):
    make = {
        "<": lambda c: c > X, "<=": lambda c: c >= X, ">": lambda c: c < X, ">=": lambda c: c <= X,
        "==": lambda c: c == X, "!=": lambda c: c != X,
    }  # fmt: skip
    values = [k / 2 for k in range(-2, 12)]
    hold = [{v for v in values if eval(f"v {op} c", {"v": v, "c": c})} for op, c in tests]
    guards = [make[op](c) for op, c in tests]
    found = MooreMachine(0, [On(0, guards[0], 1), On(0, guards[1], 2)]).conflicts()
    assert bool(found) == bool(hold[0] & hold[1])


def test_machine_refuses_guards_that_hold_together():
    with pytest.raises(ParameterError, match=r"in state 0, X > 3 and X < 5 hold together for X = 4\.0"):
        MooreMachine(0, [On(0, X > 3, 1), On(0, X < 5, 2)], overlap="error")
    machine = MooreMachine(0, [On(0, even, 0), On(0, X > 5, 1)], overlap="error")
    with pytest.raises(StreamError, match="2 transitions of state 0 hold for 6"):
        list(machine([2, 4, 6]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MooreMachine(0, {0: 1}), "MooreMachine: transitions must be a list of On"),
        (lambda: MooreMachine(0, [1]), "MooreMachine: expected On(source, guard, target), got 1"),
        (lambda: MooreMachine([], []), "MooreMachine: states must be hashable"),
        (lambda: MooreMachine(0, [], {1: 2}), "MooreMachine: symbols names 1, which is no state"),
        (
            lambda: MooreMachine(0, [On(0, V.n > 1, 0)]),
            "MooreMachine: V.n > 1 reads V.n; declare it in variables=",
        ),
        (lambda: MooreMachine(0, [On(0, 1, 0, {"n": 1})]), "MooreMachine: variable 'n' of On(0, 1, 0"),
        (
            lambda: MooreMachine(0, [], unmatched="x"),
            "MooreMachine: unmatched must be 'error' or 'stay', got 'x'",
        ),
        (
            lambda: MooreMachine(0, [], overlap="x"),
            "MooreMachine: overlap must be 'first' or 'error', got 'x'",
        ),
    ],
)
def test_machine_rejects_bad_parameters(make, message):
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(message)


def test_machine_is_drawn():
    rows = [On("a<b", X > 1, "b"), On("b", OTHERWISE, "b", {"n": V.n + 1}), On("b", 'q"', "a<b")]
    picture = MooreMachine("a<b", rows, {"b": 'say "hi"'}, variables={"n": 0}).diagram()
    root = ET.fromstring(picture.svg)
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a<b" in texts
    assert "otherwise / n := V.n + 1" in texts
    assert 's1 -> s0 [label="\'q\\"\'"]' in picture.dot
    assert "s0 --> s1 : X #62; 1" in picture.mermaid


def test_machine_picture_holds_all_that_is_drawn():
    long = "a very long name of a guard, and more than fits into one line of a label"
    table = {"start": {long: "start", "go": "other"}, "other": {long: "start"}}
    root = ET.fromstring(
        MooreMachine.from_table("start", table, {"start": V.n}, variables={"n": 1}).diagram().svg
    )
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert "start → V.n" in [t.text for t in texts]
    for t in texts:
        assert left <= float(t.attrib["x"]) <= left + width
        assert top <= float(t.attrib["y"]) <= top + height
        assert len(t.text) <= 28


def test_machine_picture_is_saved(tmp_path):
    picture = MooreMachine.from_table(0, {0: {1: 0}}).diagram()
    for suffix, text in (("svg", picture.svg), ("dot", picture.dot), ("mmd", picture.mermaid)):
        picture.save(tmp_path / f"m.{suffix}")
        assert (tmp_path / f"m.{suffix}").read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match="saved as"):
        picture.save(tmp_path / "m.gif")


def test_machine_in_a_slice_and_a_window():
    toggle = MooreMachine.from_table(0, {0: {OTHERWISE: 1}, 1: {OTHERWISE: 0}})
    assert list(Slice(X, toggle)("aba")) == [("a", 1), ("b", 1), ("a", 0)]
    wide = Window(toggle, 64)
    assert isinstance(wide.query, Pending)
    run = wide.into(out := [])
    run.push_all(range(200))
    assert out == [0] * 137
    assert len(run.processors[0].groups) <= 2


COUNTER = MooreMachine(
    "low",
    [
        On("low", V.n > 2, "high"),
        On("low", OTHERWISE, "low", {"n": V.n + X}),
        On("high", OTHERWISE, "low", {"n": 0}),
    ],
    {"low": V.n, "high": "!"},
    variables={"n": 0},
)


@settings(max_examples=30)
@given(st.lists(st.integers(-2, 3), max_size=30))
def test_machine_with_variables_equals_plain_python(trace):
    at, n, expected = "low", 0, []
    for x in trace:
        if at == "high":
            at, n = "low", 0
        elif n > 2:
            at = "high"
        else:
            n += x
        expected.append("!" if at == "high" else n)
    assert list(COUNTER(trace)) == expected


@pytest.mark.parametrize(
    "machine",
    [
        COUNTER,
        MooreMachine.from_table(0, {0: {1: 1}, 1: {2: 0}}, {1: "one"}, unmatched="stay"),
        MooreMachine(0, [On(0, X > 0, 1), On(1, X < 0, 0)], unmatched="stay", overlap="error"),
    ],
    ids=["variables", "silent", "guards"],
)
def test_machine_obeys_the_laws(machine):
    check_processor(machine, st.integers(-2, 3))
    check_processor(machine | Apply(str), st.integers(-2, 3), max_examples=5)
