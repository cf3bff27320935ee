"""Possibly and Definitely as processors: changes of the lattice in, verdicts out."""

from __future__ import annotations

from typing import Any

from attrs import field

from millstream.processors import Uniform, as_function, processor, state, transient

from .change import Change
from .local_states import copy_core
from .predicates import DefinitelyCore, PossiblyCore, Predicate


@processor
class Possibly(Uniform):
    """Verdicts: does some consistent global state in the window satisfy the predicate? See `possibly`."""

    predicate: Any = field()
    core: PossiblyCore = state(of=lambda _: PossiblyCore(), copy=copy_core)
    function: Predicate = transient()

    def prepare(self) -> None:
        """Compile the predicate, if it is an expression."""
        self.function = as_function(self.predicate)

    def step(self, change: Change) -> bool:
        """Follow a change of the lattice."""
        return self.core.feed(change, self.function)


@processor
class Definitely(Uniform):
    """Verdicts: does every path through the window's lattice meet the predicate? See `definitely`."""

    predicate: Any = field()
    core: DefinitelyCore = state(of=lambda _: DefinitelyCore(), copy=copy_core)
    function: Predicate = transient()

    def prepare(self) -> None:
        """Compile the predicate, if it is an expression."""
        self.function = as_function(self.predicate)

    def step(self, change: Change) -> bool:
        """Follow a change of the lattice."""
        return self.core.feed(change, self.function)


def possibly(predicate: Predicate) -> Possibly:
    """Tell after each change whether some global state of the window satisfies a predicate on local values.

    Examples
    --------
    >>> from millstream.palettes.lattice import LatticeWindow, LocalState
    >>> meet = LatticeWindow("pq", width=2) | possibly(lambda p, q: p == q)
    >>> list(meet([LocalState("p", (0, 0), 1), LocalState("q", (0, 0), 2), LocalState("q", (0, 1), 1)]))
    [False, False, True]
    """
    return Possibly(predicate)


def definitely(predicate: Predicate) -> Definitely:
    """Tell after each change whether every path from C_min to C_max meets a predicate of the local values.

    Examples
    --------
    >>> from millstream.palettes.lattice import LatticeWindow, LocalState
    >>> meet = LatticeWindow("pq", width=2) | definitely(lambda p, q: p == q)
    >>> list(meet([LocalState("p", (0, 0), 1), LocalState("q", (0, 0), 2), LocalState("q", (0, 1), 1)]))
    [False, False, True]
    """
    return Definitely(predicate)
