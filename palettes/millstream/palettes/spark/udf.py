"""`monitor_udf`: a query as a function of DataFrames and SQL, for `groupBy` and `GROUP BY`.

`monitor` is faster with more than a few hundred keys, since Spark calls such a function once for each group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from attrs import frozen
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.processors import MillstreamError, Query, QueryError, StreamError, as_query
from millstream.processors.errors import shorten

from .batch import declared_type
from .checks import as_names, check_travels
from .events import as_column, batch_events
from .schema import spark_type


@frozen
class MonitorUdf:
    """A query as a function; made by `monitor_udf`."""

    query: Query
    order: tuple[str, ...]
    kind: T.DataType
    output: str = "output"

    def outputs(self, table: pa.Table) -> list[Any]:
        """Return what the query gives on the rows of a table, in the order of time."""
        ordered = table.sort_by([(name, "ascending") for name in self.order]) if self.order else table
        events = [e for batch in ordered.to_batches() for e in batch_events(batch, table.column_names)]
        try:
            return list(self.query(events))
        except StreamError as error:
            event = events[error.position] if error.position is not None else "the end of the trace"
            raise MillstreamError(
                f"on the event {shorten(event, 300)}: {error.processor} failed: {error.reason}"
            ) from error

    @property
    def schema(self) -> T.StructType:
        """The schema of `rows`."""
        return T.StructType([T.StructField(self.output, self.kind)])

    @property
    def rows(self) -> Callable[[pa.Table], pa.Table]:
        """All outputs for a group, one a row: for ``groupBy(...).applyInArrow(f.rows, f.schema)``."""
        # a function, not a method: Spark counts the parameters, self included
        return lambda table: pa.table({self.output: as_column(self.outputs(table), self.kind, self.output)})

    def __call__(self, *columns: Any) -> Column:
        """Return the last output for a group, as a column for ``groupBy(...).agg(...)``."""
        return self._aggregate()(F.struct(*columns))  # type: ignore[no-any-return]

    def register(self, spark: Any, name: str) -> None:
        """Make the last output for a group an aggregate of SQL: ``select name(struct(*)) ... group by``."""
        spark.udf.register(name, self._aggregate())

    def _aggregate(self) -> Any:
        functions: Any = F
        if not hasattr(functions, "arrow_udf"):
            raise QueryError(
                "monitor_udf: aggregates need PySpark 4.1 or newer; applyInArrow(f.rows, f.schema) works"
            )
        outputs, kind = self.outputs, self.kind

        def last(rows: pa.Array) -> Any:
            given = outputs(pa.Table.from_batches([pa.RecordBatch.from_struct_array(rows)]))
            return as_column(given[-1:] or [None], kind)[0].as_py()

        return functions.arrow_udf(last, kind)  # an aggregate, by its annotations


def monitor_udf(query: Any, *, order_by: Any = (), returns: Any = None, output: str = "output") -> MonitorUdf:
    """Return a query as a function for `groupBy` and for SQL.

    Parameters
    ----------
    query : Query
        The query, as it runs locally.
    order_by : str or list of str
        The columns that order the rows of a group; as Spark gives them if left out.
    returns : type
        The type of the outputs; may be left out if the query declares it.
    output : str
        The name of the column in ``f.rows``.

    Examples
    --------
    >>> from millstream.palettes.ltl import Monitor
    >>> from millstream.palettes.spark import local_session, monitor_udf
    >>> spark = local_session()
    >>> rows = [("ann", 1, True), ("ann", 2, False), ("bob", 1, True)]
    >>> df = spark.createDataFrame(rows, ["user", "t", "ok"])
    >>> safe = monitor_udf(Monitor("G ok"), order_by="t")
    >>> sorted(map(tuple, df.groupBy("user").agg(safe("t", "ok")).collect()))
    [('ann', 'FALSE'), ('bob', 'UNKNOWN')]
    >>> safe.register(spark, "safe")
    >>> df.createOrReplaceTempView("log")
    >>> spark.sql("select user, safe(struct(*)) as verdict from log group by user order by user").show()
    +----+-------+
    |user|verdict|
    +----+-------+
    | ann|  FALSE|
    | bob|UNKNOWN|
    +----+-------+
    <BLANKLINE>
    """
    made = as_query(query)
    if made.arity != (1, 1):
        raise QueryError(
            f"monitor_udf: a query has one input and one output, {shorten(made)} has {made.arity}"
        )
    check_travels(made)
    kind = spark_type(returns) if returns is not None else declared_type(made)
    if kind is None:
        raise QueryError(
            f"monitor_udf: {shorten(made)} does not declare the type of its outputs; name it with returns="
        )
    return MonitorUdf(made, as_names(order_by, "order_by"), kind, output)
