"""Stock ticks: two moving averages of one price, and the moments when they cross.

The price is forked; both branches are windows over a fold (sum and count), so neither gets slower with its
width. The long window starts later, and what joins them waits for it: the short one is trimmed to match.

::

    in ──> Apply(E.price) ──┬──> Window(average, 3) ──> Trim(3) ──┬──> Apply(sign) ──> changes ──> out
                            └──> Window(average, 6) ──────────────┘

Prints:
buy at tick 8
sell at tick 10
buy at tick 12
sell at tick 20
buy at tick 25
sell at tick 30
buy at tick 37
"""

from random import Random
from statistics import fmean

from millstream.palettes.windows import Window
from millstream.processors import Apply, E, Processor, Query, Trim, connect, processor, state

LONG, SHORT = 6, 3


@processor
class Changes(Processor):
    """Emit (position, event) whenever an event differs from the one before."""

    last: object = state(None)
    position: int = state(0)

    def step(self, x: object) -> None:
        """Compare with the event before."""
        if self.last is not None and x != self.last:
            self.emit((self.position, x))
        self.last = x
        self.position += 1


def crossings() -> Query:
    """Return the query: it tells when the short average rises above the long one, or falls below."""
    price, short, match, long = Apply(E.price), Window(fmean, SHORT), Trim(LONG - SHORT), Window(fmean, LONG)
    above = Apply(lambda s, m: "buy" if s > m else "sell")
    averages = connect(
        price.outputs[0] >> short.inputs[0],
        price.outputs[0] >> long.inputs[0],
        short.outputs[0] >> match.inputs[0],
        match.outputs[0] >> above.inputs[0],
        long.outputs[0] >> above.inputs[1],
    )
    return averages | Changes() | Apply(lambda c: f"{c[1]} at tick {c[0] + LONG - 1}")


def main() -> None:
    """Follow a random walk."""
    chance, price, ticks = Random(11), 100.0, []
    for _ in range(40):
        price = round(price + chance.gauss(0, 1), 2)
        ticks.append({"price": price})
    for signal in crossings()(ticks):
        print(signal)


if __name__ == "__main__":
    main()
