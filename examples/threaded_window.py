"""A window with threads inside: the program of Figure 5 in Hallé, Khoury and Gaboury.

Wrapping the processor inside the window is all: its steps are handed to the workers of a manager. Two of
the four lines are those of the ordinary version. The outputs are the same, with any number of workers, and
a manager without any is the sequential run.

::

    in ──> Window(NonBlockingProcessor(Cumulate(add), manager), 10) ──> out

Prints:
with workers: 45 55 65 75 85 95
plain:        45 55 65 75 85 95
no workers:   45 55 65 75 85 95
"""

from operator import add

from millstream.concurrency import NonBlockingProcessor, ThreadManager, assert_equivalent
from millstream.palettes.windows import Window
from millstream.processors import Cumulate


def main() -> None:
    """Run the window plainly and with workers, and compare."""
    plain = Window(Cumulate(add), 10)
    with ThreadManager(4) as manager:
        total = Cumulate(add)
        inner = NonBlockingProcessor(total, manager)
        window = Window(inner, 10)
        print("with workers:", *window(range(15)))
        print("plain:       ", *plain(range(15)))
        assert_equivalent(plain, window, [list(range(200))])
    with ThreadManager(0) as nobody:
        print("no workers:  ", *Window(NonBlockingProcessor(Cumulate(add), nobody), 10)(range(15)))


if __name__ == "__main__":
    main()
