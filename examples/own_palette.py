"""A palette of one's own: a package in the namespace millstream.palettes, made, installed and used here.

There is no __init__.py in millstream/ nor in millstream/palettes/, so that packages of different projects
stand side by side. The folder is put on the path as an installation would do it.

::

    in ──> Smooth(0.5) ──> Apply(round) ──> out

Prints:
Smooth(0.5) | Apply(<lambda>)
4 6.0 7.0 3.5
6.0 8.0 4.0
"""

import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from millstream.processors import Apply

PACKAGE = '''
"""Smoothing for noisy numbers."""

from millstream.processors import Uniform, processor, state

__all__ = ["Smooth"]


@processor
class Smooth(Uniform):
    """Give the exponential average of the numbers so far."""

    weight: float
    average: float | None = state(None)

    def step(self, x):
        self.average = x if self.average is None else self.average + self.weight * (x - self.average)
        return self.average
'''


def main() -> None:
    """Write the package, import it, and use it beside the palettes that come with millstream."""
    with TemporaryDirectory() as project:
        folder = Path(project, "millstream", "palettes", "smoothing")
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(PACKAGE)
        (folder / "py.typed").touch()
        sys.path.append(project)
        smoothing = import_module("millstream.palettes.smoothing")
        windows = import_module("millstream.palettes.windows")
        query = smoothing.Smooth(0.5) | Apply(lambda x: round(x, 2))
        print(query)
        print(*query([4, 8, 8, 0]))
        print(*windows.Window(query, 2)([4, 8, 8, 0]))


if __name__ == "__main__":
    main()
