"""The constructors of event expressions: the trees of operators that make composites."""

from __future__ import annotations

from typing import Any, Self

from attrs import evolve, field, frozen

from .expressions import Constructor, Event, Timed


@frozen(repr=False)
class Before(Constructor):
    """Left happens before right; a `flat` one continues the sequence on its left."""

    word = "before"
    left: Event
    right: Event
    flat: bool = field(default=False, kw_only=True)

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.left, self.right

    def within(self, duration: Any) -> Self:
        """Return the expression with a window, which holds for the beginning of a sequence as well."""
        whole = super().within(duration)
        if self.flat and isinstance(self.left, Before):
            return evolve(whole, left=self.left.within(duration))
        return whole

    def __repr__(self) -> str:
        if not self.flat:
            return super().__repr__()
        return f"sequence({', '.join([*map(repr, self.steps()), *self._options()])})"

    def steps(self) -> tuple[Event, ...]:
        """Return the members of a sequence."""
        if self.flat and isinstance(self.left, Before):
            return *self.left.steps(), self.right
        return self.left, self.right


@frozen(repr=False)
class Between(Constructor):
    """Begin, then end, with a number of occurrences of something strictly between them."""

    word = "between"
    begin: Event
    middle: Event
    end: Event
    least: int = field(default=0, kw_only=True)
    most: int | None = field(default=None, kw_only=True)

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.begin, self.middle, self.end

    def _options(self) -> list[str]:
        bounds = [f"least={self.least}"] if self.most is None else [f"least={self.least}, most={self.most}"]
        return bounds + super()._options()


@frozen(repr=False)
class AnyOf(Constructor):
    """Occurrences of some number of different operands, in any order."""

    word = "any_of"
    number: int
    of: tuple[Event, ...]

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.of

    def __repr__(self) -> str:
        if self.number == len(self.of):
            return f"both({', '.join([*map(repr, self.of), *self._options()])})"
        return f"any_of({', '.join([repr(self.number), *map(repr, self.of), *self._options()])})"


@frozen(repr=False)
class Repeated(Constructor):
    """A number of occurrences of one operand."""

    word = "repeated"
    number: int
    of: Event

    @property
    def operands(self) -> tuple[Event, ...]:
        return (self.of,)

    def __repr__(self) -> str:
        return f"repeated({', '.join([f'{self.number!r}, {self.of!r}', *self._options()])})"


@frozen(repr=False)
class Aperiodic(Constructor):
    """Each occurrence of the middle after begin, until end."""

    word = "aperiodic"
    begin: Event
    middle: Event
    end: Event

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.begin, self.middle, self.end


@frozen(repr=False)
class Periodic(Timed):
    """Every so often after begin, until end."""

    word = "periodic"
    begin: Event
    period: Any
    end: Event

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.begin, self.end

    def __repr__(self) -> str:
        return f"periodic({', '.join([f'{self.begin!r}, {self.period!r}, {self.end!r}', *self._options()])})"


@frozen(repr=False)
class Lacking(Timed):
    """Begin, and no occurrence of something for a duration, or until the end of the trace."""

    word = "lacking"
    begin: Event
    missing: Event
    duration: Any = None

    @property
    def operands(self) -> tuple[Event, ...]:
        return self.begin, self.missing

    def _options(self) -> list[str]:
        return ([] if self.duration is None else [repr(self.duration)]) + super()._options()


@frozen(repr=False)
class Plus(Timed):
    """A duration after an occurrence."""

    word = "plus"
    of: Event
    delay: Any

    @property
    def operands(self) -> tuple[Event, ...]:
        return (self.of,)

    def _options(self) -> list[str]:
        return [repr(self.delay), *super()._options()]
