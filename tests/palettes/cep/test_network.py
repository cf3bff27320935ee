"""The network finds exactly what the sequential execution finds, in whatever order workers work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.cep import Mode, Occurrence, before, both, either, on
from millstream.palettes.cep.carrier import Carrier, Sharing
from millstream.palettes.cep.forest import Analysis, Forest
from millstream.palettes.cep.network import Network
from millstream.palettes.cep.workshop import Workshop, do

from .strategies import MODES, TIMED, constructed, expressions, histories, is_one, leaves
from .test_definitions import detector, shape

FIGURE_1 = either("A", before("B", both("C", "D")))


def network(expression, mode, **options):
    return Network.of(Analysis.of(Forest.of(expression), mode), **options)


def put(net, event):
    return net.put(event.kind, event.time, event)


class VirtualCrew:
    """Workers that work when the schedule says so, each on its oldest request: no threads, no clock."""

    def __init__(self, net, size, draw):
        workshop = Workshop(net.analysis, None, "error")
        self.size, self.draw = size, draw
        self.benches = [workshop() for _ in range(size)]
        self.requests = [[] for _ in range(size)]

    def send(self, member, request):
        self.requests[member].append(request)

    def receive(self):
        member = self.draw(st.sampled_from([m for m in range(self.size) if self.requests[m]]))
        word, about = self.requests[member].pop(0)
        reply = self.benches[member]((word, about))
        return member, ((reply[0], 2e-3) if word == "do" else reply)

    def close(self):
        self.requests = None


def carried(net, history, strategy, data):
    """Put a history into a network while virtual workers work at random, and return what comes out."""
    crew = VirtualCrew(net, data.draw(st.integers(1, 3)), data.draw)
    carrier = Carrier(net, crew, Sharing.of(net, strategy))
    for event in history:
        beaten = put(net, event)
        if beaten or data.draw(st.booleans()):
            if strategy == "ups":
                net.beat()
            carrier.run()
    net.end()
    carrier.run()
    return [shape(entry[2]) for entry in net.found()]


@pytest.mark.parametrize("strategy", ["pps", "heartbeat", "ups", "hybrid"])
@given(expressions(), st.sampled_from(MODES), histories(min_size=6), st.data())
def test_network_equals_the_sequential_result_in_any_interleaving(strategy, tree, mode, history, data):
    expected = [shape(o) for o in detector(tree, mode)(history)]
    beat = 0 if strategy in ("pps", "ups") else data.draw(st.integers(1, 8))
    assert carried(network(tree, mode, beat=beat), history, strategy, data) == expected


@pytest.mark.parametrize("strategy", ["pps", "heartbeat", "ups", "hybrid"])
@given(constructed(constructed(leaves, TIMED)), st.sampled_from(MODES), histories(min_size=6), st.data())
def test_network_lets_time_pass_as_the_detector_does(strategy, tree, mode, history, data):
    expected = [shape(o) for o in detector(tree, mode)(history)]
    beat = 2 if strategy in ("heartbeat", "hybrid") else 0
    assert carried(network(tree, mode, beat=beat), history, strategy, data) == expected


# -- hearts


def test_heartbeats_let_results_out_while_an_operand_is_silent():
    history = [Occurrence("B", 1), Occurrence("C", 2), *(Occurrence("A", t) for t in range(3, 503))]
    silent, beating = network(FIGURE_1, Mode.CHRONICLE), network(FIGURE_1, Mode.CHRONICLE, beat=10)
    for net in (silent, beating):
        for event in history:
            put(net, event)
            net.run()
    assert len(silent.found()) == 0
    assert len(beating.found()) > 400


def test_collector_gives_what_it_has_at_a_heartbeat():
    net = network(either("A", "B"), Mode.CHRONICLE, beat=4, high=8)
    given = []
    for t in range(8):
        put(net, Occurrence("A", t))
        net.run()
        given.append(len(net.found()))
    assert given == [0, 0, 0, 4, 0, 0, 0, 4]


def test_hearts_of_disjoint_or_subtrees_adapt_to_their_own_events():
    net = network({"X": either("A", "B"), "Y": either("C", "D")}, Mode.ALL, beat=16, high=32)
    for t in range(400):
        put(net, Occurrence("A" if t % 50 else "C", t))
    busy, idle = (pacer.interval for _, pacer in net.hearts)
    assert [len(group) for group, _ in net.hearts] == [2, 2]
    assert busy < idle


def test_heart_beats_sooner_when_buffers_fill():
    net = network(FIGURE_1, Mode.CHRONICLE, beat=1000, high=20)
    net.hearts[0][1].interval = 1000
    assert [put(net, Occurrence("A", t)) for t in range(40)].count(True) == 2
    assert net.hearts[0][1].interval < 1000


# -- work


def test_batches_of_a_predicate_go_on_in_order_whoever_is_first():
    net = network(either(on(is_one), "B"), Mode.ALL)
    for t in range(4):
        put(net, Occurrence("A", t, {"v": 1}))
    net.beat()
    predicate = net.predicates[0]
    batches = [net.claim(predicate, most=2)[0] for _ in range(2)]
    for work in reversed(batches):
        assert net.found() == []
        net.deliver(work, do(net.stations, work))
    net.run()
    assert [entry[0] for entry in net.found()] == [0, 1, 2, 3]


def test_join_in_mode_all_is_shared_and_each_part_combines_its_own_entries():
    net = network(before("A", "B").within(9), Mode.ALL)
    for t, kind in enumerate("AABB"):
        put(net, Occurrence(kind, t))
    net.end()
    (index,) = net.stations
    works = net.claim(index, parts=2)
    results = [do(Workshop(net.analysis, None, "error")().stations, work) for work in works]
    assert [sum(len(found or ()) for found in r.found) for r in results] == [2, 2]
    for work, result in zip(works, results, strict=True):
        net.deliver(work, result)
    assert [str(e[2]) for e in net.found()] == [
        "(A.0, B.2, 2)", "(A.1, B.2, 2)", "(A.0, B.3, 3)", "(A.1, B.3, 3)"
    ]  # fmt: skip


def test_entries_of_conditions_walk_on_without_coming_back():
    chain = on(is_one).where(is_one).where(is_one)
    net = network(both(chain, "B"), Mode.CHRONICLE)
    assert len(Sharing.of(net, "ups").path(net.predicates[0], net.analysis, net.takers)) == 2
    assert Sharing.of(net, "pps").path(net.predicates[0], net.analysis, net.takers) == ()
    assert Sharing.of(net, "hybrid").spread == frozenset()
