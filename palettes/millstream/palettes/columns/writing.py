"""Writers: sinks for record batches, and functions that write a whole stream of them.

``columnar(query).into(CsvSink("out.csv"))`` takes batches as they come; a sink is closed by its `close`, or
by leaving the block it was opened for. ``write_csv(batches, "out.csv")`` does all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from json import dumps
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from millstream.processors import ParameterError

from .column import of_arrow

Path = str | PathLike[str]
Open = Callable[[str, pa.Schema], Any]


class Sink:
    """Writes record batches to a file, which is opened for the first one; call it with batches."""

    def __init__(self, path: Path, opening: Open) -> None:
        self.path, self._opening = fspath(path), opening
        self._writer: Any = None
        self.rows = 0

    def __call__(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            self._writer = self._opening(self.path, batch.schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def close(self) -> None:
        """Finish the file; without any batch there is none."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()


class _Lines:
    """Writes rows as JSON objects, one a line; times as texts."""

    def __init__(self, path: str, schema: pa.Schema) -> None:
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115  closed by close

    def write_batch(self, batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        rows = zip(*(of_arrow(column).pylist() for column in batch.columns), strict=True)
        self._file.writelines(dumps(dict(zip(names, row, strict=True)), default=str) + "\n" for row in rows)

    def close(self) -> None:
        self._file.close()


def _csv(path: str, schema: pa.Schema) -> Any:
    from pyarrow.csv import CSVWriter

    plain = pa.schema([pa.field(f.name, _decoded(f.type)) for f in schema])
    return _Casting(CSVWriter(path, plain), plain)


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class _Casting:
    """Gives a writer batches of its own schema."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema
        self.close = writer.close

    def write_batch(self, batch: pa.RecordBatch) -> None:
        arrays = [a.cast(t) for a, t in zip(batch.columns, self._schema.types, strict=True)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))


def _parquet(path: str, schema: pa.Schema) -> Any:
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, schema)


OPENING: dict[str, Open] = {
    "csv": _csv,
    "json": _Lines,
    "parquet": _parquet,
    "ipc": lambda path, schema: pa.ipc.new_file(path, schema),
}


def sink(path: Path, kind: str) -> Sink:
    """Return a sink that writes batches to a file of a kind: csv, json, parquet or ipc."""
    if kind not in OPENING:
        raise ParameterError(f"sink: kind must be one of {', '.join(OPENING)}, got {kind!r}")
    return Sink(path, OPENING[kind])


def _write(batches: Iterable[pa.RecordBatch], path: Path, kind: str) -> int:
    with sink(path, kind) as put:
        for batch in batches:
            put(batch)
    return put.rows


def write_csv(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write a stream of batches to a CSV file, batch by batch; return the number of rows."""
    return _write(batches, path, "csv")


def write_json(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write a stream of batches as JSON, one event a line; return the number of rows."""
    return _write(batches, path, "json")


def write_parquet(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write a stream of batches to a Parquet file, batch by batch; return the number of rows."""
    return _write(batches, path, "parquet")


def write_ipc(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write a stream of batches to a file in Arrow's own format; return the number of rows."""
    return _write(batches, path, "ipc")


def to_pandas(batches: Iterable[pa.RecordBatch]) -> Any:
    """Return all batches of a stream as one frame of pandas."""
    return _table(batches).to_pandas()


def to_polars(batches: Iterable[pa.RecordBatch]) -> Any:
    """Return all batches of a stream as one frame of Polars."""
    import polars

    return polars.from_arrow(_table(batches))


def _table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    listed = list(batches)
    return pa.Table.from_batches(listed) if listed else pa.table({})
