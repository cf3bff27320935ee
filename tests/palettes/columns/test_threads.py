"""Runs of one columnar query in several threads at once do not disturb each other."""

from concurrent.futures import ThreadPoolExecutor
from operator import add

import numpy as np
import pytest

from millstream.palettes.columns import columnar
from millstream.palettes.columns.frame import of_batch
from millstream.palettes.ltl import Monitor, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Count, Cumulate, X

ATOMS = {"a": X % 5 == 0, "b": X % 7 == 0}
QUERIES = {
    "window": Window(Cumulate(add), 50),
    "slices": Slice(X % 13, Count()),
    "monitor": Monitor("G (a -> F b)", atoms=ATOMS, semantics="rv-ltl"),
    "verdicts": Verdicts("a -> X b", atoms=ATOMS),
}


@pytest.mark.parametrize("name", QUERIES)
def test_runs_in_threads_are_independent(name):
    query = columnar(QUERIES[name])

    def outputs(seed):
        numbers = np.random.default_rng(seed).integers(0, 100, 20_000)
        return [x for b in query(np.split(numbers, 40)) for x in of_batch(b).events()]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(outputs, range(8)))
    assert together == [outputs(seed) for seed in range(8)]
