"""Trace formats that Spark can read: what an event is, and which columns it has.

A format gives for each event of a file a number that orders it, the event as local queries take it, and its
columns' values. ``log`` is ``name,arg,...`` a line (as `fol.read_log` reads), ``pingus`` the snapshots of a
game as XML (read by the lab).
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from typing import Any

from attrs import frozen
from pyspark.sql import types as T

from millstream.processors import QueryError

Events = Iterator[tuple[int, Any]]


@frozen
class LogFormat:
    """One event a line, ``name,arg,...``; a file may grow, and is read from where it was read to."""

    delimiter: str = ","
    grows = True
    columns = "name string, args array<string>"

    def events(self, path: str, start: int = 0, stop: int | None = None) -> Events:
        """Yield for each line between two places (in bytes) where it begins, and its list of texts."""
        packed = path.endswith(".gz")
        with gzip.open(path, "rb") if packed else open(path, "rb") as lines:
            if not packed:
                lines.seek(start)
            place = 0 if packed else start
            for line in lines:
                if not packed and stop is not None and place >= stop:
                    return
                text = line.decode().rstrip("\r\n")
                if text:
                    yield place, self.split(text)
                place += len(line)

    def split(self, text: str) -> list[str]:
        """Return the parts of a line.

        >>> LogFormat().split('say,"a, b"')
        ['say', 'a, b']
        """
        if '"' in text:
            return next(csv.reader([text], delimiter=self.delimiter))
        return text.split(self.delimiter)

    def values(self, event: Any, schema: T.StructType) -> tuple[Any, ...]:
        """Return the values of columns: `name` and `args`, or further columns for one argument each."""
        if "args" in schema.names:
            given = {"name": event[0], "args": event[1:]}
            return tuple(given.get(n) for n in schema.names)
        return tuple(map(_read, event, schema.fields)) + (None,) * (len(schema.names) - len(event))


def _read(text: str, field: T.StructField) -> Any:
    kind = field.dataType
    if isinstance(kind, T.IntegralType):
        return int(text)
    return float(text) if isinstance(kind, T.FloatType | T.DoubleType) else text


@frozen
class PingusFormat:
    """Snapshots of all characters, one a message."""

    grows = False
    columns = (
        "characters array<struct<id: int, status: string, x: double, y: double, vx: double, vy: double>>"
    )

    def events(self, path: str, start: int = 0, stop: int | None = None) -> Events:
        """Yield the number of each message, and its snapshot."""
        try:
            from millstream.lab.crv.pingus import PingusXml
        except ModuleNotFoundError as error:
            raise QueryError(
                "the trace format 'pingus' is read by millstream.lab, which is missing"
            ) from error
        return enumerate(PingusXml().read(path))

    def values(self, event: Any, schema: T.StructType) -> tuple[Any, ...]:
        """Return the values of columns."""
        return (list(event),)


FORMATS: dict[str, type[LogFormat] | type[PingusFormat]] = {"log": LogFormat, "pingus": PingusFormat}
