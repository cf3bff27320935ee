"""Little figures under watch: formulas about every character of a game.

A small seeded game: walkers turn at walls, and bash for a while now and then. An event is a snapshot of all
characters. Three properties: a basher bashes until it walks again, a blocker stays one, and no character
comes out of nothing. One game keeps to the rules, three have a rebel.

::

    in ──> Monitor(G forall i in BASHER: basher(i) U walker(i)) ──> bashing, and so for blocking

    in ──> Fork(2) ──┬──> Trim(1) ──┬──> Apply(E.ids <= Y.ids) ──> Monitor(G known) ──> creation
                     └──────────────┘

Prints:
fair      bashing TRUE, blocking TRUE, creation TRUE
stubborn  bashing FALSE, blocking TRUE, creation TRUE
slacker   bashing TRUE, blocking FALSE, creation TRUE
conjurer  bashing TRUE, blocking TRUE, creation FALSE
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from millstream.palettes.ltl import Monitor
from millstream.processors import Apply, E, Fork, Query, Trim, X, Y, connect

STATUSES = ("WALKER", "BASHER", "BLOCKER")


def game(rebel: str, ticks: int = 60) -> Iterator[dict[str, Any]]:
    """Yield snapshots: the characters, and for each status the numbers of those that have it."""
    chance = Random(7)
    figures: list[dict[str, Any]] = [{"id": i, "status": "WALKER", "x": 10 * i, "way": 1} for i in range(5)]
    for tick in range(ticks):
        for f in figures:
            if f["status"] == "WALKER":
                f["way"] *= 1 if 0 <= f["x"] + f["way"] <= 50 else -1
                f["x"] += f["way"]
                if chance.random() < 0.1 and tick < 50:
                    f.update(status="BASHER", until=tick + 4)
            elif f["status"] == "BASHER" and tick == f["until"]:
                f["status"] = "BLOCKER" if rebel == "stubborn" else "WALKER"
        if tick == 0:
            figures[1]["status"] = "BLOCKER"
        if tick == 30 and rebel == "slacker":
            figures[1]["status"] = "WALKER"
        if tick == 40 and rebel == "conjurer":
            figures.append({"id": 5, "status": "WALKER", "x": 0, "way": 1})
        numbers = {s: frozenset(f["id"] for f in figures if f["status"] == s) for s in STATUSES}
        yield {"characters": list(map(dict, figures)), "ids": frozenset().union(*numbers.values()), **numbers}


def queries() -> dict[str, Query]:
    """Return the properties; each gives the verdict on the snapshots so far."""
    roles = {s.lower(): lambda e, i, s=s: i in e[s] for s in STATUSES}
    snapshots, now, known = Fork(2), Trim(1), Apply(E.ids <= Y.ids)
    pairs = connect(
        snapshots.outputs[0] >> now.inputs[0],
        now.outputs[0] >> known.inputs[0],
        snapshots.outputs[1] >> known.inputs[1],
    )
    return {
        "bashing": Monitor("G forall i in BASHER: basher(i) U walker(i)", atoms=roles, semantics="ltlf"),
        "blocking": Monitor("G forall i in BLOCKER: G blocker(i)", atoms=roles, semantics="ltlf"),
        "creation": pairs | Monitor("G known", atoms={"known": X}, semantics="ltlf"),
    }


def main() -> None:
    """Judge four games."""
    for rebel in ("fair", "stubborn", "slacker", "conjurer"):
        verdicts = {name: list(query(game(rebel)))[-1] for name, query in queries().items()}
        print(f"{rebel:9}", ", ".join(f"{name} {verdict}" for name, verdict in verdicts.items()))


if __name__ == "__main__":
    main()
