"""Building queries: piping, wiring by ports, groups, and what is refused when a query is built."""

import pickle
from operator import add

import pytest

from millstream.processors import (
    Apply,
    Cumulate,
    E,
    Filter,
    Fork,
    Group,
    KeepLast,
    Multiplex,
    ParameterError,
    Passthrough,
    Prefix,
    Processor,
    QueryError,
    Stutter,
    Ticks,
    Trim,
    Uniform,
    X,
    Y,
    as_query,
    chain,
    connect,
    processor,
    state,
)


def test_pipe_lifts_functions_and_expressions():
    assert list((Filter(X > 1) | str | X.upper())([1, 2])) == ["2"]
    assert list((X + 1 | Cumulate(add))([1, 2])) == [2, 5]


def test_iterable_piped_into_a_query_is_pulled():
    assert list([1, 2, 3] | Cumulate(add)) == [1, 3, 6]


def test_processor_used_twice_is_a_template():
    count = Cumulate(add)
    assert list((count | count)([1, 1, 1])) == [1, 3, 6]
    assert list(count([5])) == [5]


def test_side_by_side_keeps_the_order_of_ports():
    query = Apply(X + 1) & Apply(X * 10)
    assert query.arity == (2, 2)
    left, right = query([1, 2], [3, 4])
    assert (list(left), list(right)) == ([2, 3], [30, 40])


def test_output_wired_twice_forks_by_itself():
    plus, minus, pair = Apply(X + 1), Apply(X - 1), Apply(lambda a, b: (a, b))
    start = Passthrough()
    query = connect(
        start.outputs[0] >> plus.inputs[0],
        start.outputs[0] >> minus.inputs[0],
        plus.outputs[0] >> pair.inputs[0],
        minus.outputs[0] >> pair.inputs[1],
    )
    assert list(query([10])) == [(11, 9)]


def test_connect_takes_whole_queries_as_boxes():
    evens = Filter(X % 2 == 0) | Apply(X * 10)
    both = Multiplex(2)
    query = connect(
        evens.outputs[0] >> both.inputs[0],
        inputs=[evens.inputs[0], both.inputs[1]],
        outputs=[both.outputs[0]],
    )
    assert list(query([1, 2], ["a", "b"])) == [20, "a", "b"]


def test_cycle_with_an_event_on_its_wire_runs():
    adder = Apply(add)
    wire = (adder.outputs[0] >> adder.inputs[1]).after(100)
    query = connect(wire, inputs=[adder.inputs[0]], outputs=[adder.outputs[0]])
    assert list(query([1, 2, 3])) == [101, 103, 106]


def test_cycle_that_runs_dry_ends_in_pull_as_in_push():
    adder, keep = Apply(add), Filter(X < 3)
    query = connect(
        adder.outputs[0] >> keep.inputs[0],
        (keep.outputs[0] >> adder.inputs[1]).after(0),
        inputs=[adder.inputs[0]],
        outputs=[adder.outputs[0]],
    )
    out: list = []
    query.into(out).push_all([1, 1, 1, 1, 1])
    assert list(query([1, 1, 1, 1, 1])) == out == [1, 2, 3]


def test_group_is_one_node_and_runs_like_its_content():
    group = Group(Filter(X > 0) | Cumulate(add), "positive sum")
    assert len((group | Trim(1)).nodes) == 2
    assert list((group | Trim(1))([1, -1, 2, 3])) == [3, 6]


def test_group_inside_group_tells_its_place():
    query = Group(Group(Apply(X / 0), "inner"), "outer")
    with pytest.raises(Exception, match="place 0:outer/0:inner/0:Apply"):
        list(query([1]))


def test_query_pickles_with_its_graph():
    query = Fork(2) | (Filter(X > 2) & Passthrough()) | Apply(add)
    assert list(pickle.loads(pickle.dumps(query))([1, 2, 3, 4])) == list(query([1, 2, 3, 4]))


