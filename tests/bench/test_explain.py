"""What it costs to remember where outputs come from; runs that do not are the same code as ever."""

from operator import add

import pytest

from millstream.lab.measure import best
from millstream.palettes.slicer import Slice
from millstream.processors import Apply, Cumulate, Filter, X

QUERIES = {
    "filter and sum": Filter(X % 3) | Apply(X * 2) | Cumulate(add),
    "slices": Slice(X % 100, Cumulate(max)),
}

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("name", QUERIES)
def test_explaining_against_an_ordinary_run(name, benchmark):
    query, events = QUERIES[name], list(range(5000))

    def run(**options):
        query.into(out := [], **options).push_all(events)
        return out

    plain, explained = best([run, lambda: run(explain=100)])
    benchmark.extra_info["times slower"] = round(explained / plain, 1)
    print(f"\n{name}: explaining takes {explained / plain:.0f} times as long")
    assert benchmark(run) == run(explain=100)
