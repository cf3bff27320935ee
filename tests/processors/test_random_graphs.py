"""Random graphs: the engine, push and pull, against the brute-force interpreter."""

from operator import add, sub

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.processors.reference import interpret

from millstream.processors import (
    Apply,
    Count,
    Cumulate,
    Decimate,
    Filter,
    Fork,
    Group,
    Insert,
    KeepLast,
    Pack,
    Passthrough,
    Prefix,
    Stutter,
    Trim,
    Unpack,
    X,
    connect,
)
from millstream.processors.testing import give, in_turn, pulled, pushed

MAKERS = [
    lambda: Apply(X + 1),
    lambda: Apply(add),
    lambda: Apply(sub),
    lambda: Apply(lambda x: (x, -x), outs=2),
    lambda: Filter(X % 2 == 0),
    lambda: Filter(),
    lambda: Cumulate(add),
    lambda: Count(),
    lambda: Trim(1),
    lambda: Prefix(3),
    lambda: Decimate(2),
    lambda: Decimate(2, last=True),
    lambda: Insert(7),
    lambda: KeepLast(),
    lambda: Stutter(2),
    lambda: Fork(2),
    lambda: Passthrough(),
    lambda: Pack(X > 3) | Unpack(),
    lambda: Group(Filter(X > 0) | Cumulate(add)),
]


@st.composite
def graphs(draw):
    """A graph with one or two inputs, up to eight processors, any wiring, and one or two outputs."""
    doors = [Passthrough() for _ in range(draw(st.integers(1, 2)))]
    sources = [d.outputs[0] for d in doors]
    wires = []
    for make in draw(st.lists(st.sampled_from(MAKERS), min_size=1, max_size=8)):
        query = make()
        for port in query.inputs:
            wires.append(draw(st.sampled_from(sources)) >> port)
        sources.extend(query.outputs)
    outputs = draw(st.lists(st.sampled_from(sources), min_size=1, max_size=2))
    return connect(*wires, inputs=[d.inputs[0] for d in doors], outputs=outputs)


def traces(query):
    ints = st.lists(st.integers(-3, 6), max_size=9)
    return st.tuples(*[ints] * query.arity[0])


@settings(max_examples=400)
@given(st.data())
def test_push_and_pull_equal_the_interpreter_on_any_graph(data):
    query = data.draw(graphs())
    inputs = data.draw(traces(query))
    expected = interpret(query, in_turn(inputs))
    assert pushed(query, inputs) == expected
    assert pushed(query, inputs, counting=True) == expected
    assert pushed(query, inputs, on_error="skip") == expected
    assert pulled(query, inputs) == expected


@settings(max_examples=150)
@given(st.data())
def test_saved_state_of_any_graph_continues_identically(data):
    query = data.draw(graphs())
    trace = in_turn(data.draw(traces(query)))
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


@settings(max_examples=100)
@given(st.data())
def test_picture_of_any_graph_can_be_drawn(data):
    query = data.draw(graphs())
    drawing = query.draw()
    assert drawing.svg.startswith("<svg")
    assert drawing.mermaid
    assert drawing.dot
