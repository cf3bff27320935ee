"""Three real processes pass a token around; a checker proves that no two were ever in the critical section.

Each worker is an operating-system process. It stamps its local states with a vector clock, sends the clock
along with the token, and reports its states to the checker through a queue that mixes the workers in any
order. The checker builds the lattice of consistent global states, so its verdict covers every order that
could have happened, not only the one that did. A careless worker passes the token on before it leaves the
critical section: the checker finds that two may have been inside together, even when they were not.

::

    ann ──> bob ──> cid ──> ann        the token goes round, with a vector clock
     │       │       │
     └───────┴───────┴──> LatticeWindow(width=4) ──> possibly(two are critical) ──> verdicts

Prints:
careful: 27 local states, two in the critical section: never
careless: 27 local states, two in the critical section: possible
"""

from multiprocessing import Pipe, Process, Queue
from typing import Any

from millstream.palettes.lattice import LatticeWindow, Stamper, possibly

WORKERS = ["ann", "bob", "cid"]
ROUNDS = 2


def work(name: str, careful: bool, inbox: Any, outbox: Any, reports: Any) -> None:
    """Take the token from the left, do the critical work, pass it to the right; report every state."""
    stamp = Stamper(name, WORKERS)
    reports.put(stamp.start("idle"))
    for _ in range(ROUNDS):
        clock = inbox.recv()
        reports.put(stamp.receive(clock, "critical"))
        if careful:
            reports.put(stamp.local("idle"))
        sent = stamp.send("idle" if careful else "critical")
        outbox.send(sent.clock)
        reports.put(sent)
        if not careful:
            reports.put(stamp.local("idle"))
    reports.put(stamp.local("done"))
    reports.put(stamp.local("done"))


def monitor(careful: bool) -> str:
    """Run the workers and watch what they report."""
    reports: Queue[Any] = Queue()
    pipes = [Pipe(duplex=False) for _ in WORKERS]
    workers = []
    for k, name in enumerate(WORKERS):
        ends = (pipes[k][0], pipes[(k + 1) % len(WORKERS)][1])
        workers.append(Process(target=work, args=(name, careful, *ends, reports)))
        workers[-1].start()
    pipes[0][1].send(Stamper("ann", WORKERS).clock)  # the token enters
    total = len(WORKERS) * (3 + 3 * ROUNDS)
    together = LatticeWindow(WORKERS, width=4) | possibly(lambda *now: now.count("critical") > 1)
    verdicts = list(together(reports.get() for _ in range(total)))
    for worker in workers:
        worker.join()
    return f"{total} local states, two in the critical section: {'possible' if any(verdicts) else 'never'}"


if __name__ == "__main__":
    for kind in ("careful", "careless"):
        print(f"{kind}: {monitor(kind == 'careful')}")
