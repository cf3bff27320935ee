"""Random small traces for every problem: right or wrong as chance will have it."""

from hypothesis import strategies as st

from millstream.lab.crv.pingus import Pingu

A, B = st.sampled_from("ab"), st.sampled_from("abc")
SMALL = st.integers(1, 4)


def event(name, *args):
    return st.tuples(st.just(name), *args)


def trace(*events, most=14):
    return st.lists(st.one_of(*events), max_size=most)


def snapshots(statuses, places):
    figure = st.builds(
        Pingu,
        id=st.just(0),
        status=st.sampled_from(statuses),
        x=st.sampled_from(places),
        y=st.sampled_from((0.0, 9.5, 10.0)),
        vx=st.sampled_from((-0.5, 0.5)),
        vy=st.just(0.0),
    )
    rows = st.dictionaries(st.integers(0, 3), figure, max_size=3)
    return st.lists(rows.map(lambda r: tuple(p._replace(id=i) for i, p in r.items())), max_size=6)


USED = ("acq", "rel")
TRACES = {
    "auction": trace(
        event("create_auction", A, SMALL, st.integers(1, 2)),
        *(event("bid", A, SMALL), event("bid", A, st.integers(1, 9)), event("sold", A), event("endOfDay")),
    ),
    "candidates": trace(
        event("member", A, st.sampled_from("pq")),
        event("candidate", st.sampled_from("xy"), st.sampled_from("pq")),
        event("rank", A, st.sampled_from("xy"), SMALL),
    ),
    "injection": trace(
        *(event("input", B), event("derive", B, B), event("sanitise", B), event("use", B)),
    ),
    "bashing": snapshots(("WALKER", "BASHER", "BLOCKER"), (0.0,)),
    "creation": snapshots(("WALKER",), (0.0,)),
    "turnaround": snapshots(("WALKER", "BLOCKER"), (0.0, 5.5, 6.0)),
    "iterators": trace(event("hasNext", A, st.sampled_from(("true", "false"))), event("next", A)),
    "access": trace(
        *(event(name, A) for name in ("login", "logout", "open", "close")), event("access", A, A)
    ),
    "file": trace(event("open", A, st.sampled_from("rw")), event("close", A)),
    "fifo": trace(event("enter", B), event("exit", B)),
    "locks": trace(*(event(name, A, B) for name in USED), event("sleep", A)),
    "cycles": trace(*(event(name, A, B) for name in USED)),
    "races": trace(*(event(name, A, B) for name in (*USED, "read", "write")), most=9),
}
