"""read_csv: CSV files as record batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import fspath
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
from attrs import field, frozen

from millstream.processors import ParameterError, as_sink

from .reading import BLOCK, Batches, Path, Progress, ReadError, opened, schema_of


@frozen
class BadLine:
    """A line that was left out: its number, its text, and what is wrong with it."""

    line: int
    text: str
    reason: str


@frozen(eq=False, kw_only=True)
class CsvBatches(Batches):
    """A CSV file; made by `read_csv`."""

    header: bool = True
    names: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    types: dict[str, pa.DataType] = field(factory=dict, converter=schema_of)
    delimiter: str = ","
    nulls: Sequence[str] = ("",)
    on_error: Any = "raise"
    block: int = BLOCK

    def __attrs_post_init__(self) -> None:
        if isinstance(self.on_error, str) and self.on_error not in ("raise", "skip"):
            raise ParameterError(
                f"read_csv: on_error must be 'raise', 'skip' or a sink for bad lines, got {self.on_error!r}"
            )

    def _read(self, follow: Callable[[int, int], Any]) -> Iterator[pa.RecordBatch]:
        with opened(self.path) as (stream, told):
            reader = self._opened(stream)
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    follow(*told()[1:] * 2)
                    return
                except (pa.ArrowInvalid, OSError) as error:
                    raise self._failure(error) from error
                follow(*told())
                if batch.num_rows:
                    yield batch

    def _opened(self, stream: Any) -> Any:
        skipped = None if self.on_error == "raise" else self._skip
        try:
            return csv.open_csv(
                stream,
                csv.ReadOptions(
                    use_threads=False,  # errors then tell the line
                    block_size=self.block,
                    column_names=self.names,
                    skip_rows=int(self.header and self.names is not None),
                    autogenerate_column_names=not self.header and self.names is None,
                ),
                csv.ParseOptions(delimiter=self.delimiter, invalid_row_handler=skipped),
                csv.ConvertOptions(
                    column_types=self.types, include_columns=self.columns, null_values=list(self.nulls)
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
            raise self._failure(error) from error

    def _skip(self, row: Any) -> str:
        if not isinstance(self.on_error, str):
            reason = f"{row.actual_columns} values for {row.expected_columns} columns"
            as_sink(self.on_error)(BadLine(row.number, row.text, reason))
        return "skip"

    def _failure(self, error: Exception) -> ReadError:
        """Return the error that names file, line and column, and says what to do."""
        name, text = fspath(self.path), str(error)
        if found := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", text, re.S):
            line, wanted, got, row = found.groups()
            return ReadError(
                f"{name}, line {line}: {got} values for {wanted} columns: {row[:80]!r}; "
                "correct it, or leave such lines out with on_error='skip'"
            )
        if found := re.search(
            r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\S+): (.*)", text
        ):
            column, line, kind, problem = found.groups()
            where = f", line {line}" if line else ""
            return ReadError(
                f"{name}{where}, column {int(column) + 1}: expected {kind}, got an {problem}; "
                "types are guessed from the beginning of the file, give others with types={...}"
            )
        if "Truncated" in text:
            return ReadError(f"{name}: the file ends in the middle: {text}")
        return ReadError(f"{name}: {text}")


def read_csv(
    path: Path,
    *,
    header: bool = True,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    delimiter: str = ",",
    nulls: Sequence[str] = ("",),
    on_error: Any = "raise",
    progress: Progress = False,
    block: int = BLOCK,
) -> CsvBatches:
    """Return a CSV file as a stream of record batches; ``.rows()`` gives its rows as events.

    Parameters
    ----------
    path
        The file; unpacked on the way if its name ends in .gz, .bz2, .zst or .lz4.
    header
        Whether the first line names the columns.
    names
        The names of the columns, instead of the header's.
    columns
        The columns to read; all of them if None. Leaving some out saves time.
    types
        Name -> Arrow type, its name, or int, float, str, bool. The types of other columns are guessed from
        the first block.
    delimiter, nulls
        What separates values, and which texts stand for no value (in columns of texts none do).
    on_error
        What happens to a line with too few or too many values: ``"raise"``, ``"skip"``, or a sink that gets a
        `BadLine` for each.
    progress
        True shows a bar; a function is called with the bytes read and the size.
    block
        Bytes read at a time; a batch has the rows of one block.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "readings.csv")
    ...     _ = file.write_text("kind,celsius\\ntemp,21.5\\nwind,3\\n")
    ...     print([batch.to_pydict() for batch in read_csv(file)], list(read_csv(file).rows())[0])
    [{'kind': ['temp', 'wind'], 'celsius': [21.5, 3.0]}] {'kind': 'temp', 'celsius': 21.5}
    """
    return CsvBatches(
        path,
        header=header,
        names=names,
        columns=columns,
        types=types or {},
        delimiter=delimiter,
        nulls=nulls,
        on_error=on_error,
        progress=progress,
        block=block,
    )