def test_query_prints_as_it_is_typed():
    assert repr(Filter(X % 2 == 0) | Cumulate(add)) == "Filter(X % 2 == 0) | Cumulate(add)"
    assert repr(Cumulate(max, start=0)) == "Cumulate(max, 0)"
    assert repr(Apply(divmod, ins=2, outs=2)) == "Apply(divmod, 2, 2)"
    assert repr(Apply(divmod, outs=2)) == "Apply(divmod, outs=2)"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Fork(2) | Apply(X),
            r"cannot pipe Fork\(\) into Apply\(X\): 2 outputs for 1 input; wire ports",
        ),
        (lambda: Apply(X) | 5, "expected a query, a function or an expression, got 5"),
        (lambda: Apply(5), "Apply: function must be a function or an expression of X, Y, E, got 5"),
        (lambda: Apply(add, ins=3), "Apply: add takes 2 events at a time, not 3"),
        (lambda: Filter(X + Y), "takes 2 events at a time, a condition takes one"),
        (lambda: Filter("x > 1"), "condition must be a function or an expression"),
        (lambda: Cumulate(len), "Cumulate: len takes 1 arguments, a fold value and event"),
        (lambda: Trim(-1), "Trim: n must be an integer of at least 0, got -1"),
        (lambda: Prefix(2.5), "Prefix: n must be an integer of at least 0, got 2.5"),
        (lambda: Stutter(True), "Stutter: n must be an integer of at least 0, got True"),
        (lambda: Fork(0), "Fork: ways must be an integer of at least 1, got 0"),
        (lambda: Ticks(0), "Ticks: every must be a positive number of seconds, got 0"),
        (lambda: connect(1), "connect: expected wires such as"),
        (lambda: Apply(X).inputs[0] >> Apply(X).inputs[0], "a wire goes from an output to an input"),
        (lambda: Apply(X).into(print, print), r"Apply\(X\) has 1 outputs, got 2"),
        (lambda: Apply(X)([1], [2]), r"Apply\(X\) has 1 inputs, got 2"),
        (lambda: Apply(X)(5), "is called on iterables of events, got 5"),
        (lambda: Apply(X).into(object()), "expected a sink"),
        (lambda: Apply(X).into(print, on_error="ignore"), "on_error must be 'raise', 'skip' or a sink"),
        (lambda: Apply(X).into(print, full="wait"), "full must be 'error', 'drop_newest' or 'drop_oldest'"),
        (lambda: Apply(X).into(print, capacity=0), "capacity must be an integer of at least 1, got 0"),
    ],
)
def test_bad_query_is_refused_where_it_is_built(build, message):
    with pytest.raises(QueryError, match=message):
        build()


def test_parameter_errors_are_value_errors():
    assert issubclass(ParameterError, QueryError)
    assert issubclass(QueryError, ValueError)


def test_unconnected_input_is_named_with_its_port():
    fork, keep = Fork(2), Filter()
    with pytest.raises(
        QueryError, match=r"unconnected inputs: Fork\(\)\.inputs\[0\], Filter\(\)\.inputs\[1\]"
    ):
        connect(fork.outputs[0] >> keep.inputs[0], outputs=[keep.outputs[0]])
    with pytest.raises(QueryError, match=r"Filter\(\)\.inputs\[1\] is not connected"):
        connect(fork.outputs[0] >> keep.inputs[0], inputs=[fork.inputs[0]], outputs=[keep.outputs[0]])


def test_input_wired_twice_is_named():
    a, b, c = Apply(X), Apply(X + 1), Apply(X + 2)
    with pytest.raises(
        QueryError, match=r"Apply\(X \+ 2\)\.inputs\[0\] is wired twice; merge streams with Multiplex"
    ):
        connect(a.outputs[0] >> c.inputs[0], b.outputs[0] >> c.inputs[0])


def test_cycle_without_delay_is_named():
    adder, next_ = Apply(add), Apply(X + 1)
    with pytest.raises(QueryError, match=r"a cycle without delay through .*Apply\(add\).*\.after\(event\)"):
        connect(
            adder.outputs[0] >> next_.inputs[0],
            next_.outputs[0] >> adder.inputs[1],
            inputs=[adder.inputs[0]],
            outputs=[adder.outputs[0]],
        )


