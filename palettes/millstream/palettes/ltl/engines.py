"""Which algorithm computes the verdicts of a formula.

==================  =========================================  =========================================
engine              formulas                                   per event
==================  =========================================  =========================================
`PastEngine`        no future operator                         constant
`InOrder`           propositional, bounds at most `SHORT`      one table look-up
`ResponseEngine`    ``G (p -> F[a,b] q)`` and relatives        constant, whatever the bounds
`StreamEngine`      any other bounds, bounds in time           constant amortised per operator
`Ordered`           quantifiers over a domain of the event     one step per distinct remainder
==================  =========================================  =========================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from attrs import define, field

from millstream.processors import Mutable, as_function

from .base import Formula
from .domains import Reader
from .earliest import EarliestMachine, EarliestProgression, Groups
from .inorder import InOrder
from .letters import Atoms, Leaves
from .machine import Machine, machine
from .pastonly import PastEngine
from .progress import Progression
from .response import ResponseEngine, recognise
from .rewrite import kind
from .streams import StreamEngine
from .tableau import BUDGET

#: bounds that add up to no more than this are unfolded into states
SHORT: Final = 8
#: ... for past bounds, and for the one position that a `Monitor` looks at
MEMORY: Final = 16
FAR: Final = 1000
LETTERS: Final = 12


class Engine(Protocol):
    """Reads events into a state of its own kind; gives verdicts as runs (value, how many)."""

    def fresh(self) -> Any:
        """Return the state before the first event."""

    def step(self, p: Any, event: Any) -> Any:
        """Read one event; return what leaves."""

    def end(self, p: Any) -> Any:
        """Return the verdicts of pending positions if the trace ends now."""

    def left(self, p: Any) -> Any:
        """Return what is known of the pending positions when the trace ends: None for open ones."""

    def iterate(self, p: Any, events: Iterator[Any]) -> Iterator[Any]:
        """Yield verdicts."""


def finite_state(formula: Formula, time: Any, ahead: int) -> bool:
    """Return whether the machine of a formula is small enough to be used."""
    k = kind(formula)
    if time is not None or k.quantified or k.back > MEMORY or k.leaves > LETTERS:
        return False
    # several long bounds multiply states, and so does a long wait before bounds begin
    return k.ahead <= SHORT or (k.ahead <= ahead and k.bounded == 1 and k.low <= 3)


#: formulas whose machine was tried in vain, with ``finite`` and ``budget``: that costs the whole budget
_overgrown: WeakKeyDictionary[Formula, set[tuple[bool, int]]] = WeakKeyDictionary()


def compact(formula: Formula, time: Any, ahead: int, finite: bool, budget: int = BUDGET) -> Machine | None:
    """Return the machine of a formula, None if it has none or none within the budget."""
    if budget == 0 or not finite_state(formula, time, ahead):
        return None
    if (finite, budget) in _overgrown.get(formula, ()):
        return None
    m = machine(formula, finite, budget)
    if m.fits:
        return m
    _overgrown.setdefault(formula, set()).add((finite, budget))
    return None


def rules(owner: str, formula: Formula, atoms: Atoms, time: Any) -> Progression:
    """Return the progression of a formula, checked."""
    reader = Reader(owner, atoms)
    reader.check(formula)
    return Progression(formula, reader, None if time is None else as_function(time))


def in_order(formula: Formula, atoms: Atoms, time: Any, finite: bool) -> Engine:
    """Return the engine of verdicts in order."""
    if kind(formula).quantified:
        return Ordered(EarliestProgression(rules("Verdicts", formula, atoms, time)))
    clock = None if time is None else as_function(time)
    if not kind(formula).future:
        return PastEngine(formula, atoms, clock)
    if compact(formula, time, SHORT, finite) is not None:
        return InOrder(formula, finite, atoms)
    shape = recognise(formula) if time is None else None
    if shape is not None:
        return ResponseEngine(shape, atoms)
    return StreamEngine(formula, atoms, clock)


def earliest(formula: Formula, atoms: Atoms, time: Any, finite: bool) -> Any:
    """Return the engine of earliest verdicts."""
    m = compact(formula, time, SHORT, finite)
    if m is None:
        return EarliestProgression(rules("Verdicts", formula, atoms, time))
    leaves = Leaves("Verdicts", atoms)
    valuation: Callable[[Any], int] = leaves.function(leaves.valuation(m.letters))
    return EarliestMachine(formula, finite, valuation)


@define
class Buffer(Mutable):
    """Earliest verdicts waiting for older ones."""

    groups: Groups
    known: dict[int, bool] = field(factory=dict)
    head: int = 0


@define
class Ordered:
    """Earliest verdicts brought in order."""

    inner: Any

    def fresh(self) -> Buffer:
        """Return the state before the first event."""
        return Buffer(self.inner.fresh())

    def step(self, p: Buffer, event: Any) -> list[tuple[bool, int]]:
        """Read one event; return the verdicts that leave, as runs."""
        return self._release(p, self.inner.step(p.groups, event))

    def end(self, p: Buffer) -> list[tuple[bool, int]]:
        """Return the verdicts of pending positions if the trace ends now."""
        return self._release(p, self.inner.end(p.groups))

    def left(self, p: Buffer) -> list[tuple[bool | None, int]]:
        """Return what is known of the pending positions."""
        return [(p.known.get(i), 1) for i in range(p.head, p.groups.n)]

    @staticmethod
    def _release(p: Buffer, decided: list[tuple[int, bool]]) -> list[tuple[bool, int]]:
        p.known.update(decided)
        out = []
        while p.head in p.known:
            out.append((p.known.pop(p.head), 1))
            p.head += 1
        return out

    def iterate(self, p: Buffer, events: Iterator[Any]) -> Iterator[bool]:
        """Yield the verdicts for events."""
        for event in events:
            for value, count in self.step(p, event):
                yield from repeat(value, count)
