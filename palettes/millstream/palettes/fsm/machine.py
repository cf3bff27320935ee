"""MooreMachine: a state machine over events; its output is the symbol of the state that it enters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from attrs import field

from millstream.processors import MISSING, Inline, ParameterError, Processor, processor, state, transient
from millstream.processors.errors import fail_parameter, shorten
from millstream.processors.expressions import Expression

from .diagram import StateDiagram
from .overlap import Conflict, conflicts
from .table import TransitionTable
from .transitions import OTHERWISE, On, Test, as_test, as_transitions, check_variables, is_constant

#: where a transition leads, and the variables it changes
Move = tuple[Any, tuple[tuple[str, Test], ...]]
#: moves by event, moves by guard (in order), and the move that is left
Rules = tuple[dict[Any, Move], list[tuple[Test, Move]], Move | None]


@processor
class MooreMachine(Processor):
    """A state machine with guards on events and variables; gives the symbol of each state entered.

    Parameters
    ----------
    start
        The first state.
    transitions
        A list of `On` (or tuples of its parts). Of several whose guards hold the first is taken; one with the
        guard `OTHERWISE` is taken if none of its state does.
    symbols
        The output of each state; a state without one is silent. An expression of E (the event) and V (the
        variables) is computed. Without symbols, states are their own.
    variables
        Names and first values of variables, which guards read and transitions change.
    unmatched
        What happens to an event for which the state has no transition: ``"error"``, or ``"stay"`` (the state
        is entered again).
    overlap
        ``"first"``, or ``"error"``: guards that can hold together are refused, here if they can be compared,
        else when it happens.

    Examples
    --------
    >>> from millstream.processors import X
    >>> door = [On("shut", "open", "open"), On("open", "shut", "shut"), On("shut", OTHERWISE, "alarm")]
    >>> list(MooreMachine("shut", door)(["open", "shut", "kick"]))
    ['open', 'shut', 'alarm']
    >>> from millstream.palettes.fsm import V
    >>> count = [On("low", V.n >= 2, "high"), On("low", OTHERWISE, "low", set={"n": V.n + X})]
    >>> list(MooreMachine("low", count, {"low": V.n, "high": "!"}, variables={"n": 0})([1, 1, 5]))
    [1, 2, '!']
    """

    icon: ClassVar[str] = "◎"
    start: Any
    transitions: Any = field(converter=as_transitions)
    symbols: Mapping[Any, Any] | None = None
    variables: Mapping[str, Any] = field(factory=dict, kw_only=True)
    unmatched: str = field(default="error", kw_only=True)
    overlap: str = field(default="first", kw_only=True)
    rules: dict[Any, Rules] = transient()
    said: dict[Any, Any] = transient()
    computed: dict[Any, Test] = transient()
    #: the current state, and the values of the variables (None if there are none)
    at: Any = state(of=lambda self: self.start)
    values: dict[str, Any] | None = state(of=lambda self: dict(self.variables) or None)

    def __attrs_post_init__(self) -> None:
        if self.unmatched not in ("error", "stay"):
            fail_parameter(self, "unmatched", "'error' or 'stay'", self.unmatched)
        if self.overlap not in ("first", "error"):
            fail_parameter(self, "overlap", "'first' or 'error'", self.overlap)
        _check_states(self)
        for t in self.transitions:
            for value in (t.guard, *t.set.values()):
                check_variables(value, self.variables, "MooreMachine")
            for name in t.set:
                if name not in self.variables:
                    fail_parameter(self, f"variable {name!r} of {t}", "declared in variables={...}", name)
        certain = [c for c in self.conflicts() if c.certain]
        if certain and self.overlap == "error":
            raise ParameterError(f"MooreMachine: {certain[0]}")

    @classmethod
    def from_table(
        cls, start: Any, table: Mapping[Any, Mapping[Any, Any]], *args: Any, **options: Any
    ) -> Self:
        """Return a machine for a table: state -> guard -> next state; further arguments as for the class.

        >>> table = {"off": {"push": "on", OTHERWISE: "off"}, "on": {"push": "off", OTHERWISE: "on"}}
        >>> list(MooreMachine.from_table("off", table)(["push", "wait", "push"]))
        ['on', 'on', 'off']
        """
        rows = [On(s, guard, target) for s, row in table.items() for guard, target in row.items()]
        return cls(start, rows, *args, **options)

    @property
    def states(self) -> tuple[Any, ...]:
        """Return all states, the first one first."""
        named = [s for t in self.transitions for s in (t.source, t.target)]
        return tuple(dict.fromkeys([self.start, *named, *(self.symbols or ())]))

    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the pairs of transitions whose guards can hold together, or cannot be compared."""
        return conflicts(self.transitions)

    def table(self) -> TransitionTable:
        """Return the transition table, by which parts of a trace can be summed up separately."""
        return TransitionTable.of(self)

    def diagram(self) -> StateDiagram:
        """Return a picture of the states: Mermaid, Graphviz and SVG text."""
        return StateDiagram(self)

    def prepare(self) -> None:
        """Sort the transitions by state, and compile guards, updates and symbols."""
        self.rules = {
            s: _rules([t for t in self.transitions if t.source == s], self.overlap) for s in self.states
        }
        shown = {s: s for s in self.states} if self.symbols is None else self.symbols
        self.said = {s: y for s, y in shown.items() if not isinstance(y, Expression)}
        self.computed = {s: as_test(y, "MooreMachine") for s, y in shown.items() if isinstance(y, Expression)}

    def step(self, x: Any) -> None:
        """Take a transition, and emit the symbol of the state entered."""
        y = self.move(x)
        if y is not MISSING:
            self.emit(y)

    def move(self, x: Any) -> Any:
        """Take a transition, and return the symbol of the state entered; MISSING if it has none."""
        target, updates = self._taken(x)
        if updates:
            values = self.values
            self.values = {**values, **{name: f(x, values) for name, f in updates}}  # type: ignore[dict-item]
        self.at = target
        if target in self.computed:
            return self.computed[target](x, self.values)
        return self.said.get(target, MISSING)

    def _taken(self, x: Any) -> Move:
        by_event, by_guard, other = self.rules[self.at]
        try:
            move = by_event.get(x)
        except TypeError:  # an unhashable event
            move = next((m for constant, m in by_event.items() if constant == x), None)
        if self.overlap == "error":
            return self._only(x, move)
        if move is None:
            for guard, m in by_guard:
                if guard(x, self.values):
                    return m
            move = other
        return self._unmatched(x) if move is None else move

    def _only(self, x: Any, move: Move | None) -> Move:
        _, by_guard, other = self.rules[self.at]
        found = [m for guard, m in by_guard if guard(x, self.values)] + ([] if move is None else [move])
        if len(found) > 1:
            raise ValueError(f"{len(found)} transitions of state {self.at!r} hold for {shorten(x, 60)}")
        return found[0] if found else self._unmatched(x) if other is None else other

    def _unmatched(self, x: Any) -> Move:
        if self.unmatched == "stay":
            return self.at, ()
        raise ValueError(
            f"state {self.at!r} has no transition for {shorten(x, 60)}; "
            "add one with the guard OTHERWISE, or choose unmatched='stay'"
        )

    def inline(self) -> Inline:
        """Return a call of `move`."""
        when = "{y0} is not {nothing}"
        names: dict[str, Any] = {"move": self.move, "nothing": MISSING}
        if self.symbols is None or all(s in self.symbols for s in self.states):
            return Inline(out=("{move}({0})",), names=names)
        return Inline(do=("{y0} = {move}({0})",), out=("{y0}",), when=when, names=names)


