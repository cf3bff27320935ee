"""read_parquet, read_ipc, read_json, read_frame: other files, and frames, as record batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import fspath
from typing import Any

import pyarrow as pa
import pyarrow.json as json
from attrs import field, frozen

from millstream.processors import ParameterError, Source, as_sink
from millstream.processors.errors import shorten

from .csvfiles import BadLine
from .reading import BLOCK, Batches, Path, Progress, ReadError, Rows, opened, schema_of

ROWS = 65_536
_NO_OBJECT = re.compile(rb"^[ \t\r]*+[^{ \t\r\n]", re.MULTILINE)
#: what Arrow raises for files that are damaged; one that claims to be larger than memory is damaged too
FAILURES = (pa.ArrowException, OSError, EOFError, MemoryError, UnicodeDecodeError)


@frozen(eq=False, kw_only=True)
class ParquetBatches(Batches):
    """A Parquet file; made by `read_parquet`."""

    columns: Sequence[str] | None = None
    rows_at_once: int = ROWS

    def _read(self, follow: Callable[[int, int], Any]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as parquet

        with opened(self.path) as (stream, told):
            try:
                file = parquet.ParquetFile(stream)
                batches = file.iter_batches(self.rows_at_once, columns=self.columns)
                for batch in batches:
                    follow(*told())
                    yield batch
            except FAILURES as error:
                raise _failure(self.path, error, "Parquet") from error


@frozen(eq=False, kw_only=True)
class IpcBatches(Batches):
    """A file or stream in Arrow's own format; made by `read_ipc`."""

    def _read(self, follow: Callable[[int, int], Any]) -> Iterator[pa.RecordBatch]:
        with opened(self.path) as (stream, told):
            try:
                for batch in _ipc_batches(stream):
                    follow(*told())
                    yield _whole(batch)
            except FAILURES as error:
                raise _failure(self.path, error, "Arrow IPC") from error


def _ipc_batches(stream: Any) -> Iterator[pa.RecordBatch]:
    if not stream.seekable() or stream.read(6) != b"ARROW1":
        if stream.seekable():
            stream.seek(0)
        yield from pa.ipc.open_stream(stream)
        return
    stream.seek(0)
    file = pa.ipc.open_file(stream)
    for k in range(file.num_record_batches):
        yield file.get_batch(k)


