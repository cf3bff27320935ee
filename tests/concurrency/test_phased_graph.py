"""Phased graphs: what vertices see, and that any schedule gives the outputs of one phase at a time."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.concurrency import (
    PhasedGraph,
    PhasedState,
    by_time,
    from_toml,
    from_xml,
    from_yaml,
    load_specification,
)
from millstream.concurrency.phased import run_task
from millstream.processors import Cumulate, Filter, Fork, QueryError, StreamError, X

from .test_phases import graphs


def values(phases):
    return [phase.values for phase in phases]


def test_vertex_runs_only_if_an_input_changed():
    ran = []
    graph = PhasedGraph()
    graph.add("a")
    graph.add("b")
    graph.add("pair", lambda a, b: ran.append((a, b)) or (a, b), "a", "b")
    phases = [(1, {"a": 1, "b": 10}), (2, {}), (3, {"b": 20}), (4, {"a": 2})]
    assert values(graph.run(phases)) == [{"pair": (1, 10)}, {}, {"pair": (1, 20)}, {"pair": (2, 20)}]
    assert ran == [(1, 10), (1, 20), (2, 20)]


def test_vertex_waits_for_a_first_value_unless_it_has_an_initial_one():
    graph = PhasedGraph()
    graph.add("a")
    graph.add("b")
    graph.add("waits", lambda a, b: (a, b), "a", "b")
    graph.add("begins", lambda a, b: (a, b), "a", "b", initial=0)
    assert values(graph.run([(1, {"a": 1}), (2, {"b": 2})])) == [
        {"begins": (1, 0)},
        {"waits": (1, 2), "begins": (1, 2)},
    ]


def test_vertex_that_returns_nothing_sends_nothing():
    graph = PhasedGraph()
    graph.add("x")
    graph.add("large", lambda x: x if x > 2 else None, "x")
    graph.add("seen", lambda x: x, "large")
    assert values(graph.run((k, {"x": k}) for k in range(1, 5))) == [{}, {}, {"seen": 3}, {"seen": 4}]


def test_vertex_may_be_a_query_with_state():
    graph = PhasedGraph()
    graph.add("x")
    graph.add("sum", Filter(X > 1) | Cumulate(lambda a, b: a + b), "x")
    assert values(graph.run((k, {"x": k}) for k in (1, 2, 3))) == [{}, {"sum": 2}, {"sum": 5}]


def test_vertex_may_read_one_part_of_a_result():
    graph = PhasedGraph()
    graph.add("time", lambda t: t)
    graph.add("fork", Fork(2), "time")
    graph.add("parts", divmod, ("fork", 1), ("fork", 0))
    graph.add("rest", abs, ("parts", 1))
    assert values(graph.run(2)) == [{"rest": 0}, {"rest": 0}]


def test_source_function_is_told_the_time():
    graph = PhasedGraph()
    graph.add("odd", lambda t: t if t % 2 else None)
    assert values(graph.run(3)) == [{"odd": 1}, {}, {"odd": 3}]


def test_failure_comes_after_all_earlier_phases():
    graph = PhasedGraph()
    graph.add("x")
    graph.add("inverse", lambda x: 1 / x, "x")
    run = graph.run((k, {"x": k}) for k in (2, 1, 0, 5))
    assert [next(run).values, next(run).values] == [{"inverse": 0.5}, {"inverse": 1.0}]
    with pytest.raises(StreamError, match="place vertex 'inverse': ZeroDivisionError") as failed:
        next(run)
    assert failed.value.position == 2
    assert isinstance(failed.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: g.add("a"), "there are two vertices named 'a'"),
        (lambda g: g.add("b", None, "a"), "vertex 'b' has inputs but nothing that computes"),
        (lambda g: g.add("b", 3, "a"), "vertex 'b' is a function or a query, got 3"),
        (lambda g: g.add("b", Filter(), "a"), "vertex 'b': Filter() has 2 inputs, given 1"),
        (lambda g: g.add("b", lambda x, y: x, "a"), "does not take 1 values"),
        (lambda g: list(g.run([(1, {"z": 1})])), "there is no source 'z' that takes values from outside"),
        (lambda g: g.run([], ahead=0), "ahead must be an integer of at least 1, got 0"),
        (lambda g: list(PhasedGraph().run(1)), "a phased graph needs at least one vertex"),
    ],
)
def test_graph_refuses(make, message):
    graph = PhasedGraph()
    graph.add("a")
    with pytest.raises(QueryError) as refused:
        make(graph)
    assert message in str(refused.value)


def test_by_time_refuses_two_values_at_one_time_and_time_that_goes_backwards():
    with pytest.raises(ValueError, match="source 'a' has two values at time 1"):
        list(by_time({"a": [(1, 2), (1, 3)]}))
    with pytest.raises(ValueError, match="time goes backwards, from 2 to 1"):
        list(by_time({"a": [(2, 2), (1, 3)]}))


def mixing(name, changes):
    """Return a stateful computation that sometimes returns nothing, and fails on one value."""
    seen = [0]

    def compute(*front):
        seen[0] = (seen[0] * 31 + sum(front) + name) % 97
        if seen[0] == 96:
            raise ValueError(f"{name} cannot go on")
        return seen[0] if seen[0] % changes else None

    return compute


def random_graph(vertices, edges, changes):
    graph = PhasedGraph()
    for v in vertices:
        before = [f"v{a}" for a, b in edges if b == v]
        graph.add(f"v{v}", mixing(v, changes) if before or v % 2 else None, *before, initial=0)
    return graph


def outcome(phases):
    """Return the phases, and the failure that ended them as text."""
    over = []
    try:
        for phase in phases:
            over.append(phase)
    except StreamError as error:
        return over, (error.place, error.event, error.position, error.reason)
    return over, None


@given(graphs(), st.integers(2, 4), st.integers(1, 6), st.data())
def test_any_schedule_gives_what_one_phase_at_a_time_gives(graph, changes, count, data):
    vertices, edges = graph
    fed = [f"v{v}" for v in vertices if v % 2 == 0 and not any(b == v for _, b in edges)]
    choices = st.dictionaries(st.sampled_from(fed), st.integers(0, 9)) if fed else st.just({})
    given_values = [(k, data.draw(choices)) for k in range(1, count + 1)]
    expected = outcome(random_graph(vertices, edges, changes).run(given_values))
    assert outcome(scheduled(random_graph(vertices, edges, changes), given_values, data)) == expected


def scheduled(graph, given_values, data):
    """Run with all phases in flight at once, tasks in the order that hypothesis chooses."""
    state = PhasedState(graph.plan)
    computations = [v.what and v.computation() for v in graph.plan.vertices]
    tasks = [task for time, values in given_values for task in state.start(time, values)]
    while tasks:
        task = tasks.pop(data.draw(st.integers(0, len(tasks) - 1)))
        tasks += run_task(state, task, computations[task.vertex - 1])
        yield from state.take()
        if state.has_failed:
            raise state.failure
    yield from state.take()
    assert state.in_flight == 0


class Walk:
    """A source of random values."""

    def __init__(self, seed, stride=1):
        from random import Random

        self.random, self.at, self.stride = Random(seed), 0, stride

    def __call__(self, time):
        self.at += self.random.choice((-self.stride, 0, self.stride))
        return self.at


TOML = """
steps = 20
seed = 7
[vertices.walk]
class = "WHERE:Walk"
parameters = { stride = 2 }
[vertices.pair]
function = "builtins:divmod"
inputs = ["walk", "time"]
[vertices.rest]
function = "builtins:abs"
inputs = [["pair", 1]]
[vertices.time]
function = "builtins:int"
"""
XML = """<computation steps="20" seed="7">
  <vertex name="walk" class="WHERE:Walk"><parameter name="stride" value="2"/></vertex>
  <vertex name="pair" function="builtins:divmod"><input name="walk"/><input name="time"/></vertex>
  <vertex name="rest" function="builtins:abs"><input name="pair" part="1"/></vertex>
  <vertex name="time" function="builtins:int"/>