def _check_states(machine: MooreMachine) -> None:
    try:
        states = set(machine.states)
    except TypeError as error:
        raise ParameterError(f"MooreMachine: states must be hashable: {error}") from None
    for s in machine.symbols or ():
        if all(s not in (t.source, t.target) for t in machine.transitions) and s != machine.start:
            raise ParameterError(
                f"MooreMachine: symbols names {s!r}, which is no state; states are {states - {s}}"
            )


def _rules(transitions: list[On], overlap: str) -> Rules:
    """Return the moves of one state; a constant is looked up if no other guard comes before it."""
    by_event: dict[Any, Move] = {}
    by_guard: list[tuple[Test, Move]] = []
    other: Move | None = None
    for t in transitions:
        move = t.target, tuple((name, _update(value)) for name, value in t.set.items())
        if t.guard is OTHERWISE:
            other = other or move
        elif not is_constant(t.guard):
            by_guard.append((as_test(t.guard, "MooreMachine"), move))
        elif (by_guard and overlap == "first") or not _hashable(t.guard):
            by_guard.append((_equals(t.guard), move))
        else:
            by_event.setdefault(t.guard, move)
    return by_event, by_guard, other


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _equals(constant: Any) -> Test:
    return lambda x, _: x == constant


def _update(value: Any) -> Callable[[Any, Any], Any]:
    if isinstance(value, Expression) or callable(value):
        return as_test(value, "MooreMachine")
    return lambda x, _: value
