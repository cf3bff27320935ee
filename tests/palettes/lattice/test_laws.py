"""Every processor of the palette obeys the laws of processors."""

import pytest
from hypothesis import strategies as st

from millstream.palettes.lattice import (
    ConjunctiveWindow,
    Definitely,
    Lattices,
    LatticeWindow,
    LocalState,
    Possibly,
)
from millstream.processors import Filter, Uniform, X, Y, processor, state
from millstream.processors.testing import check_processor


@processor
class Stamped(Uniform):
    """Turns (process, other, value) into a local state of the process that has heard of the other."""

    clocks: list = state(of=lambda _: [(-1, 0), (0, -1)])

    def step(self, event):
        k, other, value = event
        clock = list(map(max, self.clocks[k], self.clocks[other], (0, 0)))
        clock[k] = self.clocks[k][k] + 1
        self.clocks[k] = tuple(clock)
        return LocalState("pq"[k], tuple(clock), value)


@processor
class Swapped(Uniform):
    """Turns a stream into one where each event comes again one event later, as from a careless channel."""

    last: LocalState | None = state(None)

    def step(self, event):
        last, self.last = self.last, event
        return last or event


events = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2))
OPTIONS = {"gap": "fill", "duplicate": "drop", "patience": 1}


@pytest.mark.parametrize("width", [1, 3, None, {"p": 2}], ids=str)
@pytest.mark.parametrize("then", [None, Lattices(), Possibly(X == Y), Definitely(X == Y)], ids=repr)
def test_lattice_window(width, then):
    query = Stamped() | LatticeWindow("pq", width)
    check_processor(query if then is None else query | then, events, max_examples=10)


@pytest.mark.parametrize("modality", ["possibly", "definitely"])
@pytest.mark.parametrize("width", [1, 3])
def test_conjunctive_window(modality, width):
    query = Stamped() | ConjunctiveWindow("pq", width, where={"p": X > 0, "q": X > 0}, modality=modality)
    check_processor(query, events, max_examples=15)


@pytest.mark.parametrize("query", [LatticeWindow("pq", 2, **OPTIONS), ConjunctiveWindow("pq", 2, **OPTIONS)])
def test_repair_of_lost_and_repeated_states(query):
    channel = Stamped() | Swapped() | Filter(X[2] > 0)
    check_processor(channel | query, events, max_examples=15)