def test_initial_events_need_a_queue():
    a, b = Apply(X), Apply(X + 1)
    with pytest.raises(QueryError, match="cannot hold initial events"):
        connect((a.outputs[0] >> b.inputs[0]).after(1))


def test_missing_port_is_named():
    a, b = Apply(X), Apply(X + 1)
    wire = a.outputs[0] >> b.inputs[0]
    object.__setattr__(wire.target, "index", 3)
    with pytest.raises(QueryError, match=r"has no inputs\[3\], only 1 of them"):
        connect(wire)


def test_declared_types_are_compared():
    def length(text: str) -> int:
        return len(text)

    def shout(text: str) -> str:
        return text.upper()

    with pytest.raises(
        QueryError,
        match=r"Apply\(length\)\.outputs\[0\] gives int, but Apply\(shout\)\.inputs\[0\] takes str",
    ):
        Apply(length) | Apply(shout)
    with pytest.raises(QueryError, match=r"gives int, but .* takes str"):
        Group(Apply(length)) | Group(Apply(shout))
    assert list((Apply(shout) | Apply(length))(["ab"])) == [2]


def test_class_without_decorator_is_named():
    class Forgotten(Processor):
        def step(self, x):
            self.emit(x)

    with pytest.raises(QueryError, match="Forgotten: decorate the class with @processor"):
        list(Forgotten()([1]))


def test_processor_without_step_is_named():
    @processor
    class Empty(Processor):
        pass

    with pytest.raises(Exception, match="Empty: define step"):
        list(Empty()([1]))


def test_own_processor_in_ten_lines_runs_everywhere():
    @processor
    class Runs(Processor):
        least: int = 2
        last: object = state(None)
        length: int = state(0)

        def step(self, x):
            if x != self.last:
                self.end()
                self.last, self.length = x, 0
            self.length += 1

        def end(self):
            if self.length >= self.least:
                self.emit((self.last, self.length))

    assert list(Runs()("aabccc")) == [("a", 2), ("c", 3)]
    assert list((Apply(X.upper()) | Runs(3))("aabccc")) == [("C", 3)]


def test_subclass_that_changes_the_step_does_not_keep_the_inline_form():
    @processor
    class Loud(Filter):
        def step(self, x, *keep):
            self.emit(x * 2)

    assert list(Loud(X > 100)([1, 2])) == [2, 4]

    @processor
    class Late(Apply):
        def step(self, x):
            return x - 1

    assert list(Late(X + 1)([1, 2])) == [0, 1]


def test_uniform_with_an_end_may_emit_there():
    @processor
    class Total(Uniform):
        value: int = state(0)

        def step(self, x):
            self.value += x
            return x

        def end(self):
            self.emit(self.value)

    assert list(Total()([1, 2])) == [1, 2, 3]
    out: list = []
    with Total().into(out) as run:
        run.push_all([1, 2])
    assert out == [1, 2, 3]


def test_ten_thousand_inline_processors_in_a_chain():
    query = chain([X + 1] * 10_000)
    assert list(query([0, 1])) == [10_000, 10_001]
    out: list = []
    query.into(out).push(0)
    assert out == [10_000]


def test_ten_thousand_emitting_processors_in_a_chain():
    @processor
    class Next(Processor):
        def step(self, x):
            self.emit(x + 1)

    query = chain([Next()] * 10_000 + [KeepLast(), Next()])
    out: list = []
    run = query.into(out)
    run.push_all([0, 1])
    run.end()
    assert out == [10_002]
    assert list(query([0, 1])) == out


def test_as_query_refuses_what_cannot_run():
    with pytest.raises(QueryError, match="expected a query"):
        as_query("text")


def test_expression_in_a_condition_of_python_is_refused():
    with pytest.raises(TypeError, match=r"has no truth value until an event comes: write & \| ~"):
        bool(E.a > 1)


def test_parameter_that_is_an_expression_prints_unless_it_is_the_default():
    @processor
    class Timed(Processor):
        time: object = E.t

        def step(self, x):
            self.emit(x)

    assert repr(Timed()) == "Timed()"
    assert repr(Timed(E.time)) == "Timed(E.time)"
    assert list(Timed(E.t)([1])) == list(Timed(E.time)([1])) == [1]
