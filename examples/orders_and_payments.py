"""Orders and payments: two streams joined, mixed, and told apart again.

A processor with two inputs takes one event of each; Multiplex takes whatever comes, and Divert sends events
on by a condition. What waits on a wire is part of the state, and a capacity bounds it.

::

    orders ────┐
               ├──> Apply(E.sum - Y.sum) ──> open amounts
    payments ──┘

    orders ────┐
               ├──> Multiplex(2) ──> Divert(E.sum > 50) ──┬──> small
    payments ──┘                                          └──> large

Prints:
open: 0 30
small: 20 20 50 large: 80 60
waiting at the two inputs: 2 0
refused: 0:Apply: input 0 holds 2 events and waits for the other inputs
"""

from millstream.processors import Apply, BufferFullError, Divert, E, Multiplex, Y

ORDERS = [{"id": 1, "sum": 20}, {"id": 2, "sum": 80}, {"id": 3, "sum": 60}]
PAYMENTS = [{"id": 1, "sum": 20}, {"id": 2, "sum": 50}]

open_amounts = Apply(E.sum - Y.sum)
mixed = Multiplex(2) | Divert(E.sum > 50)


def main() -> None:
    """Run both queries, then let one input run ahead of the other."""
    print("open:", *open_amounts(ORDERS, PAYMENTS))
    small, large = mixed(ORDERS, PAYMENTS)
    print("small:", *(e["sum"] for e in small), "large:", *(e["sum"] for e in large))

    run = open_amounts.into(print, capacity=2)
    run.push(ORDERS[0], 0)
    run.push(ORDERS[1], 0)
    print("waiting at the two inputs:", *run.statistics().processors[0].waiting)
    try:
        run.push(ORDERS[2], 0)
    except BufferFullError as error:
        print("refused:", str(error).partition(";")[0])


if __name__ == "__main__":
    main()
