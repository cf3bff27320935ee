"""Rows as events and outputs as columns, a batch at a time.

A row is a plain dict, so that expressions and functions written for dicts run unchanged: ``E.user``,
``E["user"]``. Structs are dicts, arrays lists, maps dicts; a timestamp is a datetime in UTC (it can be
subtracted and compared without regard to clocks that are put back), a timestamp_ntz one without a zone.
"""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from millstream.palettes.ltl import Verdict
from millstream.processors import MillstreamError
from millstream.processors.errors import shorten

from .schema import field_names

Encoder = Callable[[Any], Any]
#: what Arrow takes for texts as it is; other values, also of subclasses of str, may have a name
TEXTS = {str, type(None)}


def column_values(column: Any) -> list[Any]:
    """Return the Python values of an Arrow column.

    >>> column_values(pa.array([{"a": 1}, None]))
    [{'a': 1}, None]
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        moments = column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False).tolist()
        if kind.tz is None:
            return moments  # type: ignore[no-any-return]
        utc = datetime.UTC
        return [m if m is None else m.replace(tzinfo=utc) for m in moments]
    if pa.types.is_map(kind):
        return [pairs if pairs is None else dict(pairs) for pairs in column.to_pylist()]
    if _has_inside(kind, lambda k: pa.types.is_map(k) or pa.types.is_timestamp(k)):
        return [_plain(v) for v in column.to_pylist(maps_as_pydicts="strict")]
    return column.to_pylist()  # type: ignore[no-any-return]


def _has_inside(kind: Any, test: Callable[[Any], bool]) -> bool:
    inside = [kind.field(k).type for k in range(kind.num_fields)]
    return any(test(k) or _has_inside(k, test) for k in inside)


def _plain(value: Any) -> Any:
    """Bring timestamps inside a value into UTC."""
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.UTC)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def batch_events(batch: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of an Arrow batch as events, with these columns.

    >>> batch_events(pa.RecordBatch.from_pydict({"a": [1, 2], "b": ["x", "y"]}), ["b", "a"])
    [{'b': 'x', 'a': 1}, {'b': 'y', 'a': 2}]
    """
    columns = [column_values(batch.column(name)) for name in names]
    made: list[dict[str, Any]] = _builder("[{}]", tuple(names))(columns, batch.num_rows)
    return made


def each_event(batch: Any, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what `batch_events` gives, one at a time: each dict takes the place of the last in the cache."""
    columns = [column_values(batch.column(name)) for name in names]
    made: Iterator[dict[str, Any]] = _builder("({})", tuple(names))(columns, batch.num_rows)
    return made


@cache
def _builder(form: str, names: tuple[str, ...]) -> Callable[[list[list[Any]], int], Any]:
    """Return a function that makes dicts of columns, as a display: three times as fast as dict(zip())."""
    fields = ", ".join(f"{name!r}: v{k}" for k, name in enumerate(names))
    values = "".join(f"v{k}, " for k in range(len(names)))
    rows = f"for {values} in zip(*columns)" if names else "for _ in range(rows)"
    return eval("lambda columns, rows: " + form.format(f"{{{fields}}} {rows}"))  # type: ignore[no-any-return]


def row_event(row: Row) -> dict[str, Any]:
    """Return a Spark row as an event, equal to the one that `batch_events` gives.

    >>> row_event(Row(user="ann", place=Row(x=1)))
    {'user': 'ann', 'place': {'x': 1}}
    """
    return {name: _row_value(value) for name, value in row.asDict().items()}


def _row_value(value: Any) -> Any:
    if isinstance(value, Row):
        return row_event(value)
    if isinstance(value, datetime.datetime):  # Spark gives local time, without saying so
        return value.astimezone(datetime.UTC)
    if isinstance(value, dict):
        return {k: _row_value(v) for k, v in value.items()}
    return [_row_value(v) for v in value] if isinstance(value, list) else value


def encoder(kind: T.DataType) -> Encoder | None:
    """Return the function that makes an output what Arrow takes for a column; None if nothing is to do."""
    if isinstance(kind, T.StringType):
        return _text
    if isinstance(kind, T.ArrayType):
        inner = encoder(kind.elementType) or _same
        return lambda value: None if value is None else list(map(inner, value))
    if isinstance(kind, T.MapType):
        keys, values = encoder(kind.keyType) or _same, encoder(kind.valueType) or _same
        return lambda value: None if value is None else [(keys(k), values(v)) for k, v in value.items()]
    if isinstance(kind, T.StructType):
        return _struct_encoder(kind)
    return None


def _same(value: Any) -> Any:
    return value


def _text(value: Any) -> Any:
    if value.__class__ is str:
        return value
    return value.name if isinstance(value, Verdict | enum.Enum) else value


def _struct_encoder(kind: T.StructType) -> Encoder:
    names, parts = kind.names, [encoder(f.dataType) or _same for f in kind.fields]

    def encode(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Mapping):
            given: Iterable[Any] = map(value.__getitem__, names)
        elif field_names(value) is not None:
            given = (getattr(value, name) for name in names)
        else:
            given = value
        return {n: part(v) for n, part, v in zip(names, parts, given, strict=True)}

    return encode


def arrow_type(kind: T.DataType) -> Any:
    """Return the Arrow type for a column type."""
    return to_arrow_type(kind, timezone="UTC")


def as_column(values: list[Any], kind: T.DataType, name: str = "output") -> Any:
    """Return outputs as an Arrow column; one that does not fit is named.

    >>> as_column([Verdict.TRUE, None], T.StringType()).to_pylist()
    ['TRUE', None]
    """
    encode = None if isinstance(kind, T.StringType) and TEXTS.issuperset(map(type, values)) else encoder(kind)
    try:
        return pa.array(values if encode is None else list(map(encode, values)), type=arrow_type(kind))
    except (pa.ArrowException, TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise _misfit(values, kind, name, encode or _same) from error


def _misfit(values: list[Any], kind: T.DataType, name: str, encode: Encoder) -> MillstreamError:
    """Return the error that names the first output that is not of the column's type."""
    for value in values:
        try:
            pa.array([encode(value)], type=arrow_type(kind))
        except Exception as error:
            return MillstreamError(
                f"the output {shorten(value)} does not fit the column {name} of type {kind.simpleString()} "
                f"({type(error).__name__}: {error}); name the right type with returns="
            )
    return MillstreamError(f"the outputs do not fit the column {name} of type {kind.simpleString()}")
