"""Every general processor, and a few compositions, against the law suite."""

from operator import add

import pytest
from hypothesis import strategies as st

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
    Group,
    Insert,
    KeepLast,
    Multiplex,
    Pack,
    Passthrough,
    Prefix,
    Processor,
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
    Y,
    connect,
    processor,
    state,
)
from millstream.processors.testing import check_processor

ints = st.integers(-5, 5)
bools = st.booleans()
lists = st.lists(ints, max_size=3)


def half(x):
    return x // 2


def is_big(x):
    return x > 2


def running_feedback():
    adder = Apply(add)
    wire = (adder.outputs[0] >> adder.inputs[1]).after(0)
    return connect(wire, inputs=[adder.inputs[0]], outputs=[adder.outputs[0]])


CASES = [
    (Apply(X + 1), ints),
    (Apply(half), ints),
    (Apply(add), ints, ints),
    (Apply(X - Y), ints, ints),
    (Apply(divmod, ins=2, outs=2), ints, st.integers(1, 4)),
    (Filter(X > 0), ints),
    (Filter(is_big), ints),
    (Filter(E.flag), st.fixed_dictionaries({"flag": bools})),
    (Filter(), ints, bools),
    (Cumulate(add), ints),
    (Cumulate(add), lists),
    (Cumulate(max, start=0), ints),
    (Cumulate(X + Y * 2, start=1), ints),
    (Count(), ints),
    (Passthrough(), ints),
    (Fork(3), ints),
    (Constant("c"), ints),
    (Tap(half), ints),
    (Switch(2), st.integers(0, 1), ints, ints),
    (Trim(2), ints),
    (Trim(0), ints),
    (Prefix(2), ints),
    (Decimate(3), ints),
    (Decimate(1), ints),
    (Decimate(3, last=True), ints),
    (Freeze(), ints),
    (KeepLast(), ints),
    (Insert(0, 2), ints),
    (DetectEnd(X == 3), ints),
    (Stutter(2), ints),
    (Stutter(), ints, st.integers(0, 3)),
    (Pack(), ints, bools),
    (Pack(X > 2), ints),
    (Unpack(), lists),
    (RunOn(Cumulate(add)), lists),
    (RunOn(Trim(1) | KeepLast()), lists),
    (ResetLast(Cumulate(add) | Trim(1)), ints, bools),
    (FindPattern("a(b*)a"), st.text("ab", max_size=4)),
    (Multiplex(2), ints, ints),
    (Splice(3), ints, ints, ints),
    (Divert(X % 3, 3), ints),
    (Group(Filter(X > 0) | Cumulate(add), "positive sum"), ints),
    (Fork(2) | (Filter(X > 2) & Passthrough()) | Apply(add), ints),
    (Filter(X > 2) & Passthrough() | Apply(add), ints, ints),
    (running_feedback(), ints),
    (Apply(X + 1) | Trim(1) | Insert(0) | Decimate(2, last=True) | Pack(X > 3), ints),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: repr(c[0]))
def test_processor_obeys_the_laws(case):
    check_processor(*case, max_examples=12)


def test_laws_find_a_mutable_state_shared_between_copies():
    shared = []

    @processor
    class Leaky(Uniform):
        seen: list = state(of=lambda self: shared)

        def step(self, x):
            self.seen.append(x)
            return len(self.seen)

    with pytest.raises(AssertionError, match="expected"):
        check_processor(Leaky(), ints, pickles=False)


def test_laws_find_an_output_that_changes_later():
    @processor
    class Growing(Uniform):
        seen: list = state(of=lambda self: [])

        def step(self, x):
            self.seen.append(x)
            return self.seen

    with pytest.raises(AssertionError, match=r"expected .*, got"):
        check_processor(Growing(), ints, pickles=False)


def test_laws_find_state_outside_of_state_fields():
    counter = []

    @processor
    class Hidden(Processor):
        def step(self, x):
            counter.append(x)
            self.emit(len(counter))

    with pytest.raises(AssertionError, match="deterministic"):
        check_processor(Hidden(), ints, pickles=False)
