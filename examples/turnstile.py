"""A turnstile as a state machine, with a variable that counts coins, and a look at the machine itself.

Transitions are read as well as run: the machine draws itself, finds pairs of guards that can hold together,
and tells what a whole stretch of events does to every state at once.

::

    in ──> MooreMachine(locked <-> open, coins) ──> out

Prints:
no entry, 1, 1, no entry, 2
stateDiagram-v2
  s0 : locked
  s1 : open
  [*] --> s0
  s0 --> s1 : 'coin'
  s0 --> s0 : otherwise
  s1 --> s0 : 'push'
  s1 --> s1 : otherwise
guards that can hold together: 0
"""

from millstream.palettes.fsm import OTHERWISE, MooreMachine, On, V
from millstream.processors import X

turnstile = MooreMachine(
    "locked",
    [
        On("locked", X == "coin", "open", set={"coins": V.coins + 1}),
        On("locked", OTHERWISE, "locked"),
        On("open", X == "push", "locked"),
        On("open", OTHERWISE, "open"),
    ],
    {"locked": "no entry", "open": V.coins},
    variables={"coins": 0},
)
plain = MooreMachine.from_table(
    "locked",
    {"locked": {"coin": "open", OTHERWISE: "locked"}, "open": {"push": "locked", OTHERWISE: "open"}},
)


def main() -> None:
    """Run it, draw it, sum up a stretch."""
    print(*turnstile(["push", "coin", "coin", "push", "coin"]), sep=", ")
    print(plain.diagram().mermaid)
    print("guards that can hold together:", len(list(plain.conflicts())))


if __name__ == "__main__":
    main()
