"""`Monitor`: one verdict per event about the whole trace."""

from __future__ import annotations

from typing import Any, Final

from attrs import field

from millstream.processors import Inline, Uniform, processor, state, transient
from millstream.processors.errors import ParameterError

from .base import Formula
from .letters import Leaves, branch
from .machine import Machine, State, machine
from .parser import parse
from .verdict import Verdict

SEMANTICS: Final = {"ltl3": "ltl3", "rv-ltl": "rv", "ltlf": "ltlf"}


@processor
class Monitor(Uniform):
    """Say after each event what is known about the formula at the first position.

    Parameters
    ----------
    formula : str or Formula
        Any propositional formula whose bounds count positions.
    atoms : dict, optional
        What each atom means: a function of the event or an expression. Without it, an atom is the event's
        field of that name.
    semantics : str
        ``"ltl3"``: TRUE or FALSE as soon as no continuation can change it, else UNKNOWN.
        ``"rv-ltl"``: the same, but PRESUMABLY_TRUE or PRESUMABLY_FALSE, as if the trace ended here.
        ``"ltlf"``: the verdict of the finite trace read so far; the last one is the verdict of the trace.

    Examples
    --------
    >>> events = [{"status": "OK"}, {"status": "DEAD"}, {"status": "OK"}]
    >>> list(Monitor("G !(status == 'DEAD')")(events))
    [UNKNOWN, FALSE, FALSE]
    >>> from millstream.processors import X
    >>> list(Monitor("a U b", atoms={"a": X == "a", "b": X == "b"}, semantics="rv-ltl")("aaba"))
    [PRESUMABLY_FALSE, PRESUMABLY_FALSE, TRUE, TRUE]

    References
    ----------
    Bauer, Leucker, Schallhart, *Runtime verification for LTL and TLTL*, ACM TOSEM 20(4), 2011.
    """

    formula: Formula = field(converter=parse)
    atoms: Any = field(default=None, kw_only=True)
    semantics: str = field(default="ltl3", kw_only=True)
    now: State = state(of=lambda self: self.machine().start(), copy=lambda s: s)
    _valuation: Any = transient()

    def __attrs_post_init__(self) -> None:
        if self.semantics not in SEMANTICS:
            known = ", ".join(SEMANTICS)
            raise ParameterError(f"Monitor: semantics must be one of {known}, got {self.semantics!r}")
        leaves = Leaves("Monitor", self.atoms)
        self._valuation = leaves.function(leaves.valuation(self.machine().letters))

    def machine(self) -> Machine:
        """Return the lazily built deterministic automaton that this monitor walks."""
        return machine(self.formula, self.semantics == "ltlf")

    def step(self, event: Any) -> Verdict:
        self.now = self.now.step(self._valuation(event))
        return getattr(self.now, SEMANTICS[self.semantics])  # type: ignore[no-any-return]

    def grow(self, event: Any) -> State:
        """Return the next state when it is reached by this event for the first time."""
        return self.now.step(self._valuation(event))

    def inline(self) -> Inline:
        leaves = Leaves("Monitor", self.atoms, event="{0}", written="{{{}}}")
        tests = [leaves.leaf(f) for f in self.machine().letters]
        return Inline(
            do=(
                "{y0} = {me}.now",
                "{y0} = " + branch(tests, "{y0}"),
                "if {y0} is None: {y0} = {me}.grow({0})",
                "{me}.now = {y0}",
            ),
            out=("{y0}." + SEMANTICS[self.semantics],),
            names=leaves.names,
        )
