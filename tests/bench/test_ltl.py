"""Speed of temporal logic in pull, and its growth with bounds. Prints rates and ratios, asserts nothing."""

import random
from collections import deque
from time import process_time

import pytest

from millstream.palettes.ltl import Monitor, Verdicts
from millstream.processors import E

N = 200_000


class Event:
    __slots__ = ("kind",)

    def __init__(self, kind):
        self.kind = kind


@pytest.fixture(scope="module")
def events():
    """Random, but every request is answered within 8 events: the same verdicts for all bounds."""
    chance = random.Random(1)
    return [Event("ok" if i % 8 == 7 else chance.choice(("req", "ok", "x", "y"))) for i in range(N)]


ATOMS = {"a": E.kind == "req", "b": E.kind == "ok"}
QUERIES = {
    "verdicts G(a -> F b)": Verdicts("G (a -> F b)", atoms=ATOMS),
    "verdicts a -> F b": Verdicts("a -> F b", atoms=ATOMS),
    "verdicts G(a -> F[0,100] b)": Verdicts("G (a -> F[0,100] b)", atoms=ATOMS),
    "verdicts a U[5,100] b": Verdicts("a U[5,100] b", atoms=ATOMS),
    "earliest a -> F b": Verdicts("a -> F b", atoms=ATOMS, earliest=True),
    "monitor G(a -> F b)": Monitor("G (a -> F b)", atoms=ATOMS),
    "monitor G(a -> O b | F a)": Monitor("G (a -> O b | F a)", atoms=ATOMS),
}


@pytest.mark.bench
@pytest.mark.parametrize("name", QUERIES)
def test_bench_ltl(benchmark, events, name):
    query = QUERIES[name]
    benchmark.pedantic(lambda: deque(query(events), maxlen=0), rounds=5, warmup_rounds=1)
    print(f"\n{name}: {N / benchmark.stats.stats.min / 1e6:.1f} M events/s")


def rate(query, events):
    best = 0.0
    for _ in range(5):
        start = process_time()
        deque(query(events), maxlen=0)
        best = max(best, len(events) / (process_time() - start))
    return best


@pytest.mark.bench
@pytest.mark.parametrize("text", ["G (a -> F[0,{}] b)", "a -> F[2,{}] b", "a U[1,{}] b", "O[3,{}] a"])
def test_bench_ltl_bounds(events, text):
    rates = [rate(Verdicts(text.format(k), atoms=ATOMS), events) for k in (10, 100, 1000, 10_000, 100_000)]
    print(f"\n{text}: " + ", ".join(f"{r / 1e6:.2f}" for r in rates) + " M/s for bounds 10 to 100,000")
    print(f"fastest / slowest: {max(rates) / min(rates):.2f}")
