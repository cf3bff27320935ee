"""A loop: a thermostat that feels what it does.

A wire of a cycle carries an event from the start, which is the delay that the loop needs. Without it the
query is refused when it is built, and the error names the cycle.

::

            ┌──────────────────────────────────────┐ (starts with 15.0)
            v                                      │
    in ──> room ──> heating ──> Fork(2) ───────────┘
                                   └──> out

Prints:
16.5 17.6 18.7 20.0 22.0 20.3 19.7 19.3
refused: connect: a cycle without delay through Apply(room), Apply(heating), Fork()
"""

from millstream.processors import Apply, Fork, Query, QueryError, Wire, connect


def room(outside: float, inside: float) -> float:
    """Return the temperature after a while without heating."""
    return inside + 0.25 * (outside - inside)


def heating(inside: float) -> float:
    """Heat when it is cold."""
    return inside + 4 if inside < 19 else inside


def thermostat(start: float | None) -> Query:
    """Return the loop; without a start it cannot be built."""
    cooling, heat, fork = Apply(room), Apply(heating), Fork(2)
    back: Wire = fork.outputs[0] >> cooling.inputs[1]
    return connect(
        cooling.outputs[0] >> heat.inputs[0],
        heat.outputs[0] >> fork.inputs[0],
        back if start is None else back.after(start),
        inputs=[cooling.inputs[0]],
        outputs=[fork.outputs[1]],
    )


def main() -> None:
    """Let it run through a cold morning."""
    print(*(f"{t:.1f}" for t in thermostat(15.0)([5, 5, 6, 8, 12, 15, 18, 18])))
    try:
        thermostat(None)
    except QueryError as error:
        print("refused:", str(error).partition(";")[0])


if __name__ == "__main__":
    main()
