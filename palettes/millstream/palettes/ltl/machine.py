"""The deterministic monitor of a formula: sets of tableau spots, numbered and connected as events demand.

A `State` stands for all that matters of a prefix: the spots that would make the formula true and those that
would make its negation true. If none of the former is live the verdict is false for good, if none of the
latter it is true for good. States are interned per machine, machines per formula, so that a saved state
finds its place again in another process.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from attrs import define, field

from .base import Formula
from .letters import TREE
from .nnf import Next, Node, translate
from .tableau import BUDGET, OvergrownError, Spot, Tableau
from .verdict import Verdict

Spots = frozenset[Spot]


class Entries:
    """Outgoing steps, one for each valuation of the letters: attributes for few letters, a table for more."""

    __slots__ = ("row", *(f"n{v}" for v in range(1 << TREE)))
    row: dict[int, Any]

    def __init__(self) -> None:
        self.row = {}
        for v in range(1 << TREE):
            setattr(self, f"n{v}", None)

    def enter(self, valuation: int, entry: Any) -> None:
        """Remember where a valuation leads."""
        self.row[valuation] = entry
        if valuation < 1 << TREE:
            setattr(self, f"n{valuation}", entry)


class State(Entries):
    """A state; ``verdict`` is True, False or None (open), ``final`` the verdict if the trace ended."""

    __slots__ = ("__weakref__", "against", "final", "ltl3", "ltlf", "machine", "rv", "spots", "verdict")

    def __init__(
        self, machine: Machine, spots: Spots, against: Spots, verdict: bool | None, final: bool
    ) -> None:
        super().__init__()
        self.machine, self.spots, self.against = machine, spots, against
        self.verdict, self.final = verdict, final
        self.ltl3, self.ltlf = Verdict.of(verdict), Verdict.of(final)
        presumed = Verdict.PRESUMABLY_TRUE if final else Verdict.PRESUMABLY_FALSE
        self.rv = presumed if verdict is None else self.ltl3

    def __repr__(self) -> str:
        return f"State({self.ltl3}, final={self.final})"

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: object) -> State:
        return self

    def __reduce__(self) -> Any:
        m = self.machine
        return restore, (m.formula, m.finite, m.tableau.budget, self.spots, self.against, self.verdict)

    def step(self, valuation: int) -> State:
        """Return the state after one more event."""
        found = self.row.get(valuation)
        return found if found is not None else self.machine.advance(self, valuation)


@define(eq=False, weakref_slot=True)
class Machine:
    """All states of a formula seen so far."""

    formula: Formula
    finite: bool
    tableau: Tableau
    states: dict[Any, State] = field(factory=dict, repr=False)
    #: states found when the budget was spent: they live as long as somebody is there
    passing: WeakValueDictionary[Any, State] = field(factory=WeakValueDictionary, repr=False)
    #: work spent on states and steps
    spent: int = 0
    #: whether the budget is enough to know which states are decided
    fits: bool = field(init=False)
    letters: tuple[Formula, ...] = field(init=False)
    roots: tuple[Node, Node] = field(init=False)
    #: the spots that know the past but expect nothing, before the first event
    origin: Spots = field(init=False)

    def __attrs_post_init__(self) -> None:
        form = self.tableau.form
        self.letters, self.roots = form.letters, (form.root, form.negated)
        self.origin = frozenset({(form.start, frozenset(self.tableau.constraints()))})
        try:
            self.start()
            self.fits = not self.tableau.exhausted
        except OvergrownError:
            self.fits = False

    def remembers(self, cost: int) -> bool:
        """Spend some work; return whether its result should be kept."""
        self.spent += cost
        return self.spent <= self.tableau.budget

    def start(self, past: Spots | None = None) -> State:
        """Return the state before the event where the formula is asked, given what is known of the past."""
        past = self.origin if past is None else past
        spots, against = (frozenset((m, o | {Next(r, True)}) for m, o in past) for r in self.roots)
        return self.intern(spots, against)

    def intern(self, spots: Spots, against: Spots, verdict: bool | None = None) -> State:
        """Return the state of these spots; decided states are all one."""
        if verdict is None:
            live = self.tableau.live
            verdict = False if not any(map(live, spots)) else True if not any(map(live, against)) else None
        key = (spots, against) if verdict is None else verdict
        found = self.states.get(key) or self.passing.get(key)
        if found is None:
            final = verdict if verdict is not None else any(map(Tableau.can_stop, spots))
            kept = (spots, against) if verdict is None else (frozenset[Spot](), frozenset[Spot]())
            found = State(self, *kept, verdict, final)
            if verdict is not None or self.remembers(0):
                self.states[key] = found
            else:
                self.passing[key] = found
        return found

    def advance(self, state: State, valuation: int) -> State:
        """Return the next state and remember it."""
        if state.verdict is not None:
            following = state
        else:
            step = self.tableau.step
            following = self.intern(step(state.spots, valuation), step(state.against, valuation))
        if self.remembers(len(state.spots) + len(state.against)):
            state.enter(valuation, following)
        return following


_machines: WeakValueDictionary[tuple[Formula, bool, int], Machine] = WeakValueDictionary()


def machine(formula: Formula, finite: bool = False, budget: int = BUDGET) -> Machine:
    """Return the machine of a formula, the same one for as long as somebody holds it.

    It costs at most about `budget` operations to know which states are decided, and as many to remember
    states and steps; what comes later is worked out each time.

    >>> from millstream.palettes.ltl.parser import parse
    >>> m = machine(parse("G (a -> F b)"))
    >>> s = m.start()
    >>> [s.step(v).verdict for v in range(4)], [s.step(v).final for v in range(4)]
    ([None, None, None, None], [True, False, True, True])
    """
    found = _machines.get((formula, finite, budget))
    if found is None:
        found = Machine(formula, finite, Tableau(translate(formula), finite, budget))
        found = _machines.setdefault((formula, finite, budget), found)
    return found


def restore(
    formula: Formula, finite: bool, budget: int, spots: Spots, against: Spots, verdict: bool | None
) -> State:
    """Return a saved state."""
    return machine(formula, finite, budget).intern(spots, against, verdict)
