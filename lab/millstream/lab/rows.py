"""Rows of figures: what experiments give, and tables, plots and claims read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, overload

Row = dict[str, Any]


class Missing(LookupError):
    """A figure that was asked for has not been measured (yet)."""


class Rows:
    """The rows of one experiment in one run: parameters and figures side by side.

    Examples
    --------
    >>> rows = Rows([{"form": "push", "n": 10, "Hz": 200.0}, {"form": "pull", "n": 10, "Hz": 300.0}])
    >>> rows.where(form="pull").column("Hz")
    [300.0]
    >>> rows.one(form="push")["Hz"]
    200.0
    >>> rows.ratio("Hz", {"form": "pull"}, {"form": "push"})
    1.5
    >>> rows.one(form="columns")
    Traceback (most recent call last):
    millstream.lab.rows.Missing: no row with form='columns'
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows = list(rows)

    def where(self, **wanted: Any) -> Rows:
        """Return the rows that have these values."""
        return Rows(row for row in self._rows if all(row.get(k) == v for k, v in wanted.items()))

    def one(self, **wanted: Any) -> Row:
        """Return the single row that has these values; raise `Missing` when there is none."""
        found = self.where(**wanted)
        words = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
        if not found:
            raise Missing(f"no row with {words}" if words else "no rows")
        if len(found) > 1:
            raise LookupError(f"{len(found)} rows with {words}, expected one: name more of their values")
        return found[0]

    def column(self, name: str) -> list[Any]:
        """Return one figure of all rows that have it; raise `Missing` when no row has."""
        values = [row[name] for row in self._rows if name in row]
        if not values:
            raise Missing(f"no row has {name!r}")
        return values

    def ratio(self, name: str, of: Row, to: Row) -> float:
        """Return how many times as large a figure is in one row as in another."""
        top, bottom = self.one(**of), self.one(**to)
        for row in (top, bottom):
            if name not in row:
                raise Missing(f"no {name!r} in the row {row}")
        return float(top[name] / bottom[name])

    @overload
    def __getitem__(self, index: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Row | Rows:
        return Rows(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Rows({self._rows!r})"


def columns(rows: Iterable[Row]) -> list[str]:
    """Return the names of all columns, in the order in which they first appear.

    >>> columns([{"a": 1}, {"b": 2, "a": 3}])
    ['a', 'b']
    """
    return list(dict.fromkeys(name for row in rows for name in row))
