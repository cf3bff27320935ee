"""Experiments of *A Parallel Algorithm for Correlating Event Streams*: speed-up of phased execution.

The paper reports one figure: two computation threads on two processors were about 1.5 times as fast as one,
beside the thread of the environment. It predicts a speed-up that is close to linear as long as vertices
compute for much longer than the data structures take.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from millstream.concurrency import PhasedGraph, ThreadManager
from millstream.lab import Claim, Row, Rows, Trial, claim, experiment
from millstream.lab.plots import lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAYERS, WIDTH, THREADS = 4, 6, (1, 2, 4)
#: of ten results, how many a vertex sends
SENT = {"dense": 10, "sparse": 3}
#: rounds of the loop in `Work` that take about a microsecond
ROUNDS = 25


class Work:
    """A vertex that computes for some microseconds, and sends `sent` of ten results.

    >>> sparse = Work(microseconds=1, sent=3)
    >>> [sparse(x) for x in (22, 7, 1)]
    [22, None, 1]
    """

    def __init__(self, microseconds: int, sent: int) -> None:
        self.rounds, self.sent = ROUNDS * microseconds, sent
        self.calls = 0

    def __call__(self, *values: int) -> int | None:
        """Compute, and send or not: the absence of a message is information."""
        self.calls += 1
        total = 0
        for k in range(self.rounds):
            total ^= k
        value = sum(values) % 1000
        return value if value % 10 < self.sent else None


def layered(work: Work) -> PhasedGraph:
    """Return a graph of layers; every vertex reads two of the layer before."""
    graph = PhasedGraph()
    for k in range(WIDTH):
        graph.add(f"v0.{k}")
    for layer in range(1, LAYERS + 1):
        for k in range(WIDTH):
            inputs = (f"v{layer - 1}.{k}", f"v{layer - 1}.{(k + 1) % WIDTH}")
            graph.add(f"v{layer}.{k}", work, *inputs, initial=0)
    return graph


@experiment(
    "phased",
    group="Correlating event streams in phases",
    title="Speed-up of phased execution with k threads",
    parameters={"messages": ["dense", "sparse"], "microseconds": [30, 100, 300, 1000]},
    quick={"microseconds": [300]},
)
def phased(trial: Trial, messages: str, microseconds: int) -> None:
    """Run a graph of 24 vertices one phase at a time, and in phases on k workers beside the environment.

    Workers are threads where Python lets them compute at the same time, and processes elsewhere. Dense: every
    vertex sends in every phase. Sparse: it sends 3 of 10 results, and vertices without a new input do not
    compute. All forms take turns in one process; their results are compared.
    """
    work = Work(microseconds, SENT[messages])
    graph = layered(work)
    count = max(10, (12_000 if trial.quick else 200_000) // (microseconds * LAYERS))
    phases = [(p, {f"v0.{k}": trial.random.randrange(1000) for k in range(WIDTH)}) for p in range(count)]
    expected = list(graph.run(phases))
    computed, work.calls = work.calls, 0
    with ExitStack() as stack:
        forms: dict[str, Any] = {"sequential": lambda: list(graph.run(phases))}
        for k in THREADS[: 2 if trial.quick else None]:
            manager = stack.enter_context(ThreadManager(k, "auto"))
            forms[f"k = {k}"] = lambda manager=manager: list(graph.run(phases, manager))
        results = trial.compare(forms, count, computed=computed, pairs=count * LAYERS * WIDTH)
    trial.check(
        all(result == expected for result in results.values()), "phases on workers give other results"
    )


@phased.table("Speed-up, in phases a second")
def speed_up(rows: Rows) -> list[Row]:
    """Show the speed-up over one worker as well, which is what the paper gives."""
    kept = ("messages", "microseconds", "pairs", "computed", "sequential Hz")
    return [
        {name: row[name] for name in kept}
        | {f"k = {k}": row.get(f"k = {k} / sequential") for k in THREADS}
        | {"k = 2 / k = 1": row["k = 2 Hz"] / row["k = 1 Hz"], "paper": 1.5}
        for row in rows
    ]


@phased.plot("Speed-up of two workers over one")
def against_work(rows: Rows, figure: Figure) -> None:
    """Draw the speed-up against the work of a vertex."""
    made, ys = speed_up(rows), ["k = 2 / k = 1", "paper"]
    lines(figure, made, "microseconds", ys, "times as fast", by="messages", log="x", dashed=["paper"])


@phased.claim
def gains(rows: Rows) -> list[Claim]:
    """Two workers are about 1.5 times as fast as one; absent messages save computing."""
    heavy = max(rows.column("microseconds"))
    dense, sparse = (rows.one(messages=m, microseconds=heavy) for m in ("dense", "sparse"))
    gain = dense["k = 2 Hz"] / dense["k = 1 Hz"]
    saved = sparse["sequential Hz"] / dense["sequential Hz"]
    return [
        claim(
            f"two workers against one, dense, {heavy} us a vertex", gain > 1.3, gain, "about 1.5 (from 1.3)"
        ),
        claim(
            "vertices without new messages do not compute",
            sparse["computed"] < dense["computed"],
            f"{sparse['computed'] / sparse['pairs']:.0%} of all pairs, {saved:.1f} times as fast",
            "yes",
        ),
    ]