</computation>"""
YAML = """
steps: 20
seed: 7
vertices:
  walk: {class: "WHERE:Walk", parameters: {stride: 2}}
  pair: {function: "builtins:divmod", inputs: [walk, time]}
  rest: {function: "builtins:abs", inputs: [[pair, 1]]}
  time: {function: "builtins:int"}
"""


@pytest.mark.parametrize(
    ("ending", "text", "read"),
    [("xml", XML, from_xml), ("toml", TOML, from_toml), ("yaml", YAML, from_yaml), ("yml", YAML, from_yaml)],
)
def test_specification_files_agree(ending, text, read, tmp_path):
    if ending in ("yaml", "yml"):
        pytest.importorskip("yaml")
    expected = values(from_toml(TOML.replace("WHERE", __name__)).run())
    path = tmp_path / f"spec.{ending}"
    path.write_text(text.replace("WHERE", __name__))
    assert values(load_specification(path).run()) == expected
    assert values(read(path.read_text()).run()) == expected
    assert len({v["rest"] for v in expected}) > 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps: [", "the specification is not YAML: "),
        ("- 1", "a specification has steps and vertices, got [1]"),
        ("seed: 1", "a specification has steps (an integer), perhaps a seed, and vertices; got seed"),
    ],
)
def test_specification_refuses_yaml(text, message):
    pytest.importorskip("yaml")
    with pytest.raises(QueryError) as refused:
        from_yaml(text)
    assert message in str(refused.value)


def test_specification_says_what_yaml_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(QueryError, match=r"needs PyYAML: pip install 'millstream\[yaml\]'"):
        from_yaml(YAML)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = 1", "a specification has steps (an integer), perhaps a seed, and vertices; got seed"),
        ('steps = 1\n[vertices.a]\nclass = "no.such:Thing"', "vertex 'a': cannot find 'no.such:Thing'"),
        ("steps = 1\n[vertices.a]\ninputs = []", "vertex 'a' has a class or a function"),
    ],
)
def test_specification_refuses(text, message):
    with pytest.raises(QueryError) as refused:
        from_toml(text)
    assert message in str(refused.value)


def test_specification_refuses_other_files(tmp_path):
    with pytest.raises(QueryError, match=r"a specification is an \.xml, \.toml or \.yaml file"):
        load_specification(tmp_path / "spec.ini")
