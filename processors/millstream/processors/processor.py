"""What a processor is: configuration, state, and one compute method.

A processor is an attrs class. Its init fields are its configuration and never change; fields made with
`state` are the only data that change while events flow, so that a copy of a processor is a copy of those
values. It does not know its neighbours: queries are described by graphs (`graph`), and two engines are
derived from a graph (`push`, `pull`). An instance that a user holds is a template; every use in a query runs
on an instance of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import repeat
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

import attrs
from attrs import Factory, field, frozen
from more_itertools import roundrobin

from .describing import describe
from .errors import QueryError
from .query import Query

C = TypeVar("C", bound=type)


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


#: stands where there is no value; it is itself after pickling
MISSING = Missing.MISSING


def state(
    default: Any = None,
    *,
    of: Callable[[Any], Any] | None = None,
    init: Literal[False] = False,
) -> Any:
    """Declare a state field of a processor.

    Parameters
    ----------
    default
        The initial value, if it is immutable.
    of
        A function of the processor that builds the initial value, if it is mutable or depends on the
        configuration. Mutable values are built-in containers, or objects with ``__copy__`` (see `Mutable`).
    init
        Tells type checkers that the field is not a parameter.
    """
    initial = default if of is None else Factory(of, takes_self=True)
    return field(init=init, default=initial, metadata={"state": True})


def transient(*, init: Literal[False] = False) -> Any:
    """Declare a field that is neither configuration nor state, such as the run of an inner query."""
    return field(init=init, default=None)


@dataclass_transform(eq_default=False, field_specifiers=(attrs.field, state, transient))
def processor(cls: C) -> C:
    """Make an attrs class of a processor; every subclass of `Processor` is decorated with it."""
    return attrs.define(eq=False, repr=False, on_setattr=attrs.setters.NO_OP)(cls)


@frozen
class Inline:
    """The step of a processor as Python source, so that the engine can join neighbours into one function.

    Optional: `Processor.step` is the definition, this is the same again for speed (the law suite compares
    them). In the texts, ``{0}``, ``{1}``... stand for the inputs, ``{me}`` for the processor, and ``{name}``
    for an entry of `names`.

    Parameters
    ----------
    out : tuple of str
        One expression for each output.
    do : tuple of str
        Statements that come first.
    when : str or None
        If given, the condition under which there is an output.
    names : dict
        Objects that the texts use.
    """

    out: tuple[str, ...]
    do: tuple[str, ...] = ()
    when: str | None = None
    names: dict[str, Any] = field(factory=dict)


@processor
class Processor(Query):
    """A stateful step from events to events: emits any number of outputs for each front of inputs.

    Subclasses declare configuration and state, define `step`, and perhaps `end`.

    >>> @processor
    ... class Rises(Processor):
    ...     last: float | None = state(None)
    ...
    ...     def step(self, x):
    ...         if self.last is not None and x > self.last:
    ...             self.emit(x)
    ...         self.last = x
    >>> list(Rises()([1, 3, 2, 5]))
    [3, 5]
    """

    #: number of inputs and outputs; processors whose number depends on their configuration override `arity`
    ins: ClassVar[int] = 1
    outs: ClassVar[int] = 1
    #: one character for pictures
    icon: ClassVar[str] = ""

    #: sends one output (one argument for each output port); set by the engine before the first event
    emit: Callable[..., Any] = transient()
    #: the wiring this instance belongs to; set by the engine, read when a failure is traced to its processor
    wiring: Any = transient()

    def step(self, *front: Any) -> Any:
        """Take one event from each input and emit any number of outputs."""
        raise QueryError(f"{type(self).__name__}: define step(self, ...), the method that takes an event")

    def end(self) -> None:
        """Come to the end of the trace; may emit. Called exactly once."""

    def prepare(self) -> None:
        """Set up transient fields, once, after the processor has been wired."""

    def inline(self) -> Inline | None:
        """Return the step as source text, or None; a processor that has one does not emit at its end."""
        return None

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        """Pull from the input iterators directly; only for processors that know when to stop reading."""
        raise NotImplementedError

    def batches(self, *inputs: Iterator[Any]) -> Iterator[Iterable[Any]]:
        """Do the same, yielding iterables of outputs: in addition to `iterate`, for speed."""
        raise NotImplementedError

    def growth(self) -> Any:
        """Return what of the state can grow without bound, a `Growth`; None if nothing can."""
        return None

    def queued(self) -> tuple[int, ...]:
        """Return how many events it has taken and not computed yet, for `Run.statistics`; () for none.

        May be called by another thread.
        """
        return ()

    def tracker(self, limit: int) -> Any:
        """Return what tells where outputs come from (see `lineage`), None for the default."""
        return None

    def explained(self, limit: int) -> Processor | None:
        """Return a processor that does the same with traced events, None to be followed by the tracker."""
        return None

    def elsewhere(self) -> Any:
        """Return the query that this processor only has run elsewhere, by workers for instance; or None.

        Such a processor has ``bring_back()``, which waits for what is under way and returns the state of the
        query, and ``go_on(state)``: states are then written as the query itself would write them.
        """
        return None

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the declared event types of inputs and outputs; None where any event will do."""
        ins, outs = self.arity
        return (None,) * ins, (None,) * outs

    @property
    def arity(self) -> tuple[int, int]:
        """Return the number of inputs and outputs."""
        return self.ins, self.outs

    @property
    def graph(self) -> Any:
        """Return the graph that consists of this processor alone."""
        from .graph import single

        return single(self)

    @property
    def name(self) -> str:
        """Return the name shown in pictures and errors."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(_arguments(self))})"


@processor
class Uniform(Processor):
    """A processor that returns exactly one output for each front (a tuple if it has several outputs).

    >>> @processor
    ... class Difference(Uniform):
    ...     last: float = state(0)
    ...
    ...     def step(self, x):
    ...         before, self.last = self.last, x
    ...         return x - before
    >>> list(Difference()([1, 4, 9]))
    [1, 3, 5]
    """

    def inline(self) -> Inline | None:
        """Return a call of `step`, so that every uniform processor runs inside its neighbours' function."""
        ins, outs = self.arity
        call = "{step}(" + ", ".join(f"{{{i}}}" for i in range(ins)) + ")"
        if outs == 1:
            return Inline(out=(call,), names={"step": self.step})
        front = ", ".join(f"{{y{o}}}" for o in range(outs))
        return Inline(
            do=(f"{front} = {call}",), out=tuple(f"{{y{o}}}" for o in range(outs)), names={"step": self.step}
        )


