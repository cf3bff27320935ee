"""The first query: pull it over a list, push events into it, save it and go on from there.

::

    in ──> Filter(X % 2 == 0) ──> Cumulate(add) ──> out

Prints:
pull: [2, 6, 12]
push: 2
push: 6
saved after 4 events
push: 12
once more: 12
"""

from operator import add

from millstream.processors import Cumulate, Filter, X

total = Filter(X % 2 == 0) | Cumulate(add)


def main() -> None:
    """Run the query in both directions."""
    print("pull:", list(total(range(1, 7))))

    run = total.into(lambda y: print("push:", y))
    run.push_all([1, 2, 3, 4])
    saved = run.save()
    print("saved after", *saved.positions, "events")
    run.push(6)

    again = total.into(lambda y: print("once more:", y))
    again.load(saved)
    again.push(6)


if __name__ == "__main__":
    main()
