"""read_log: text logs of monitoring, one event a line (``name,arg1,arg2``), straight into columns.

The lines of a block are not split in Python. NumPy finds commas and ends of lines in its bytes, and with
those left out the bytes of all fields lie one behind the other, which is what an Arrow array of texts is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import fspath
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import field, frozen

from .column import Array
from .files import blocks
from .reading import BLOCK, Batches, Path, Progress, ReadError, opened, schema_of

COMMA, NEWLINE, RETURN = 44, 10, 13


@frozen(eq=False, kw_only=True)
class LogBatches(Batches):
    """A text log; made by `read_log`."""

    args: Sequence[str] | None = None
    types: dict[str, pa.DataType] = field(factory=dict, converter=schema_of)
    block: int = BLOCK

    def _read(self, follow: Callable[[int, int], Any]) -> Iterator[pa.RecordBatch]:
        names: Sequence[str] | None = None if self.args is None else ["name", *self.args]
        with opened(self.path) as (stream, told):
            for line, lines in blocks(stream, self.block, self.path):
                fields, counts = split(lines)
                if names is None:
                    widest = int(counts.max(initial=1))
                    names = ["name", *(f"arg{k}" for k in range(1, widest))]
                follow(*told())
                if len(counts):
                    yield self._batch(names, fields, counts, line)

    def _batch(self, names: Sequence[str], fields: pa.Array, counts: Array, line: int) -> pa.RecordBatch:
        too_long = (counts > len(names)).nonzero()[0]
        if len(too_long):
            at = int(too_long[0])
            raise ReadError(
                f"{fspath(self.path)}, event {at} of the block at line {line}: {counts[at] - 1} arguments, "
                f"expected at most {len(names) - 1}; name them all with args=[...]"
            )
        firsts = np.cumsum(counts) - counts
        columns = []
        for k, name in enumerate(names):
            places = pa.array(np.where(counts > k, firsts + k, 0), mask=counts <= k)
            column = fields.take(places)
            columns.append(self._typed(column, name))
        return pa.RecordBatch.from_arrays(columns, names=list(names))

    def _typed(self, column: pa.Array, name: str) -> pa.Array:
        if name not in self.types:
            return column
        try:
            return column.cast(self.types[name])
        except pa.ArrowInvalid as error:
            raise ReadError(f"{fspath(self.path)}, column {name!r}: {error}; leave it a text") from error


def split(lines: bytes) -> tuple[pa.Array, Array]:
    """Return all fields of a block of lines in order, and how many each line has; empty lines are left out.

    >>> fields, counts = split(b"open,ann,f1\\nend\\n")
    >>> fields.to_pylist(), counts.tolist()
    (['open', 'ann', 'f1', 'end'], [3, 1])
    """
    if not lines.endswith(b"\n"):
        lines += b"\n"
    data = np.frombuffer(lines, np.uint8)
    if b"\r" in lines:
        data = data[data != RETURN]
    ends = data == NEWLINE
    if (ends[1:] & ends[:-1]).any() or (len(ends) and ends[0]):
        data = data[~(ends & np.concatenate([[True], ends[:-1]]))]
        ends = data == NEWLINE
    separators = ends | (data == COMMA)
    places = separators.nonzero()[0]
    offsets = np.zeros(len(places) + 1, np.int32)
    offsets[1:] = places - np.arange(len(places))
    texts = data[~separators]
    fields = pa.StringArray.from_buffers(len(places), pa.py_buffer(offsets), pa.py_buffer(texts))
    at_end = ends.take(places).nonzero()[0]
    return fields, np.diff(at_end, prepend=-1)


def read_log(
    path: Path,
    *,
    args: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    progress: Progress = False,
    block: int = BLOCK,
) -> LogBatches:
    """Return a text log with one event ``name,arg1,arg2...`` a line as a stream of record batches.

    Parameters
    ----------
    path
        The file; unpacked on the way if its name ends in .gz, .bz2, .zst or .lz4.
    args
        The names of the columns behind ``name``; ``arg1``, ``arg2``... as many as the first block needs, if
        None. Where an event has fewer, they are null.
    types
        Column -> Arrow type, its name, or int, float, str, bool; all are texts otherwise.
    progress, block
        As in `read_csv`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "log.csv")
    ...     _ = file.write_text("open,ann,f1\\nclose,f1\\n")
    ...     print([batch.to_pydict() for batch in read_log(file)])
    [{'name': ['open', 'close'], 'arg1': ['ann', 'f1'], 'arg2': ['f1', None]}]
    """
    return LogBatches(path, args=args, types=types or {}, progress=progress, block=block)
