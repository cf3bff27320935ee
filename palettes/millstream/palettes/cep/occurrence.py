"""Occurrences: things that happened at a point in time, atomic or composed of others.

An occurrence is a tuple, because a detector makes one for every composition. It carries one time stamp, that
of the constituent that completed it, and remembers when its oldest constituent happened (`start`), which is
what `within` measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


class Extreme(Enum):
    """The type of `EARLIEST` and `LATEST`."""

    EARLIEST = "EARLIEST"
    LATEST = "LATEST"

    def __lt__(self, other: object) -> bool:
        return other is not self and self is Extreme.EARLIEST

    def __le__(self, other: object) -> bool:
        if other is None:
            raise TypeError("there is none")
        return other is self or (self is Extreme.EARLIEST and other == other)  # not a number is not later

    def __gt__(self, other: object) -> bool:
        return other is not self and self is Extreme.LATEST

    def __ge__(self, other: object) -> bool:
        return other is self or self is Extreme.LATEST

    def __repr__(self) -> str:
        return self.name


#: older than every time stamp, whatever these are
EARLIEST = Extreme.EARLIEST
#: newer than every time stamp
LATEST = Extreme.LATEST


class Occurrence(NamedTuple):
    """Something that happened: its type, its time stamp, and what it is made of.

    Parameters
    ----------
    kind
        The name of its type.
    time
        Its time stamp: anything that can be compared and subtracted (numbers, datetimes).
    attributes
        Further values by name; also read as ``occurrence.name``.
    constituents
        What it was composed of, in the order of the operands. Empty if it is atomic.
    start
        The time stamp of the oldest constituent; None if it is atomic.

    Examples
    --------
    >>> login = Occurrence("login", 3, {"user": "ann"})
    >>> login.user, str(login)
    ('ann', 'login.3')
    >>> str(Occurrence("before", 4, constituents=(login, Occurrence("logout", 4)), start=3))
    '(login.3, logout.4, 4)'
    """

    kind: str
    time: Any
    attributes: Mapping[str, Any] = NO_ATTRIBUTES
    constituents: tuple[Any, ...] = ()
    start: Any = None

    def leaves(self) -> Iterator[Any]:
        """Yield the atomic constituents, left to right; an atomic occurrence yields itself.

        >>> inner = Occurrence("both", 2, constituents=(Occurrence("A", 1), Occurrence("B", 2)))
        >>> [str(leaf) for leaf in Occurrence("before", 3, constituents=(inner, Occurrence("C", 3))).leaves()]
        ['A.1', 'B.2', 'C.3']
        """
        if not self.constituents:
            yield self
        for part in self.constituents:
            if isinstance(part, Occurrence):
                yield from part.leaves()
            else:
                yield part

    def __getattr__(self, name: str) -> Any:
        try:
            return self.attributes[name]
        except KeyError:
            raise AttributeError(f"{self} has no attribute {name!r}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        kind, time, attributes, constituents, start = self
        if attributes is NO_ATTRIBUTES:  # as all composites
            return _restored, (kind, time, None, constituents, start)
        return _restored, (kind, time, dict(attributes), constituents, start)

    def __str__(self) -> str:
        if not self.constituents:
            return f"{self.kind}.{self.time}"
        return f"({', '.join(map(str, self.constituents))}, {self.time})"

    def __repr__(self) -> str:
        shown = [repr(self.kind), repr(self.time)]
        if self.attributes:
            shown.append(repr(dict(self.attributes)))
        if self.constituents:
            shown.append(f"constituents={self.constituents!r}")
        return f"Occurrence({', '.join(shown)})"


_new: Any = tuple.__new__


def _restored(kind: str, time: Any, attributes: Any, constituents: tuple[Any, ...], start: Any) -> Occurrence:
    made: Occurrence = _new(Occurrence, (kind, time, attributes or NO_ATTRIBUTES, constituents, start))
    return made


#: what travels between operators: (time stamp, start, event or composite)
Entry = tuple[Any, Any, Any]
