"""A processor of one's own: debounce a noisy button, and count the presses that remain.

Configuration is declared as fields, state with state(), and the step emits what comes out. That is all: it
pipes, runs in push and pull, and is checked by the same laws as the processors that come with millstream.

::

    in ──> Debounce(quiet=3) ──> Filter(X) ──> Count() ──> out

Prints:
bounces: 1011100001000
settled: [True, False]
presses: 1
the laws hold
"""

from hypothesis import strategies as st

from millstream.processors import Count, Filter, Processor, X, processor, state
from millstream.processors.testing import check_processor


@processor
class Debounce(Processor):
    """Emit a level once it has been stable for `quiet` events, if it differs from the level before."""

    quiet: int = 3
    level: bool = state(False)
    candidate: bool = state(False)
    stable: int = state(0)

    def step(self, x: bool) -> None:
        """Count how long the candidate has been stable."""
        self.stable = self.stable + 1 if x == self.candidate else 1
        self.candidate = x
        if self.stable >= self.quiet and x != self.level:
            self.level = x
            self.emit(x)


def main() -> None:
    """Debounce one press, and check the laws."""
    bounces = [c == "1" for c in "1011100001000"]
    print("bounces:", "".join(str(int(b)) for b in bounces))
    print("settled:", list(Debounce(quiet=3)(bounces)))
    presses = Debounce(quiet=3) | Filter(X) | Count()
    print("presses:", *presses(bounces))
    check_processor(Debounce(2), st.booleans(), max_examples=20)
    print("the laws hold")


if __name__ == "__main__":
    main()
