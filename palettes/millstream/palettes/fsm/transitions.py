"""Transitions of a state machine: where from, on what, where to, and which variables change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from attrs import field, frozen

from millstream.processors import ParameterError, as_function
from millstream.processors.apply import positional_arity
from millstream.processors.describing import describe
from millstream.processors.errors import shorten
from millstream.processors.expressions import Attribute, Expression, Input, lift, walk

#: the variables of a machine, as E is the event: ``V.count + 1``
V = Input(1, "V")
Test = Callable[[Any, Any], Any]


class Otherwise(Enum):
    """The type of `OTHERWISE`."""

    OTHERWISE = "OTHERWISE"

    def __repr__(self) -> str:
        return "OTHERWISE"


#: the guard that holds if no other of its state does
OTHERWISE = Otherwise.OTHERWISE


@frozen(eq=False)
class On:
    """A transition: in state `source`, an event for which `guard` holds leads to state `target`.

    Parameters
    ----------
    source, target
        States: any hashable values.
    guard
        A value that the event must equal; an expression of E (or X, the event) and V (the variables); a
        function of the event, or of the event and the dict of variables; or `OTHERWISE`.
    set
        New values of variables: expressions of E and V, functions, or plain values.

    Examples
    --------
    >>> from millstream.processors import E
    >>> On("open", E.kind == "pay", "open", set={"paid": V.paid + E.amount})
    On('open', E.kind == 'pay', 'open', set={'paid': V.paid + E.amount})
    """

    source: Any
    guard: Any
    target: Any
    set: Mapping[str, Any] = field(factory=dict)

    @property
    def label(self) -> str:
        """Return guard and updates as they are written at an arrow."""
        guard = "otherwise" if self.guard is OTHERWISE else describe(self.guard)
        updates = ", ".join(f"{name} := {describe(value)}" for name, value in self.set.items())
        return f"{guard} / {updates}" if updates else guard

    def __repr__(self) -> str:
        updates = f", set={dict(self.set)!r}" if self.set else ""
        return f"On({self.source!r}, {describe(self.guard)}, {self.target!r}{updates})"


def as_transition(value: Any) -> On:
    """Return a transition for one, or for a tuple of its parts.

    >>> as_transition(("a", 1, "b"))
    On('a', 1, 'b')
    """
    if isinstance(value, On):
        return value
    if isinstance(value, tuple) and len(value) in (3, 4):
        return On(*value)
    raise ParameterError(f"MooreMachine: expected On(source, guard, target), got {shorten(value)}")


def as_transitions(values: Iterable[Any]) -> tuple[On, ...]:
    """Return all transitions of a list of them."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise ParameterError(
            f"MooreMachine: transitions must be a list of On(source, guard, target), got {shorten(values)}"
        )
    return tuple(map(as_transition, values))


def is_constant(guard: Any) -> bool:
    """Return whether a guard is a value that the event must equal."""
    return not (guard is OTHERWISE or isinstance(guard, Expression) or callable(guard))


def as_test(value: Any, owner: str) -> Test:
    """Return a function of event and variables for an expression or function of the event, or of both."""
    function = as_function(value)
    arity = positional_arity(value)
    wanted = 1 if arity is None else arity[0]
    if wanted > 2:
        raise ParameterError(
            f"{owner}: {describe(value)} takes {wanted} arguments; expected event and variables"
        )
    return function if wanted == 2 else lambda x, _: function(x)


def check_variables(value: Any, variables: Mapping[str, Any], owner: str) -> None:
    """Raise a `ParameterError` for an expression that reads a variable which is not declared."""
    for part in walk(lift(value)):
        match part:
            case Attribute(Input(1, _), name) if name not in variables:
                raise ParameterError(
                    f"{owner}: {describe(value)} reads V.{name}; declare it in variables={{...}}"
                )
