"""Columns against pull over Python objects, in one run; all figures of one table are of one run.

Nothing here asserts a time: ratios are printed beside their goals, and the results are checked.
"""

import csv
import random
import resource
from collections import deque
from operator import add
from time import process_time

import numpy as np
import pyarrow as pa
import pytest

from millstream.lab.measure import best, rate, table
from millstream.palettes.columns import Gathered, Rows, columnar, loops, read_csv
from millstream.palettes.columns.frame import KEY, of_batch
from millstream.palettes.fsm import OTHERWISE, MooreMachine
from millstream.palettes.ltl import Monitor, Verdicts
from millstream.palettes.slicer import Slice
from millstream.palettes.windows import Window
from millstream.processors import Apply, Count, CsvRows, Cumulate, E, Filter, Fork, X, Y, chain, connect

pytestmark = pytest.mark.bench
N, SIZES = 1 << 20, (4096, 65536)
CHANCE = np.random.default_rng(1)


def values(array):
    return pa.record_batch([array], schema=pa.schema([("value", array.type)], {KEY: b"values"}))


def fork_filter_sum():
    fork, even, keep = Fork(2), Apply(X % 2 == 0), Filter()
    return connect(
        fork.outputs[0] >> keep.inputs[0], fork.outputs[1] >> even.inputs[0],
        even.outputs[0] >> keep.inputs[1],
    ) | Cumulate(add)  # fmt: skip


INTS = values(pa.array(CHANCE.integers(-1000, 1000, N)))
FLOATS = values(pa.array(CHANCE.random(N)))
KINDS = pa.record_batch({"kind": CHANCE.choice(["req", "ok", "x", "y"], N)})
FLAGS = pa.record_batch({"a": CHANCE.random(N) < 0.25, "b": CHANCE.random(N) < 0.25})
KEYED = pa.record_batch(
    {"user": CHANCE.integers(0, 10_000, N), "name": [f"u{k}" for k in CHANCE.integers(0, 10_000, N)]}
)
ATOMS = {"a": E.kind == "req", "b": E.kind == "ok"}
DOOR = {"shut": {"ok": "open", OTHERWISE: "shut"}, "open": {"req": "shut", OTHERWISE: "open"}}
QUERIES = {
    "five expressions": (chain([X + 1, X * 3, X - 2, X * 2, X + 7]), INTS, 20),
    "fork, filter, sum": (fork_filter_sum(), INTS, 20),
    **{f"int sum of {w}": (Window(Cumulate(add), w), INTS, 50) for w in (10, 100, 1000, 10_000)},
    **{f"float sum of {w}": (Window(Cumulate(add), w), FLOATS, 50) for w in (10, 100, 1000, 10_000)},
    **{f"max of {w}": (Window(Cumulate(max), w), INTS, 50) for w in (10, 100, 1000, 10_000)},
    "verdicts G(a -> F b), texts": (Verdicts("G (a -> F b)", atoms=ATOMS), KINDS, 20),
    "verdicts G(a -> F b), bools": (Verdicts("G (a -> F b)"), FLAGS, 20),
    "verdicts a -> O b, bools": (Verdicts("a -> O b"), FLAGS, 20),
    "monitor G(a -> X b), bools": (Monitor("G (a -> !(X a & X X a & X X X a & b))"), FLAGS, 20),
    "monitor G(a -> F b), rv, bools": (Monitor("G (a -> F b)", semantics="rv-ltl"), FLAGS, 20),
    "state machine, texts": (Apply(E.kind) | MooreMachine.from_table("shut", DOOR), KINDS, 20),
    "counts of 10k ints": (Slice(E.user, Count()), KEYED, 3),
    "counts of 10k texts": (Slice(E.name, Count()), KEYED, 3),
}


def drain(events):
    deque(events, maxlen=0)


def batches(batch, size):
    return [batch.slice(k, size) for k in range(0, batch.num_rows, size)]


@pytest.mark.parametrize("name", QUERIES)
def test_columns_against_pull(name, capsys, monkeypatch):
    monkeypatch.setattr(loops, "ENOUGH", 0)  # as in a process that has computed for a while
    query, batch, goal = QUERIES[name]
    events = of_batch(batch).events()
    columns = columnar(query)
    got = list(Rows(columns(batches(batch, 5000))))
    assert [str(x) for x in got] == [str(x) for x in query(events)]
    forms = [lambda: drain(query(events))]
    small, large = (batches(batch, size) for size in SIZES)
    together = Gathered(small) | columns
    forms += [lambda: drain(columns(small)), lambda: drain(together), lambda: drain(columns(large))]
    pull, *times = best(forms, 5)
    row = [rate(N / pull), *(f"{rate(N / t)} = {pull / t:.0f}x" for t in times)]
    with capsys.disabled():
        print(
            f"\n{name}: pull {row[0]}; batches of 4096 {row[1]}, gathered {row[2]}; of 65536 {row[3]} "
            f"(goal {goal}x)"
        )


def average():
    fork, total, count, mean = Fork(2), Cumulate(add), Count(), Apply(X / Y)
    return connect(
        fork.outputs[0] >> total.inputs[0], fork.outputs[1] >> count.inputs[0],
        total.outputs[0] >> mean.inputs[0], count.outputs[0] >> mean.inputs[1],
    )  # fmt: skip


def test_average_of_a_csv_file(tmp_path, capsys):
    path, chance = tmp_path / "a.csv", random.Random(1)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["kind", "celsius"])
        out.writerows([chance.choice(["temp", "wind"]), chance.randrange(100)] for _ in range(200_000))
    query = Apply(E.celsius) | average()
    columns = columnar(query)
    last = list(query(read_csv(path).rows()))[-1]
    assert list(Rows(columns(read_csv(path))))[-1] == last == list(query(CsvRows(path)))[-1]
    forms = [
        lambda: drain(query(CsvRows(path))),
        lambda: drain(query(read_csv(path).rows())),
        lambda: drain(columns(read_csv(path))),
    ]
    plain, rows, own = best(forms, 3)
    header = ("CsvRows", "read_csv().rows()", "columns", "columns/rows (goal 4)", "columns/CsvRows")
    figures = *(rate(200_000 / t) for t in (plain, rows, own)), f"{rows / own:.1f}", f"{plain / own:.1f}"
    with capsys.disabled():
        print("\n" + table([header, figures]))


@pytest.mark.parametrize("largest", [10**7, pytest.param(10**8, marks=pytest.mark.slow)])
def test_cost_and_memory_are_flat(largest, capsys, monkeypatch):
    """The same batch over and over: nothing but the state may grow."""
    monkeypatch.setattr(loops, "ENOUGH", 0)
    query = Apply(E.n) | Filter(X % 3 == 0) | Window(Cumulate(add), 1000) | Cumulate(max)
    batch = pa.record_batch({"n": CHANCE.integers(0, 1000, 65536)})
    drain(columnar(query)([batch] * 20))  # what is compiled or imported once
    rows = [("rows", "ns a row", "peak memory")]
    size = 10**5
    while size <= largest:
        begun = process_time()
        drain(columnar(query)(batch for _ in range(size // 65536 + 1)))
        spent = (process_time() - begun) / (size // 65536 + 1) / 65536
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows.append((f"{size:,}", f"{spent * 1e9:.1f}", f"{peak} MB"))
        size *= 10
    with capsys.disabled():
        print("\n" + table(rows))
