"""PPS with heartbeats finds exactly what the sequential execution finds, in whatever order stations work."""

from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.cep import Mode, Occurrence, before, both, either, on
from millstream.palettes.cep.forest import Analysis, Forest
from millstream.palettes.cep.network import Network, do

from .strategies import MODES, SELECTORS, TIMED, constructed, histories, is_one
from .test_definitions import detector, shape

names = st.one_of(st.sampled_from("ABCD").map(on), st.just(on(is_one)))
trees = st.one_of(
    constructed(st.one_of(names, constructed(names), constructed(names, SELECTORS))),
    constructed(st.one_of(names, constructed(names, SELECTORS)), SELECTORS),
)
FIGURE_1 = either("A", before("B", both("C", "D")))


def network(expression, mode, **options):
    return Network.of(Analysis.of(Forest.of(expression), mode), **options)


def carried(net, history, data):
    """Put a history into a network while its stations work at random, and return what comes out."""
    for event in history:
        net.put(event.kind, event.time, event)
        for index in data.draw(st.lists(st.sampled_from(sorted(net.stations)), max_size=4)):
            if (work := net.claim(index)) is not None:
                net.deliver(index, do(net.stations, work))
    net.end()
    net.run()
    return [shape(entry[2]) for entry in net.found()]


@settings(max_examples=120)
@given(trees, st.sampled_from(MODES), histories(min_size=6), st.integers(1, 8), st.data())
def test_network_equals_the_sequential_result_in_any_interleaving(tree, mode, history, interval, data):
    expected = [shape(o) for o in detector(tree, mode)(history)]
    assert carried(network(tree, mode, interval=interval), history, data) == expected


@settings(max_examples=60)
@given(constructed(constructed(names, TIMED)), st.sampled_from(MODES), histories(min_size=6), st.data())
def test_network_lets_time_pass_as_the_detector_does(tree, mode, history, data):
    expected = sorted(repr(shape(o)) for o in detector(tree, mode)(history))
    assert sorted(map(repr, carried(network(tree, mode, interval=2), history, data))) == expected


def test_heartbeats_let_results_out_while_an_operand_is_silent():
    net = network(FIGURE_1, Mode.CHRONICLE, interval=10)
    for event in [Occurrence("B", 1), Occurrence("C", 2), *(Occurrence("A", t) for t in range(3, 503))]:
        net.put(event.kind, event.time, event)
        net.run()
    assert len(net.found()) > 450


def test_heartbeats_come_more_often_when_buffers_fill():
    net = network(FIGURE_1, Mode.CHRONICLE, interval=1000, high=20)
    for event in (Occurrence("A", t) for t in range(200)):
        net.put(event.kind, event.time, event)
        net.run()
    assert net.hearts[0][1].interval < 1000
    assert len(net.found()) > 150


def test_disjoint_or_subtrees_beat_on_their_own():
    net = network({"X": either("A", "B"), "Y": either("C", "D")}, Mode.ALL)
    assert [len(group) for group, _ in net.hearts] == [2, 2]


def test_station_is_worked_on_by_one_carrier_at_a_time():
    net = network(both("A", "B"), Mode.CHRONICLE)
    for event in (Occurrence("A", 1), Occurrence("B", 1), Occurrence("A", 2), Occurrence("B", 2)):
        net.put(event.kind, event.time, event)
    (index,) = net.stations
    first = net.claim(index)
    net.put("A", 3, Occurrence("A", 3))
    net.beat()
    assert net.claim(index) is None
    net.deliver(index, do(net.stations, first))
    assert net.claim(index) is not None
