"""ConjunctiveWindow: local states in, verdicts on a conjunction of conditions out, without the lattice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from attrs import field

from millstream.processors import as_function, processor, state, transient
from millstream.processors.errors import one_of

from .clocks import LocalState
from .conjunctive import ConjunctiveDefinitely, ConjunctivePossibly
from .cuts import Windows
from .local_states import StateProcessor


@processor
class ConjunctiveWindow(StateProcessor):
    """Verdicts on a conjunction of local conditions, in polynomial time, without enumerating the lattice.

    For n processes and windows of w states, ``"possibly"`` costs O(n^2) an arrival, amortised;
    ``"definitely"`` looks at the whole window again with each arrival, in O(n^2 w).

    Parameters
    ----------
    processes, width, process, clock, value, first, patience, gap, duplicate
        As for `LatticeWindow`.
    where : dict
        A condition on the value of the local state, for each process; a process without one is always true.
    modality : {"possibly", "definitely"}
        Which verdict.

    Examples
    --------
    >>> from millstream.processors import X
    >>> both = ConjunctiveWindow("pq", width=2, where={"p": X == 1, "q": X == 1}, modality="possibly")
    >>> list(both([LocalState("p", (0, 0), 1), LocalState("q", (0, 0), 0), LocalState("q", (0, 1), 1)]))
    [False, False, True]
    """

    where: Mapping[str, Any] = field(factory=dict, kw_only=True)
    modality: Literal["possibly", "definitely"] = field(
        default="definitely", kw_only=True, validator=one_of("possibly", "definitely")
    )
    core: ConjunctivePossibly | ConjunctiveDefinitely = state(of=lambda self: self.new_core())
    conditions: tuple[Callable[[Any], Any], ...] = transient()

    def __attrs_post_init__(self) -> None:
        StateProcessor.__attrs_post_init__(self)
        self.check_names("where", self.where)

    def new_core(self) -> ConjunctivePossibly | ConjunctiveDefinitely:
        """Return the initial state of the algorithm."""
        windows = Windows(self.widths)
        return ConjunctivePossibly(windows) if self.modality == "possibly" else ConjunctiveDefinitely(windows)

    def prepare(self) -> None:
        """Compile the conditions, too."""
        StateProcessor.prepare(self)
        self.conditions = tuple(as_function(self.where.get(p, lambda _: True)) for p in self.processes)

    def advance(self, local: LocalState) -> None:
        """Send the verdict after the next state of a process."""
        k = self.repair.index[local.process]
        self.emit(self.core.feed(k, tuple(local.clock), bool(self.conditions[k](local.value))))
