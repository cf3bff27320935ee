"""What can grow without bound, and how to bound it."""

import pkgutil
from importlib import import_module
from operator import add

import pytest

import millstream.palettes
from millstream.palettes.cep import Detector, Mode, Occurrence, before
from millstream.palettes.fol import Monitor as FutureFirstOrder
from millstream.palettes.fol import Verdicts as FirstOrder
from millstream.palettes.fol import Violations
from millstream.palettes.fsm import MooreMachine, On
from millstream.palettes.lattice import (
    ConjunctiveWindow,
    Definitely,
    Lattices,
    LatticeWindow,
    LocalState,
    Possibly,
)
from millstream.palettes.ltl import (
    After,
    Always,
    Eventually,
    Exists,
    ForAll,
    Globally,
    Historically,
    Monitor,
    Next,
    Once,
    Previous,
    Release,
    Since,
    Sometime,
    Until,
    UpTo,
    Verdicts,
    WeakUntil,
)
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Reorder, Synchronizer
from millstream.palettes.windows import SessionWindow, TimeWindow, Tumbling, Window
from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    Decimate,
    DetectEnd,
    E,
    Filter,
    FindPattern,
    Freeze,
    Group,
    Insert,
    KeepLast,
    Pack,
    Passthrough,
    Prefix,
    Processor,
    ResetLast,
    Splice,
    Trim,
    X,
    Y,
    connect,
    encode,
)
from millstream.processors.processor import fields, is_state


def uneven():
    """A join of streams that do not go at the same pace."""
    start, some, join = Passthrough(), Filter(X > 1), Apply(add)
    return connect(
        start.outputs[0] >> join.inputs[0],
        start.outputs[0] >> some.inputs[0],
        some.outputs[0] >> join.inputs[1],
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Pack(X), "0:Pack: the events of the list under way; bound it with a condition"),
        (Splice(2), "0:Splice: events of later inputs that wait"),
        (Slice(X, Count()), "0:Slice/0:PlainSlices: a state for each key; bound it with ttl=, until= or max"),
        (Slice(X, Pack(X), ttl=3), "0:Slice/0:Slices > 0:Pack: the events of the list"),
        (
            uneven(),
            "2:Apply: events of one input that wait for the others; bound it with into(..., capacity=",
        ),
        (Monitor("G a", explain=True), "0:Monitor: all events, to explain the verdict"),
        (Verdicts("a -> F b", explain=True), "0:Verdicts: all events, to explain verdicts"),
        (Always(Monitor("F a")), "0:Always: a copy of the inner query for each position that is open"),
        (FirstOrder("a(x) -> O b(x)"), "0:Verdicts: an entry for each combination of values"),
        (Reorder(3), "0:Reorder: the events that arrive within the bound; bound it with capacity="),
        (Detector(before("A", "B")), "0:Detector: occurrences that wait for a partner; bound it with within"),
        (SessionWindow(len, gap=3), "0:SessionWindow: the events of a session that goes on"),
    ],
    ids=repr,
)
def test_memory_names_what_grows(query, expected):
    (only,) = query.memory().growing
    assert str(only).startswith(expected)


@pytest.mark.parametrize(
    "query",
    [
        Filter(E.ok) | Window(Cumulate(add), 100),
        Slice(X, Count(), max_slices=10),
        Slice(X, Count(), until=X == 3),
        Verdicts("a -> F b"),
        Detector(before("A", "B").within(5)),
        Detector(before("A", "B"), mode=Mode.RECENT),
        Reorder(3, capacity=10),
        SessionWindow(len, gap=3, max_count=5),
    ],
    ids=repr,
)
def test_memory_of_bounded_queries_is_empty(query):
    assert not query.memory()
    assert str(query.memory()) == "nothing grows without bound"


def numbers(count):
    return list(range(count))


def timed(count):
    return [{"t": k, "s": "p"} for k in range(count)]


def local(count):
    return [LocalState("p", (k, 0), k) for k in range(count)]


