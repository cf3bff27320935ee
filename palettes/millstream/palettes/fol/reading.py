"""How an event is read as a predicate: its name and its arguments."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from millstream.palettes.ltl.letters import get_field
from millstream.processors import as_function
from millstream.processors.errors import ParameterError

Reader = Callable[[Any], tuple[Any, ...]]


class Kept(tuple[Any, ...]):
    """An event as name and arguments that still gives the fields of the original."""

    raw: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "raw":
            raise AttributeError(name)
        return get_field(self.raw, name)


def declared(owner: str, predicates: Any) -> dict[str, int] | None:
    """Return the number of arguments of declared predicates; raise if the declaration is not understood."""
    if predicates is None:
        return None
    if not isinstance(predicates, Mapping):
        raise ParameterError(
            f"{owner}: predicates must map names to the fields of their arguments, got {predicates!r}"
        )
    for name, fields in predicates.items():
        if isinstance(fields, str) or not isinstance(fields, Sequence):
            raise ParameterError(f"{owner}: the arguments of {name} must be a list of fields, got {fields!r}")
    return {name: len(fields) for name, fields in predicates.items()}


def reader(owner: str, predicates: Mapping[str, Sequence[Any]] | None, kind: Any, args: Any) -> Reader | None:
    """Return the function from an event to ``(name, arg, ...)``; None if events are that already."""
    if kind is None:
        if predicates is not None or args is not None:
            raise ParameterError(
                f"{owner}: with predicates or args, kind must say which predicate an event is"
            )
        return None
    name_of = part_of(kind)
    if args is not None:
        args_of = as_function(args)
        return lambda e: (name_of(e), *args_of(e))
    if predicates is None:
        raise ParameterError(f"{owner}: with kind, give predicates={{name: fields}} or args=function")
    parts = {name: [part_of(f) for f in fields] for name, fields in predicates.items()}

    def read(event: Any) -> tuple[Any, ...]:
        name = name_of(event)
        return (name, *[part(event) for part in parts.get(name, ())])

    return read


def part_of(part: Any) -> Callable[[Any], Any]:
    """Return the function that gives a part of an event: a field's name, a function or an expression."""
    if not isinstance(part, str):
        return as_function(part)

    return lambda event: field_of(event, part)


def field_of(event: Any, name: str) -> Any:
    """Return a field of an event or of a value: a key of a dict, else an attribute."""
    try:
        return get_field(event, name)
    except (KeyError, AttributeError):
        raise ValueError(f"there is no field {name!r} in {event!r}") from None


def read_log(source: str | PathLike[str] | Iterable[str], **options: Any) -> Iterator[list[str]]:
    """Yield the events of a CSV log, ``name,arg,...`` on each line; blank lines are skipped.

    Parameters
    ----------
    source
        A path (``.gz`` is unpacked), an open text file or any lines.
    options
        For `csv.reader`, such as ``delimiter``.

    Examples
    --------
    >>> list(read_log(["login,ann", "", "access,ann,notes"]))
    [['login', 'ann'], ['access', 'ann', 'notes']]
    """
    if not isinstance(source, str | PathLike):
        yield from filter(None, csv.reader(source, **options))
    elif str(source).endswith(".gz"):
        with gzip.open(source, "rt", newline="") as lines:
            yield from filter(None, csv.reader(lines, **options))
    else:
        with open(source, newline="") as lines:
            yield from filter(None, csv.reader(lines, **options))
