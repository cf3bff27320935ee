"""Vector clocks, stamping, consistency, and sources."""

import pytest
from hypothesis import given

from millstream.palettes.lattice import (
    LatticeWindow,
    LocalState,
    SequenceRepair,
    Stamper,
    VectorClock,
    consistent,
    from_clock_log,
    from_spans,
    happens_before,
    possibly,
)

from .computations import FIRST, SECOND, brute_force, computations, in_window, processes


def test_vector_clock_orders_and_merges():
    a, b, c = VectorClock((1, 0)), VectorClock((1, 2)), VectorClock((0, 5))
    assert a < b
    assert a <= a
    assert not a < a
    assert b.concurrent(c)
    assert not a.concurrent(b)
    assert b.merge(c) == VectorClock((1, 5))
    assert (len(a), a[0], list(a), a.tick(1)) == (2, 1, [1, 0], VectorClock((1, 1)))
    with pytest.raises(ValueError, match="clocks of different lengths"):
        a.merge(VectorClock((1,)))


def test_stamper_makes_message_order_visible():
    p, q = Stamper("p", "pq"), Stamper("q", "pq")
    before, sent = p.start("idle"), p.send("asked")
    waiting, got = q.start("idle"), q.receive(sent.clock, "busy")
    assert got.clock == VectorClock((1, 1))
    assert happens_before(before, got, "pq")
    assert not happens_before(sent, got, "pq")
    assert consistent([sent, got])
    assert consistent([sent, waiting])
    assert not consistent([before, got])
    with pytest.raises(ValueError, match=r"Stamper: 'z' is not one of the processes \['p', 'q'\]"):
        Stamper("z", ["p", "q"])


def test_figure_1_happens_before():
    def state(k, number):
        return LocalState("ab"[k], (FIRST, SECOND)[k][number])

    assert happens_before(state(1, 2), state(0, 1), "ab")
    assert happens_before(state(0, 4), state(1, 5), "ab")
    assert not happens_before(state(0, 2), state(1, 3), "ab")
    assert consistent([state(0, 2), state(1, 3)])
    assert not consistent([state(0, 4), state(1, 3)])


@given(computations(max_events=10))
def test_consistent_states_are_pairwise_concurrent(arrivals):
    names = "pqrs"[: processes(arrivals)]
    windows = in_window(arrivals, [2] * len(names))
    for cut in brute_force(windows):
        states = [
            LocalState(p, clock) for k, p in enumerate(names) for clock in windows[k] if clock[k] == cut[k]
        ]
        assert consistent(states)
        assert not any(happens_before(a, b, names) for a in states for b in states if a is not b)


def test_sequence_repair_holds_early_states():
    repair = SequenceRepair(["p"], first=1)
    assert repair.arrive(LocalState("p", (3,))) == []
    assert len(repair.arrive(LocalState("p", (1,)))) == 1
    assert [s.clock for s in repair.arrive(LocalState("p", (2,)))] == [(2,), (3,)]


def test_clock_log_is_read_and_checked():
    lines = [
        '{"process": "a", "clock": {"a": 1}, "value": "go"}',
        "",
        '{"process": "b", "clock": {"a": 1, "b": 1}}',
    ]
    assert list(from_clock_log(lines, ["a", "b"])) == [
        LocalState("a", (1, 0), "go"),
        LocalState("b", (1, 1), None),
    ]
    with pytest.raises(ValueError, match="line 1: expected a JSON object with process and clock"):
        list(from_clock_log(["nonsense"], ["a"]))
    with pytest.raises(ValueError, match="line 1: unknown process 'z'"):
        list(from_clock_log(['{"process": "a", "clock": {"z": 1}}'], ["a"]))


def span(key, service, start, end, parent=None, **more):
    return {
        "span_id": key,
        "service": service,
        "start": start,
        "end": end,
        "parent_id": parent,
        "name": key,
        **more,
    }


def test_spans_become_a_computation_whose_lattice_knows_what_can_overlap():
    spans = [
        span("order", "shop", 0, 100),
        span("pay", "bank", 1005, 1010, "order"),
        span("pack", "depot", 2, 9, "order"),
        span("audit", "bank", 1020, 1030),
    ]
    states = from_spans(spans)
    services = ["bank", "depot", "shop"]

    def can(**names):
        def holds(bank, depot, shop):
            values = {"bank": bank, "depot": depot, "shop": shop}
            return all(name in values[service] for service, name in names.items())

        return any((LatticeWindow(services) | possibly(holds))(states))

    assert can(bank="pay", depot="pack", shop="order"), (
        "both were asked by the shop, neither knows of the other"
    )
    assert can(bank="audit", depot="pack"), "no message orders them"
    assert not can(bank="pay", shop="nothing")


def test_a_span_that_nobody_waits_for_may_outlive_its_parent():
    spans = [span("order", "shop", 0, 10), span("mail", "post", 500, 900, "order", kind="consumer")]
    states = from_spans(spans)
    window = LatticeWindow(["post", "shop"]) | possibly(lambda post, shop: post == ("mail",) and shop == ())
    assert any(window(states))


def test_contradictory_or_unknown_spans_are_refused():
    with pytest.raises(
        ValueError, match=r"span 'c' of service 'x' .* before its own cause: check the parents"
    ):
        from_spans(
            [
                span("a", "x", 0, 1),
                span("b", "y", 0, 1, "a"),
                span("c", "x", 5, 6, "d"),
                span("d", "y", 7, 8, "c"),
            ]
        )
    with pytest.raises(ValueError, match="unknown process 'x'"):
        from_spans([span("a", "x", 0, 1)], processes=["y"])
    with pytest.raises(ValueError, match="span 'a' of service 'x' ends before it starts: 1 < 2"):
        from_spans([span("a", "x", 2, 1)])
    with pytest.raises(ValueError, match="span 'a' of service 'y' came twice"):
        from_spans([span("a", "x", 0, 1), span("a", "y", 0, 1)])
    with pytest.raises(
        ValueError, match=r"span_id, service, start and end, got no start in \{'span_id': 'a'"
    ):
        from_spans([{"span_id": "a", "service": "x"}])
