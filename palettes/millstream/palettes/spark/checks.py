"""What is wrong with a call, said before a job starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen
from pyspark import cloudpickle
from pyspark.sql import types as T

from millstream.processors import Query, QueryError, as_query
from millstream.processors.errors import shorten
from millstream.processors.graph import flatten

from .schema import check_columns

#: types whose values are equal in Spark and in Python at the same time, and hashable
KEYS = (T.StringType, T.IntegralType, T.BooleanType, T.DateType, T.DecimalType, T.BinaryType, T.TimestampType,
        T.TimestampNTZType)  # fmt: skip


def as_names(value: Any, what: str) -> tuple[str, ...]:
    """Return the names of one or several columns.

    >>> as_names("t", "order_by"), as_names(["t", "seq"], "order_by")
    (('t',), ('t', 'seq'))
    """
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
        raise QueryError(f"{what} must be the name of a column or a list of names, got {shorten(value)}")
    return tuple(names)


def as_queries(query: Any, output: str) -> dict[str, Query]:
    """Return queries by the names of their outputs' columns; each has one input and one output."""
    queries = dict(query) if isinstance(query, Mapping) else {output: query}
    if not queries:
        raise QueryError("monitor: expected at least one query, got none")
    made = {name: as_query(q) for name, q in queries.items()}
    for q in made.values():
        if q.arity != (1, 1):
            raise QueryError(
                f"a query on Spark has one input and one output, {shorten(q)} has {q.arity[0]} and "
                f"{q.arity[1]}; give several queries as a dict"
            )
        check_travels(q)
    return made


def check_travels(query: Query) -> None:
    """Raise a `QueryError` that names the processor if a query cannot be sent to the workers."""
    try:
        cloudpickle.dumps(query)  # type: ignore[no-untyped-call]
    except Exception as error:
        for node in flatten(query.graph)[0].nodes:
            try:
                cloudpickle.dumps(node)  # type: ignore[no-untyped-call]
            except Exception as reason:
                raise _cannot_travel(node, reason) from error
        raise _cannot_travel(query, error) from error


def _cannot_travel(what: Any, error: Exception) -> QueryError:
    return QueryError(
        f"{shorten(what)} cannot be sent to Spark's workers ({type(error).__name__}: {error}); let its "
        "functions open files, connections and locks themselves, instead of holding them"
    )


def check_key(name: str, kind: T.DataType) -> None:
    """Raise a `QueryError` if values of a type cannot be keys."""
    if not isinstance(kind, KEYS):
        raise QueryError(
            f"key: the column {name} is of type {kind.simpleString()}; keys are strings, integers, "
            "dates, timestamps, decimals or truth values (give several columns for a key of parts)"
        )


@frozen
class Columns:
    """The columns that a call names, checked against those of a DataFrame."""

    schema: T.StructType
    key: tuple[str, ...]
    order: tuple[str, ...]
    carry: tuple[str, ...]
    outputs: tuple[str, ...] = field()

    def __attrs_post_init__(self) -> None:
        for what, names in (("key", self.key), ("order_by", self.order), ("carry", self.carry)):
            check_columns(self.schema, names, f"{what}={list(names)}")
        for name in self.key:
            check_key(name, self.schema[name].dataType)
        for name in self.order:
            kind = self.schema[name].dataType
            if isinstance(kind, T.MapType | T.VariantType):
                raise QueryError(f"order_by: the column {name} of type {kind.simpleString()} has no order")
        for name in self.outputs:
            if name in self.kept:
                raise QueryError(
                    f"the output column {name!r} is also a column of the input; name it with output="
                )

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of the result that come from the input: key first."""
        return tuple(dict.fromkeys((*self.key, *self.carry)))


def check_reads(query: Query, fields: Iterable[str], schema: T.StructType) -> None:
    """Raise a `QueryError` if a query reads a column that is not there."""
    for name in sorted(fields):
        if name not in schema.names:
            raise QueryError(
                f"{shorten(query)} reads {name!r}, and there is no such column, "
                f"only {', '.join(schema.names)}"
            )
