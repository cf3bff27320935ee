"""Queries with every processor of every palette, for tests that compare hosts with the local run."""

from operator import add

from hypothesis import strategies as st

from millstream.palettes import cep, fol
from millstream.palettes.fsm import OTHERWISE, MooreMachine, On
from millstream.palettes.lattice import (
    ConjunctiveWindow,
    Lattices,
    LatticeWindow,
    LocalState,
    definitely,
    possibly,
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
)  # fmt: skip
from millstream.palettes.slicer import Slice
from millstream.palettes.timesync import Reorder, Synchronizer
from millstream.palettes.windows import SessionWindow, TimeWindow, Tumbling, Window
from millstream.processors import (
    Apply,
    Constant,
    Count,
    Cumulate,
    Decimate,
    DetectEnd,
    Divert,
    E,
    Filter,
    FindPattern,
    Fork,
    Freeze,
    Insert,
    KeepLast,
    Multiplex,
    Pack,
    Prefix,
    ResetLast,
    RunOn,
    Splice,
    Stutter,
    Switch,
    Tap,
    Trim,
    Uniform,
    Unpack,
    X,
    processor,
    state,
)  # fmt: skip

NAMES = ["user", "t", "kind", "n", "item"]
SCHEMA = "user string, t long, kind string, n long, item string"
events = st.tuples(
    st.sampled_from(["ann", "bob", "eve", "dan"]),
    st.sampled_from(["login", "logout", "pay", "use"]),
    st.integers(-3, 9),
    st.sampled_from("xy"),
)


def three(a, b, c):
    return a, b, c


def two(a, b):
    return a, b


def is_small(e):
    return e["n"] < 8


as_call = Apply(lambda e: (e["kind"], e["item"]))
KINDS = {"login": E.kind == "login", "pay": E.kind == "pay", "many": E.n > 4}


@processor
class Stamped(Uniform):
    """Give the events of two devices that do not talk as local states with vector clocks."""

    seen: dict = state(of=lambda self: {"x": 0, "y": 0})

    def step(self, e):
        at = self.seen[e["item"]]
        self.seen[e["item"]] += 1
        return LocalState(e["item"], (at, 0) if e["item"] == "x" else (0, at), e["n"])