def _whole(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch if its lengths, offsets, texts and names hold: Arrow takes them as they come."""
    batch.validate(full=True)
    batch.schema.to_string(show_field_metadata=False, show_schema_metadata=False)  # reads all names
    return batch


def _failure(path: Path, error: BaseException, kind: str) -> ReadError:
    text = str(error)
    cut = re.search(
        r"[Ee]xpected to (be able to )?read|[Tt]runcated|Not an Arrow file|footer|EOF|end of", text
    )
    problem = f"no {kind} file, or one that ends in the middle" if cut else f"cannot be read as {kind}"
    return ReadError(f"{fspath(path)}: {problem}: {text}")


@frozen(eq=False, kw_only=True)
class JsonBatches(Batches):
    """A file with one JSON object a line; made by `read_json`."""

    types: dict[str, pa.DataType] = field(factory=dict, converter=schema_of)
    on_error: Any = "raise"
    block: int = BLOCK

    def __attrs_post_init__(self) -> None:
        if isinstance(self.on_error, str) and self.on_error not in ("raise", "skip"):
            raise ParameterError(
                f"read_json: on_error must be 'raise', 'skip' or a sink for bad lines, got {self.on_error!r}"
            )

    def _read(self, follow: Callable[[int, int], Any]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema(list(self.types.items())) if self.types else None
        with opened(self.path) as (stream, told):
            for line, lines in blocks(stream, self.block, self.path):
                table = self._parsed(lines, schema, line)
                follow(*told())
                if table is not None and table.num_rows:
                    schema = _wider(schema, table.schema)
                    yield from table.combine_chunks().to_batches()

    def _parsed(self, lines: bytes, schema: pa.Schema | None, line: int) -> pa.Table | None:
        """Return the table of some lines, without the bad ones if that is wanted."""
        while True:
            try:
                return self._table(lines, schema)
            except pa.ArrowInvalid as error:
                parts = lines.split(b"\n")
                bad = self._culprit(parts, schema)
                text = parts[bad].decode(errors="replace")
                self._refuse(line + bad, text, re.sub(r" in row \d+", "", str(error)), error)
                parts[bad] = b""
                lines = b"\n".join(parts)

    def _table(self, lines: bytes, schema: pa.Schema | None) -> pa.Table | None:
        if not lines.strip():
            return None
        if _NO_OBJECT.search(lines):  # Arrow takes some of them for objects, and ends the process for others
            raise pa.ArrowInvalid("JSON parse error: not an object")
        unexpected = "infer" if schema is None or self.types else "error"
        how = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected)
        whole = json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        return json.read_json(pa.BufferReader(lines), whole, how)

    def _culprit(self, parts: list[bytes], schema: pa.Schema | None) -> int:
        """Return the first line that cannot be read, found by halving what comes before it."""
        good, bad = 0, len(parts)
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                self._table(b"\n".join(parts[:middle]), schema)
                good = middle
            except pa.ArrowInvalid:
                bad = middle
        return bad - 1

    def _refuse(self, line: int, text: str, reason: str, error: Exception) -> None:
        if self.on_error == "raise":
            raise ReadError(
                f"{fspath(self.path)}, line {line}: {reason} in {shorten(text, 80)}; give types={{...}} for "
                "columns whose type changes, or leave such lines out with on_error='skip'"
            ) from error
        if not isinstance(self.on_error, str):
            as_sink(self.on_error)(BadLine(line, text, reason))


def _wider(schema: pa.Schema | None, found: pa.Schema) -> pa.Schema:
    """Return the schema of the batches from now on: that of the first one."""
    return found if schema is None or len(schema) < len(found) else schema


def blocks(stream: Any, size: int, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line."""
    line, rest = 1, b""
    while True:
        try:
            data = stream.read(size)
        except OSError as error:
            raise ReadError(f"{fspath(path)}: the file ends in the middle: {error}") from error
        if not data:
            break
        data = rest + data
        end = data.rfind(b"\n") + 1
        if end:
            yield line, data[:end]
            line += data.count(b"\n", 0, end)
        rest = data[end:]
    if rest:
        yield line, rest


@frozen(eq=False)
class FrameBatches(Source):
    """A frame of pandas or Polars, or a table of Arrow; made by `read_frame`."""

    frame: Any
    rows_at_once: int = ROWS

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if isinstance(self.frame, pa.Table):
            yield from self.frame.to_batches(self.rows_at_once)
            return
        if type(self.frame).__module__.partition(".")[0] == "pandas":  # a part at a time: never a second copy
            for begin in range(0, len(self.frame), self.rows_at_once):
                part = self.frame.iloc[begin : begin + self.rows_at_once]
                yield pa.RecordBatch.from_pandas(part, preserve_index=False).replace_schema_metadata(None)
            return
        yield from pa.table(self.frame).to_batches(self.rows_at_once)

    def rows(self) -> Rows:
        """Return the rows as events."""
        return Rows(self)


def read_parquet(
    path: Path, *, columns: Sequence[str] | None = None, batch: int = ROWS, progress: Progress = False
) -> ParquetBatches:
    """Return a Parquet file as a stream of record batches; ``.rows()`` gives its rows as events.

    Parameters
    ----------
    path
        The file.
    columns
        The columns to read; all of them if None.
    batch
        The greatest number of rows in a batch.
    progress
        True shows a bar; a function is called with the bytes read and the size.
    """
    return ParquetBatches(path, columns=columns, rows_at_once=batch, progress=progress)


def read_ipc(path: Path, *, progress: Progress = False) -> IpcBatches:
    """Return a file or a stream in Arrow's own format as the record batches that it holds."""
    return IpcBatches(path, progress=progress)


def read_json(
    path: Path,
    *,
    types: Mapping[str, Any] | None = None,
    on_error: Any = "raise",
    progress: Progress = False,
    block: int = BLOCK,
) -> JsonBatches:
    """Return a file with one JSON object a line as a stream of record batches; parameters as in `read_csv`.

    The fields are those of the first block, or of `types`; one that an object does not have is null.
    """
    return JsonBatches(path, types=types or {}, on_error=on_error, progress=progress, block=block)


def read_frame(frame: Any, *, batch: int = ROWS) -> FrameBatches:
    """Return a frame of pandas or Polars, or a table of Arrow, as a stream of record batches.

    >>> [b.to_pydict() for b in read_frame(pa.table({"a": [1, 2, 3]}), batch=2)]
    [{'a': [1, 2]}, {'a': [3]}]
    """
    if not hasattr(frame, "__arrow_c_stream__"):
        raise ParameterError(
            f"read_frame: expected a frame of pandas or Polars or a table of Arrow, got {shorten(frame, 60)}"
        )
    return FrameBatches(frame, batch)