OPEN = Monitor("F a", atoms={"a": X < 0})
#: every public processor that has a state, with events that make it keep as much as they can
EXAMPLES = {
    "Always": (Always(Verdicts("F a", atoms={"a": X < 0})), numbers),
    "ConjunctiveWindow": (ConjunctiveWindow("pq", where={"p": X > 0, "q": X > 0}), local),
    "Detector": (Detector(before("A", "B")), lambda n: [Occurrence("A", k) for k in range(n)]),
    "FindPattern": (FindPattern("a"), lambda n: ["ba"] * n),
    "LatticeWindow": (LatticeWindow("pq"), local),
    "Lattices": (LatticeWindow("pq") | Lattices(), local),
    "Pack": (Pack(X < 0), numbers),
    "Reorder": (Reorder(10**9, time=E.t), timed),
    "SessionWindow": (SessionWindow(tuple, gap=3, time=E.t), timed),
    "Slice": (Slice(X, Count()), numbers),
    "Sometime": (Sometime(Verdicts("G a", atoms={"a": X >= 0})), numbers),
    "Synchronizer": (Synchronizer(E.t, "pq", E.s), timed),
    "TimeWindow": (TimeWindow(tuple, 10**9, time=E.t), timed),
    "UpTo": (UpTo(OPEN, OPEN), numbers),
    "fol.Monitor": (FutureFirstOrder("forall x: G (a(x) -> F b(x))"), lambda n: [("a", k) for k in range(n)]),
    "fol.Verdicts": (FirstOrder("b(x) -> O a(x)"), lambda n: [("a", k) for k in range(n)]),
    "fol.Violations": (Violations("b(x) -> O a(x)"), lambda n: [("a", k) for k in range(n)]),
    "ltl.Monitor": (Monitor("G (a -> F b)", atoms={"a": X >= 0, "b": X < 0}), numbers),
    "ltl.Verdicts": (Verdicts("a -> F[0,999] b", atoms={"a": X % 2 == 0, "b": X < 0}, time=X), numbers),
    # what these keep does not depend on how many events there were
    "After": (After(OPEN), numbers),
    "Count": (Count(), numbers),
    "Cumulate": (Cumulate(max), numbers),
    "Decimate": (Decimate(2), numbers),
    "Definitely": (LatticeWindow("pq", 2) | Definitely(X == Y), local),
    "DetectEnd": (DetectEnd(X < 0), numbers),
    "Eventually": (Eventually(), lambda n: [False] * n),
    "Exists": (Exists(lambda e: (e,), Monitor("F a", atoms={"a": X[0] < 0})), numbers),
    "ForAll": (ForAll(lambda e: (e,), Monitor("F a", atoms={"a": X[0] < 0})), numbers),
    "Freeze": (Freeze(), numbers),
    "Globally": (Globally(), lambda n: [True] * n),
    "Historically": (Historically(), lambda n: [True] * n),
    "Insert": (Insert(1, 2), numbers),
    "KeepLast": (KeepLast(), numbers),
    "MooreMachine": (MooreMachine("off", [On("off", X % 2 == 0, "on"), On("on", X > 0, "off")]), numbers),
    "Next": (Next(), lambda n: [True] * n),
    "Once": (Once(), lambda n: [True] * n),
    "Possibly": (LatticeWindow("pq", 2) | Possibly(X == Y), local),
    "Prefix": (Prefix(3), numbers),
    "Previous": (Previous(), lambda n: [True] * n),
    "ResetLast": (ResetLast(Count()), numbers),
    "Trim": (Trim(3), numbers),
    "Tumbling": (Tumbling(tuple, 10), numbers),
    "Window": (Window(Cumulate(add), 10), numbers),
    # two inputs, which are given the same events
    "Release": (Release(), lambda n: [True] * n),
    "Since": (Since(), lambda n: [True] * n),
    "Splice": (Splice(2), numbers),
    "Until": (Until(), lambda n: [False] * n),
    "WeakUntil": (WeakUntil(), lambda n: [False] * n),
}  # fmt: skip


def kept(query, events):
    """How many bytes the state has after some events."""
    run = query.into()
    for event in events:
        for port in range(query.arity[0]):
            run.push(event, port)
    return len(encode(run.save(), query))


@pytest.mark.parametrize("name", EXAMPLES)
def test_memory_names_every_processor_that_grows(name):
    query, events = EXAMPLES[name]
    few, many = kept(query, events(100)), kept(query, events(400))
    assert query.memory() or many - few < 100, f"{few} bytes, then {many}"


def test_memory_examples_are_all_processors_with_a_state():
    names = {m.name for m in pkgutil.iter_modules(millstream.palettes.__path__)}
    palettes = [f"millstream.palettes.{name}" for name in names - {"spark"}]  # which has no processors
    modules = [import_module(name) for name in ["millstream.processors", *palettes]]
    public = {
        v for m in modules for v in vars(m).values() if isinstance(v, type) and issubclass(v, Processor)
    }
    found = [c for c in public if any(map(is_state, fields(c))) or issubclass(c, Group)]
    named = {name.rpartition(".")[2] for name in EXAMPLES}
    hosts = {"Group", "Columnar"}  # what grows in their query is named
    assert {c.__name__ for c in found} - named == hosts
