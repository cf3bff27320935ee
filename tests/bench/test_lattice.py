"""Lattice windows: conjunctive predicates without a lattice; memory per state.

The paper's figures are measured by the lab (``millstream lab run 'office*'``). Nothing here asserts a time:
run with ``-s`` to see the figures; sizes are checked against the lattice's own count.
"""

import tracemalloc

import pytest

from millstream.lab.papers.smart_office import Office
from millstream.palettes.lattice import ConjunctiveWindow, LatWin

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("modality", ["possibly", "definitely"])
@pytest.mark.parametrize("processes", [3, 9, 20])
def test_conjunctive_speed_needs_no_lattice(benchmark, processes, modality):
    office = Office(processes, hours=0.5)
    states = [reading.state for reading in office.readings()]
    query = ConjunctiveWindow(office.names, 4, where=dict.fromkeys(office.names, bool), modality=modality)
    assert len(benchmark(lambda: list(query(states)))) == len(states)


def test_memory_of_a_state_is_printed():
    office = Office(8, hours=0.3)
    states = [reading.state for reading in sorted(office.readings())]
    tracemalloc.start()
    lattice = LatWin.of([4] * 8)
    for state in states:
        lattice.arrive(office.names.index(state.process), tuple(state.clock))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"\n{len(lattice)} states, {held / len(lattice):.0f} bytes each")
    assert len(lattice) == len(lattice.cuts())
