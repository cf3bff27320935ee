"""Possibly and Definitely as processors: changes of the lattice in, verdicts out."""

from __future__ import annotations

from typing import Any

from attrs import field

from millstream.processors import Uniform, as_function, processor, state, transient
from millstream.processors.lineage import Tracker

from .change import Change
from .predicates import DefinitelyCore, PossiblyCore, Predicate


@processor
class Verdict(Uniform):
    """What both have in common: a predicate on one local value of each process, in order."""

    predicate: Any = field()
    core: Any = state()
    function: Predicate = transient()

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the change, which are those of the whole window."""
        return Tracker(limit)

    def prepare(self) -> None:
        """Compile the predicate, if it is an expression."""
        self.function = as_function(self.predicate)

    def step(self, change: Change) -> bool:
        """Follow a change of the lattice."""
        verdict: bool = self.core.feed(change, self.function)
        return verdict


@processor
class Possibly(Verdict):
    """Tell after each change whether some global state of the window satisfies a predicate on local values.

    Parameters
    ----------
    predicate
        A function of one value for each process, in order; for two processes also an expression of X and Y.

    Examples
    --------
    >>> from millstream.palettes.lattice import LatticeWindow, LocalState
    >>> meet = LatticeWindow("pq", width=2) | possibly(lambda p, q: p == q)
    >>> list(meet([LocalState("p", (0, 0), 1), LocalState("q", (0, 0), 2), LocalState("q", (0, 1), 1)]))
    [False, False, True]
    """

    core: PossiblyCore = state(of=lambda _: PossiblyCore())


@processor
class Definitely(Verdict):
    """Tell after each change whether every path from C_min to C_max meets a predicate of the local values.

    Parameters
    ----------
    predicate
        A function of one value for each process, in order; for two processes also an expression of X and Y.

    Examples
    --------
    >>> from millstream.palettes.lattice import LatticeWindow, LocalState
    >>> from millstream.processors import X, Y
    >>> meet = LatticeWindow("pq", width=2) | definitely(X == Y)
    >>> list(meet([LocalState("p", (0, 0), 1), LocalState("q", (0, 0), 2), LocalState("q", (0, 1), 1)]))
    [False, False, True]
    """

    core: DefinitelyCore = state(of=lambda _: DefinitelyCore())


#: as the modalities are written
possibly = Possibly
definitely = Definitely
