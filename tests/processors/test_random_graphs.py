"""Random graphs: the engine, push and pull, against the brute-force interpreter."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.processors.reference import interpret

from millstream.processors.testing import give, in_turn, pulled, pushed
from millstream.processors.testing.strategies import queries, traces

EVENTS = st.integers(-3, 6)


@settings(max_examples=200)
@given(st.data())
def test_push_and_pull_equal_the_interpreter_on_any_graph(data):
    query = data.draw(queries())
    inputs = data.draw(traces(query, EVENTS))
    expected = interpret(query, in_turn(inputs))
    assert pushed(query, inputs) == expected
    assert pushed(query, inputs, counting=True) == expected
    assert pushed(query, inputs, on_error="skip") == expected
    assert pulled(query, inputs) == expected


@settings(max_examples=75)
@given(st.data())
def test_saved_state_of_any_graph_continues_identically(data):
    query = data.draw(queries())
    trace = in_turn(data.draw(traces(query, EVENTS)))
    cut = data.draw(st.integers(0, len(trace)))
    outs = [[] for _ in range(query.arity[1])]
    run = query.into(*outs)
    give(run, trace[:cut])
    other_outs = [list(o) for o in outs]
    other = query.into(*other_outs)
    other.load(run.save())
    for r in (run, other):
        give(r, trace[cut:])
        r.end()
    assert other_outs == outs == interpret(query, trace)


@given(st.data())
def test_picture_of_any_graph_can_be_drawn(data):
    query = data.draw(queries())
    drawing = query.draw()
    assert drawing.svg.startswith("<svg")
    assert drawing.mermaid
    assert drawing.dot