#: queries of every palette, from dicts to anything
QUERIES = {
    "count": Count(),
    "filter": Filter(E.kind == "pay") | Apply(E.n) | Cumulate(add),
    "native": Filter(E.n > 0) | Apply(E.n % 3),
    "trim": Trim(2) | Apply(E.t),
    "prefix": Prefix(3) | Apply(E.kind),
    "decimate": Decimate(2) | Apply(E.n),
    "last": Apply(E.n) | KeepLast(),
    "fork": Fork(2) | (Apply(E.n) & Count()) | Apply(lambda n, count: (n, count)),
    "pack": Fork(2) | (Apply(E.n) & Apply(E.kind == "pay")) | Pack(),
    "window": Apply(E.n) | Window(Cumulate(add), 3),
    "replay": Window(list, 2) | Apply(len),
    "tumbling": Apply(E.n) | Tumbling(Cumulate(max), 2, partial=True),
    "time": TimeWindow(Apply(E.n) | Cumulate(add), 4, every=4, time=E.t),
    "session": SessionWindow(len, gap=3, partial=True, time=E.t),
    "slice": Slice(E.item, Count()),
    "slices": Slice(E.item, Count(), snapshot=True) | Apply(lambda s: sorted(s.items())),
    "ends": Slice(E.item, Tumbling(Count(), 2, partial=True)),
    "machine": Apply(E.kind) | MooreMachine("out", [On("out", "login", "in"), On("in", "logout", "out"),
                                                    On("out", OTHERWISE, "out"), On("in", OTHERWISE, "in")]),
    "verdicts": Verdicts("login -> F pay", atoms=KINDS),
    "finite": Verdicts("login -> F[0,3] pay", atoms=KINDS, at_end="finite"),
    "timed": Verdicts("login -> F[0,5] pay", atoms=KINDS, time=E.t, at_end="both"),
    "monitor": Monitor("G (login -> F pay)", atoms=KINDS, semantics="rv-ltl"),
    "text": Monitor("!(kind == 'use') W (kind == 'login')"),
    "earliest": Verdicts("many U login", atoms=KINDS, earliest=True),
    "quantified": ForAll(lambda e: "xy", lambda p: p[1]["item"] != p[0] or p[1]["n"] < 9),
    "lattice": Stamped() | LatticeWindow(["x", "y"], width=3) | possibly(lambda x, y: x > 3 and y < 3),
    "fol": as_call | fol.Verdicts("use(x) -> [login(x), logout(x))"),
    "violations": as_call | fol.Violations("use(x) -> [login(x), logout(x))") | Apply(repr),
    "composite": cep.Detector(cep.before("login", "pay").within(10), time=E.t, kind=E.kind)
                 | Apply(lambda o: (o.time, len(o.constituents))),
    "reorder": Reorder(time=E.t, bound=2) | Apply(E.t),
    "synchronized": Synchronizer(E.t, streams=["x", "y"], key=E.item) | Apply(E.t),
    "conjunctive": Stamped() | ConjunctiveWindow("xy", width=3, where={"x": X > 3, "y": X < 3}),
    "definite": Stamped() | LatticeWindow(["x", "y"], width=3) | definitely(lambda x, y: x + y < 9),
    "lattices": Stamped() | LatticeWindow(["x", "y"], width=2) | Lattices() | Apply(repr),
    "bindings": as_call | fol.Monitor("G (login(x) -> G !pay(x))", at_end=True) | Apply(repr),
    "exists": Exists(lambda e: range(3), lambda p: p[1]["n"] > 3 * p[0]),
    "operators": Apply(E.n > 4) | Fork(3) | (Globally() & Eventually() & Next()) | Apply(three),
    "past": Apply(E.n > 4) | Fork(3) | (Historically() & Once() & Previous()) | Apply(three),
    "two": Fork(2) | (Apply(E.n > 2) & Apply(E.kind == "pay")) | Until(at_end="finite"),
    "released": Fork(2) | (Apply(E.n > 2) & Apply(E.kind == "pay")) | Release(),
    "weak": Fork(2) | (Apply(E.n > 2) & Apply(E.kind == "pay")) | WeakUntil(),
    "since": Fork(2) | (Apply(E.n > 2) & Apply(E.kind == "pay")) | Since(),
    "begun": Fork(2) | (Always(is_small) & Sometime(After(is_small))) | Apply(two),
    "up to": UpTo(is_small, lambda e: e["kind"] == "pay"),
    "first": DetectEnd(E.kind == "logout") | Apply(E.t),
    "frozen": Apply(E.n) | Insert(0, times=2) | Freeze(),
    "split": Divert(E.n % 2) | (Constant("even") & Apply(E.t)) | Multiplex(),
    "pattern": Apply(E.item) | FindPattern("x+y"),
    "reset": Fork(2) | (Apply(E.n) & Apply(E.kind == "logout")) | ResetLast(Cumulate(add)),
    "unpacked": Window(list, 2) | Unpack() | Tap(len) | Apply(E.n) | Stutter(2),
    "within": Window(list, 2) | RunOn(Apply(E.n) | Cumulate(max)),
    "switched": Fork(3) | (Apply(E.n % 2) & Apply(E.kind) & Apply(E.item)) | Switch(),
    "spliced": Fork(2) | (Apply(E.n) & Apply(E.t)) | Splice(),
}  # fmt: skip


def pushed(query, events):
    """Return what a query gives locally. (Pulled, `Multiplex` takes its inputs in turn.)"""
    out = []
    run = query.into(out)
    run.push_all(events)
    run.end()
    return out
