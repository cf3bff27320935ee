"""Auctions: bids must rise, and nothing may happen to an item that was sold.

Three ways to say rules about each item: a first-order formula over the whole log, a state machine for each
item, and a query that keeps a number. All of them find the violation in the moment it happens.

::

    in ──> Violations("bid(i, n) & Y O bid(i, m) -> n > m") ──> rising
    in ──> Slice(X[1], MooreMachine(new -> open -> sold)) ──> Filter(X[1] == "foul") ──> foul
    in ──> Filter(X[0] == "bid") ──> Slice(X[1], Apply(X[2]) | Cumulate(max)) ──> highest

Prints:
not rising: ('bid', 'vase', 51) {'i': 'vase', 'n': 51, 'm': 55}
foul: chair
highest bids: {'chair': 20, 'vase': 55}
"""

from millstream.palettes.fol import Violations
from millstream.palettes.fsm import OTHERWISE, MooreMachine, On
from millstream.palettes.slicer import Slice
from millstream.processors import Apply, Cumulate, Filter, X

LOG = [
    ("create", "chair", 10), ("bid", "chair", 5), ("create", "vase", 50), ("bid", "chair", 12),
    ("bid", "vase", 55), ("bid", "vase", 51), ("sold", "chair"), ("bid", "chair", 20), ("sold", "vase"),
]  # fmt: skip

rising = Violations("bid(i, n) & Y O bid(i, m) -> n > m")
life = MooreMachine(
    "new",
    [
        On("new", X[0] == "create", "open"),
        On("open", X[0] == "bid", "open"),
        On("open", X[0] == "sold", "sold"),
        On("new", OTHERWISE, "foul"),
        On("open", OTHERWISE, "foul"),
        On("sold", OTHERWISE, "foul"),
        On("foul", OTHERWISE, "foul"),
    ],
    {"new": "new", "open": "open", "sold": "sold", "foul": "foul"},
)
foul = Slice(X[1], life) | Filter(X[1] == "foul") | Apply(X[0])
highest = Filter(X[0] == "bid") | Slice(X[1], Apply(X[2]) | Cumulate(max), snapshot=True)


def main() -> None:
    """Apply all three."""
    for violation in rising(LOG):
        print("not rising:", LOG[violation.position], violation.bindings[0])
    print("foul:", *foul(LOG))
    *_, last = highest(LOG)
    print("highest bids:", dict(last))


if __name__ == "__main__":
    main()
