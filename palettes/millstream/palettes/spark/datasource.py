"""`spark.read.format("millstream")`: traces in files, and what queries give on them, as DataFrames.

::

    register(spark)
    spark.read.format("millstream").load("logs/")  # name,arg,... a line
    spark.read.format("millstream").option("query", packed(query)).load("logs/")  # outputs, file by file
    spark.readStream.format("millstream").load("logs/")  # lines as they are added

A file is read by one task. In a stream a log is followed as it grows, whole lines only; with a query, or in
formats that do not grow, a file is read once, as a whole, when it is there.
"""

from __future__ import annotations

import base64
import glob
import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from attrs import frozen
from more_itertools import chunked
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from millstream.processors import Query, QueryError, as_query

from .events import as_column
from .formats import FORMATS, LogFormat, PingusFormat

ROWS = 10_000
PLACE = "file string, position bigint"


def register(spark: SparkSession) -> None:
    """Make the format ``millstream`` known to a session."""
    spark.dataSource.register(MillstreamSource)


def packed(query: Any) -> str:
    """Return a query as a text, for the option ``query``.

    >>> from millstream.processors import Count
    >>> unpacked(packed(Count()))
    Count()
    """
    return base64.b64encode(cloudpickle.dumps(as_query(query))).decode()  # type: ignore[no-untyped-call]


def unpacked(text: str) -> Query:
    """Return the query that a text was made of."""
    try:
        query = cloudpickle.loads(base64.b64decode(text))
    except Exception as error:
        raise QueryError("format millstream: the option query must be made with packed(query)") from error
    return as_query(query)


@frozen
class Part(InputPartition):
    """A stretch of a file, in bytes; to its end if there is no stop."""

    path: str
    start: int = 0
    stop: int | None = None


@frozen
class Traces:
    """What the options of the format say."""

    path: str
    format: LogFormat | PingusFormat
    query: Query | None
    returns: str | None

    @classmethod
    def read(cls, options: Any) -> Traces:
        """Return the options, checked."""
        name, path = options.get("trace", "log"), options.get("path")
        if path is None:
            raise QueryError(
                "format millstream: give the files with load(path): a file, a folder or a pattern"
            )
        if name not in FORMATS:
            raise QueryError(
                f"format millstream: trace must be {' or '.join(map(repr, FORMATS))}, got {name!r}"
            )
        delimiter = options.get("delimiter")
        made = LogFormat(delimiter) if delimiter and name == "log" else FORMATS[name]()
        text = options.get("query")
        return cls(path, made, None if text is None else unpacked(text), options.get("returns"))

    @property
    def columns(self) -> str:
        """The columns of the result, as DDL."""
        if self.query is None:
            return f"{PLACE}, {self.format.columns}"
        if self.returns is None:
            raise QueryError(
                "format millstream: say with the option returns what type the outputs of the query have, "
                "such as option('returns', 'boolean')"
            )
        return f"{PLACE}, output {self.returns}"

    @property
    def whole(self) -> bool:
        """Whether files are read as wholes only."""
        return self.query is not None or not self.format.grows

    def files(self) -> list[str]:
        """Return the files there are, by name."""
        path = self.path.removeprefix("file://")
        if os.path.isdir(path):
            path = os.path.join(path, "*")
        found = sorted(
            f for f in glob.glob(path) if os.path.isfile(f) and not os.path.basename(f).startswith((".", "_"))
        )
        if not found and not glob.has_magic(path):
            raise QueryError(f"format millstream: there is no file {self.path}")
        return found

    def rows(self, part: Part, schema: T.StructType) -> Iterator[Any]:
        """Yield the Arrow batches of a part."""
        rest = T.StructType([f for f in schema.fields if f.name not in ("file", "position")])
        for chunk in chunked(self.outputs(part, rest), ROWS):
            positions, values = zip(*chunk, strict=True)
            columns: dict[str, Sequence[Any]] = dict(zip(rest.names, zip(*values, strict=True), strict=True))
            columns |= {"file": [part.path] * len(chunk), "position": positions}
            arrays = [as_column(list(columns[f.name]), f.dataType, f.name) for f in schema.fields]
            yield pa.RecordBatch.from_arrays(arrays, schema.names)

    def outputs(self, part: Part, schema: T.StructType) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the position and the values of each row."""
        events = self.format.events(part.path, part.start, part.stop)
        if self.query is None:
            for position, event in events:
                yield position, self.format.values(event, schema)
            return
        for position, output in enumerate(self.query(event for _, event in events)):
            yield position, (output,)


class MillstreamSource(DataSource):
    """The format ``millstream``."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "millstream"

    def schema(self) -> str:
        """Return the columns."""
        return Traces.read(self.options).columns

    def reader(self, schema: T.StructType) -> DataSourceReader:
        """Return what reads files."""
        return TraceReader(Traces.read(self.options), schema)

    def streamReader(self, schema: T.StructType) -> DataSourceStreamReader:
        """Return what reads files as they come and grow."""
        return TraceStreamReader(Traces.read(self.options), schema)


@frozen
class TraceReader(DataSourceReader):
    """Reads files, one a task."""

    traces: Traces
    columns: T.StructType

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files."""
        return [Part(path) for path in self.traces.files()]

    def read(self, partition: Any) -> Iterator[Any]:
        """Yield the Arrow batches of a file."""
        return self.traces.rows(partition, self.columns)


@frozen
class TraceStreamReader(DataSourceStreamReader):
    """Reads files as they come and grow; an offset tells for each file how far it has been read."""

    traces: Traces
    columns: T.StructType

    def initialOffset(self) -> dict[str, int]:
        """Return that nothing has been read."""
        return {}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        """Return how far each file can be read."""
        ends = {path: self.end(path) for path in self.traces.files()}
        return {**(start or {}), **{path: end for path, end in ends.items() if end}}

    def whole(self, path: str) -> bool:
        """Whether a file is read as a whole only."""
        return self.traces.whole or path.endswith(".gz")

    def end(self, path: str) -> int:
        """Return where the last whole line of a file ends; where the file ends if it is read as a whole."""
        size = os.path.getsize(path)
        if self.whole(path):
            return size
        with open(path, "rb") as file:
            while size:
                begin = max(0, size - 4096)
                file.seek(begin)
                newline = file.read(size - begin).rfind(b"\n")
                if newline >= 0:
                    return begin + newline + 1
                size = begin
        return 0

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return what is new."""
        new = [(path, start.get(path, 0), to) for path, to in end.items() if to > start.get(path, 0)]
        return [Part(path, since, to) for path, since, to in new if not (since and self.whole(path))]

    def read(self, partition: Any) -> Iterator[Any]:
        """Yield the Arrow batches of what is new in a file."""
        return self.traces.rows(partition, self.columns)
