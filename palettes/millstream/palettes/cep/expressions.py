"""Event expressions: what shall be detected, as frozen trees that can be composed, compared and pickled.

A tree says nothing about how it is detected; `forest` finds what several trees have in common, and
`operators` holds one small machine for each class of this file. Users write the functions of `language`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from attrs import evolve, field, frozen

from millstream.processors.describing import describe
from millstream.processors.errors import ParameterError, shorten
from millstream.processors.expressions import Expression

from .modes import Mode

OPTIONS = (("mode", "mode"), ("window", "within"), ("condition", "where"), ("name", "name"))


def _key(function: Any) -> Any:
    """Return what tells two conditions apart: a name, or which object it is (expressions overload ==)."""
    return function if function is None or isinstance(function, str) else id(function)


def as_event(value: Any, word: str) -> Event:
    """Return an operand: an event expression, or the name of a type."""
    if isinstance(value, Event):
        return value
    if isinstance(value, str):
        return On(value)
    raise ParameterError(
        f"{word}: expected an event expression or the name of a type, got {shorten(value)}; write on(...)"
    )


def check_function(function: Any, word: str, parameter: str) -> None:
    """Refuse what is neither a function nor an expression."""
    if not (callable(function) or isinstance(function, Expression)):
        raise ParameterError(
            f"{word}: {parameter} must be a function or an expression, got {shorten(function)}"
        )


def check_duration(duration: Any, word: str, least: str = "at least") -> None:
    """Refuse a duration that is negative (or zero, if it must be ``"more than"`` zero)."""
    try:
        zero = type(duration)()
        right = duration >= zero and (least == "at least" or duration > zero)
    except TypeError:
        right = False
    if not right:
        raise ParameterError(f"{word}: duration must be {least} 0, got {shorten(duration)}")


def check_mode(mode: Any, word: str) -> None:
    """Refuse what is not a mode."""
    if not isinstance(mode, Mode):
        raise ParameterError(f"{word}: mode must be a Mode, got {shorten(mode)}")


@frozen(repr=False)
class Event:
    """An event expression. ``a >> b`` is `before`, ``a & b`` is `both`, ``a | b`` is `either`."""

    #: the function that a user writes
    word: ClassVar[str] = ""

    @property
    def operands(self) -> tuple[Event, ...]:
        """Return the subexpressions, in order."""
        return ()

    def within(self, duration: Any) -> Event:
        """Return the expression with the condition that all of it happens within a duration (inclusive)."""
        check_duration(duration, "within")
        return Only(self, window=duration)

    def where(self, condition: Any) -> Event:
        """Return the expression with a condition: a function or expression of the occurrence."""
        check_function(condition, "where", "condition")
        return Only(self, condition=condition)

    def named(self, name: str) -> Event:
        """Return the expression whose occurrences have this kind."""
        return Only(self, name=name)

    def __rshift__(self, other: Any) -> Event:
        from .language import before

        return before(self, other)

    def __and__(self, other: Any) -> Event:
        from .language import both

        return both(self, other)

    def __or__(self, other: Any) -> Event:
        from .language import either

        return either(self, other)

    def __repr__(self) -> str:
        return f"{self.word}({', '.join([*map(repr, self.operands), *self._options()])})"

    def _options(self) -> list[str]:
        """Return mode, window, condition and name as a user would type them."""
        shown = []
        for name, word in OPTIONS:
            value = getattr(self, name, None)
            if value is not None:
                shown.append(f"{word}={describe(value)}")
        return shown


@frozen(repr=False)
class On(Event):
    """An atomic type, by its name or by a predicate on events; or a composite of the forest, by its name."""

    word = "on"
    what: Any = field(eq=_key)

    def __repr__(self) -> str:
        return f"on({describe(self.what)})"


@frozen(repr=False)
class Either(Event):
    """A collector: the occurrences of all operands."""

    word = "either"
    of: tuple[Event, ...]

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.of


@frozen(repr=False)
class First(Event):
    """A selector: the oldest occurrence."""

    word = "first"
    of: Event

    @property
    def operands(self) -> tuple[Event, ...]:
        return (self.of,)


@frozen(repr=False)
class Last(First):
    """A selector: the newest occurrence, known at the end of the trace."""

    word = "last"


@frozen(repr=False)
class Only(Event):
    """A selector: the occurrences that satisfy a condition, perhaps under another name."""

    word = "only"
    of: Event
    window: Any = field(default=None, kw_only=True)
    condition: Any = field(default=None, eq=_key, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    @property
    def operands(self) -> tuple[Event, ...]:
        return (self.of,)


@frozen(repr=False)
class Constructor(Event):
    """An operator that makes composites: it has a consumption mode, and conditions across constituents."""

    mode: Mode | None = field(default=None, kw_only=True)
    window: Any = field(default=None, kw_only=True)
    condition: Any = field(default=None, eq=_key, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.mode is not None:
            check_mode(self.mode, self.word)
        if self.window is not None:
            check_duration(self.window, "within")
        if self.condition is not None:
            check_function(self.condition, self.word, "where")

    def within(self, duration: Any) -> Self:
        """Return the expression whose composites take at most a duration from first to last constituent."""
        check_duration(duration, "within")
        least = duration if self.window is None else min(self.window, duration)
        return evolve(self, window=least)

    def where(self, condition: Any) -> Event:
        """Return the expression whose constituents satisfy a condition: a function of one each operand."""
        if self.condition is not None:
            raise ParameterError(f"where: {self!r} has a condition already; join the two with & or `and`")
        return evolve(self, condition=condition)

    def named(self, name: str) -> Self:
        """Return the expression whose composites have this kind."""
        return evolve(self, name=name)


@frozen(repr=False)
class Timed(Event):
    """An operator that makes composites when time has passed."""

    mode: Mode | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.mode is not None:
            check_mode(self.mode, self.word)

    def named(self, name: str) -> Self:
        """Return the expression whose composites have this kind."""
        return evolve(self, name=name)
