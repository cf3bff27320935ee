"""TransitionTable: what an event, or a whole stretch of events, does to every state of a machine at once.

Such maps compose, and composing them is associative: parts of one long trace can be summed up independently,
on threads, processes or a cluster, and the maps folded afterwards (Ladner and Fischer, "Parallel prefix
computation", Journal of the ACM, 1980).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from millstream.palettes.windows import Monoid
from millstream.processors import QueryError

from .transitions import OTHERWISE, as_test, is_constant

if TYPE_CHECKING:
    from .machine import MooreMachine

#: for each state the number of the next one; the last entry stands for "stuck", and leads to itself
StateMap = tuple[int, ...]


def compose(first: StateMap, second: StateMap) -> StateMap:
    """Return what two stretches of events do one after the other.

    >>> compose((1, 0, 2), (1, 1, 2))
    (1, 1, 2)
    """
    return tuple(second[k] for k in first)


@frozen(eq=False, repr=False)
class TransitionTable:
    """The transitions of a machine without variables, its states being numbered.

    Examples
    --------
    >>> from millstream.palettes.fsm import MooreMachine
    >>> machine = MooreMachine.from_table(0, {0: {"a": 1, "b": 0}, 1: {"a": 1, "b": 0}})
    >>> table = machine.table()
    >>> table.map_of("a"), table.map_of("c")
    ((1, 1, 2), (2, 2, 2))
    >>> compose(table.summary("ab"), table.summary("ba")) == table.summary("abba")
    True
    >>> table.states[table.summary("abba")[table.start]]
    1
    """

    states: tuple[Any, ...]
    start: int
    machine: MooreMachine
    _maps: dict[Any, StateMap] = field(factory=dict, init=False)

    @classmethod
    def of(cls, machine: MooreMachine) -> TransitionTable:
        """Return the table of a machine."""
        if machine.variables:
            raise QueryError(
                f"a machine with variables ({', '.join(machine.variables)}) has no finite transition table"
            )
        states = machine.states
        return cls(states, states.index(machine.start), machine)

    @property
    def identity(self) -> StateMap:
        """Return what no event at all does."""
        return tuple(range(len(self.states) + 1))

    @property
    def finite(self) -> bool:
        """Return whether all guards are values, so that there are finitely many different maps."""
        return all(t.guard is OTHERWISE or is_constant(t.guard) for t in self.machine.transitions)

    def map_of(self, event: Any) -> StateMap:
        """Return what an event does to each state."""
        if not self.finite:
            return self._computed(event)
        known = next((t.guard for t in self.machine.transitions if t.guard == event), OTHERWISE)
        try:
            if known not in self._maps:
                self._maps[known] = self._computed(event)
            return self._maps[known]
        except TypeError:  # an unhashable guard
            return self._computed(event)

    def _computed(self, event: Any) -> StateMap:
        return (*(self._next(s, event) for s in self.states), len(self.states))

    def _next(self, source: Any, event: Any) -> int:
        own = [t for t in self.machine.transitions if t.source == source]
        for t in own:
            if t.guard is not OTHERWISE and (
                t.guard == event if is_constant(t.guard) else as_test(t.guard, "MooreMachine")(event, None)
            ):
                return self.states.index(t.target)
        left = next(
            (t.target for t in own if t.guard is OTHERWISE),
            None if self.machine.unmatched == "error" else source,
        )
        return len(self.states) if left is None else self.states.index(left)

    def summary(self, events: Iterable[Any]) -> StateMap:
        """Return what a stretch of events does to each state."""
        return reduce(compose, map(self.map_of, events), self.identity)

    @property
    def monoid(self) -> Monoid:
        """Return the maps as a monoid, for windows and parallel folds."""
        return Monoid(compose, lift=self.map_of)