@processor
class Router(Processor):
    """A processor whose ports are not synchronous: it takes an event of any input and sends to any output."""

    #: sends one event to one output port; set by the engine
    ports: tuple[Callable[[Any], Any], ...] = transient()

    def receive(self, port: int, event: Any) -> None:
        """Take one event of one input."""
        raise QueryError(
            f"{type(self).__name__}: define receive(self, port, event), the method that takes an event"
        )

    def send(self, port: int, event: Any) -> None:
        """Send one event to one output."""
        self.ports[port](event)

    def order(self, inputs: Sequence[Iterator[Any]]) -> Iterable[tuple[int, Any]]:
        """Return (port, event) as pull reads them: the inputs in turn, until all are exhausted."""
        return roundrobin(*(zip(repeat(port), events) for port, events in enumerate(inputs)))


def is_state(attribute: Any) -> bool:
    """Return whether an attrs attribute was declared with `state`."""
    return "state" in attribute.metadata


def _definer(cls: type, method: str) -> type:
    return next(c for c in cls.__mro__ if method in c.__dict__)


def inline_form(node: Processor) -> Inline | None:
    """Return the source form of a step, unless a subclass has changed step or end since it was written."""
    cls = type(node)
    written = _definer(cls, "inline")
    if written is not Uniform and all(issubclass(written, _definer(cls, m)) for m in ("step", "end")):
        return node.inline()
    if isinstance(node, Uniform) and not overrides(node, "end"):
        return Uniform.inline(node)
    return None


def overrides(node: Processor, method: str) -> bool:
    """Return whether a processor's class defines a method of the base class anew."""
    return getattr(type(node), method) is not getattr(Processor, method)


def instance(template: Processor) -> Processor:
    """Return a fresh instance with the same configuration."""
    cls = type(template)
    if "__attrs_attrs__" not in cls.__dict__:
        raise QueryError(f"{cls.__name__}: decorate the class with @processor")
    return cls(**configuration(template))


def fields(owner: Any) -> tuple[attrs.Attribute[Any], ...]:
    """Return the attrs fields of a processor or its class."""
    found: tuple[attrs.Attribute[Any], ...] = attrs.fields(owner if isinstance(owner, type) else type(owner))
    return found


def configuration(p: Processor) -> dict[str, Any]:
    """Return the parameters that a processor was made with, by name."""
    return {str(a.alias): getattr(p, a.name) for a in fields(p) if a.init}


def _arguments(p: Processor) -> Iterator[str]:
    """Yield the configuration as it would be typed; what equals its default is left out."""
    named = False
    for a in fields(p):
        if not a.init:
            continue
        value, default = getattr(p, a.name), a.default
        text = describe(value)
        if type(value) is type(default) and text == describe(default):
            named = True
            continue
        yield f"{a.alias}={text}" if named or a.kw_only else text
